#include "probes/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "probes/sysfs_value.h"

/* sysfs gives a file whole in one read, and so do file systems for the few bytes asked here. What
 * cannot be read from a place, as a pipe, is no attribute, but may stand in for one. */
static ssize_t read_once(int fd, char *buffer, size_t size)
{
	ssize_t n;

	do {
		n = pread(fd, buffer, size, 0);
		if (n < 0 && errno == ESPIPE)
			n = read(fd, buffer, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int sysfs_read(int dir_fd, const char *path, char *ret, size_t size)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC), r;

	ret[0] = '\0';
	if (fd < 0)
		return -errno;
	r = sysfs_read_fd(fd, ret, size);
	close(fd);
	return r;
}

int sysfs_read_fd(int fd, char *ret, size_t size)
{
	ssize_t n = read_once(fd, ret, size);

	if (n < 0 || (size_t)n == size) {
		ret[0] = '\0';
		return n < 0 ? (int)n : -EFBIG;
	}
	ret[n] = '\0';
	return memchr(ret, '\0', (size_t)n) ? -EBADMSG : (int)n;
}

enum read_error sysfs_error_class(int error)
{
	switch (-error) {
	case EINVAL:
		return READ_EINVAL;
	case EACCES:
	case EPERM:
		return READ_EACCES;
	case EIO:
	case EREMOTEIO:
		return READ_EIO;
	case ENODEV:
	case ENXIO:
		return READ_ENODEV;
	case ETIMEDOUT:
		return READ_TIMEOUT;
	case EFBIG:
	case EBADMSG:
		return READ_PARSE;
	default:
		return READ_OTHER;
	}
}

bool sysfs_line(int dir_fd, const char *path, char *ret, size_t size, uint64_t *errors)
{
	char text[SYSFS_TEXT];
	int n = sysfs_read(dir_fd, path, text, sizeof(text));

	ret[0] = '\0';
	if (n < 0) {
		if (n != -ENOENT)
			errors[sysfs_error_class(n)]++;
		return false;
	}
	sysfs_first_line(text, ret, size);
	return true;
}

int sysfs_dir_open(struct sysfs_dir *d, int dir_fd, const char *path)
{
	d->fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->at = d->len = 0;
	return d->fd < 0 ? -errno : 0;
}

/* getdents64 by hand, since opendir() allocates and this runs every round. */
static int dir_fill(struct sysfs_dir *d)
{
	ssize_t n = getdents64(d->fd, d->buffer, sizeof(d->buffer));

	if (n < 0)
		return -errno;
	d->at = 0;
	d->len = (size_t)n;
	return 0;
}

const char *sysfs_dir_next(struct sysfs_dir *d, int *ret_error)
{
	*ret_error = 0;
	for (;;) {
		const struct dirent64 *entry;

		if (d->at >= d->len) {
			*ret_error = dir_fill(d);
			if (*ret_error < 0 || d->len == 0)
				return NULL;
		}
		entry = (const struct dirent64 *)(d->buffer + d->at);
		d->at += entry->d_reclen;
		if (entry->d_name[0] != '.')
			return entry->d_name;
	}
}

void sysfs_dir_close(struct sysfs_dir *d)
{
	close(d->fd);
	d->fd = -1;
}
