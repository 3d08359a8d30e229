#include "probes/held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probes/sysfs.h"

uint32_t held_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= HELD_RESERVE)
		return 0;
	limit.rlim_cur -= HELD_RESERVE;
	return limit.rlim_cur < HELD_MAX ? (uint32_t)limit.rlim_cur : HELD_MAX;
}

enum held_tree held_tree(int dir_fd)
{
	struct statfs fs;

	if (fstatfs(dir_fd, &fs) < 0)
		return TREE_OTHER;
	switch (fs.f_type) {
	case SYSFS_MAGIC:
		return TREE_SYSFS;
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC: /* and ext2, ext3 */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return TREE_PLAIN;
	default: /* overlayfs, for one, reads the file below after it was copied up */
		return TREE_OTHER;
	}
}

void held_close(struct held *h, struct held_room *room)
{
	if (h->number > 0) {
		close(h->number - 1);
		room->n--;
	}
	*h = (struct held){0};
}

/* The number of a descriptor is the least that is free: it tells how many are in use. */
static bool may_hold(struct held *h, const struct held_room *room, int fd)
{
	struct stat st;

	if (h->never || room->n >= room->max || (uint32_t)fd >= room->max + HELD_RESERVE / 2)
		return false;
	h->never = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != room->dev;
	return !h->never;
}

/* Of a link the file is opened, and never held. Flags are constants: of others a fortified build
 * makes another call than openat(), which tests do not see. */
static int open_file(struct held *h, int dir_fd, const char *path)
{
	int fd;

	if (!h->never) {
		fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 || errno != ELOOP)
			return fd;
		h->never = true;
	}
	return openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
}

int held_open_read(struct held *h, struct held_room *room, int dir_fd, const char *path, char *ret,
		   size_t size)
{
	int fd = open_file(h, dir_fd, path), r;

	ret[0] = '\0';
	if (fd < 0) {
		r = -errno;
		room->ran_out |= r == -EMFILE || r == -ENFILE;
		return r;
	}
	r = sysfs_read_fd(fd, ret, size);
	if (r >= 0 && may_hold(h, room, fd)) {
		h->number = fd + 1;
		room->n++;
	} else {
		close(fd);
	}
	return r;
}

int held_read(struct held *h, struct held_room *room, char *ret, size_t size)
{
	int r = sysfs_read_fd(h->number - 1, ret, size);

	if (r < 0)
		held_close(h, room);
	return r;
}
