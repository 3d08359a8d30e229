/* [peers] secret_file: only what a key is made of it is kept. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "daemon/config_keys.h"

#define SECRET_MIN 16
#define SECRET_MAX 4096

/* Readable for its owner and at most for one group, which is how a service without privileges gets
 * at what is root's. */
static int check_file(int fd, const char *path, char *err, size_t errlen)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		snprintf(err, errlen, "secret_file %.160s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		snprintf(err, errlen, "secret_file %.160s is no regular file", path);
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		snprintf(err, errlen,
			 "secret_file %.160s belongs to another user: it must be root's", path);
	else if (st.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO))
		snprintf(err, errlen,
			 "secret_file %.160s can be read by everybody or written by others: "
			 "chmod 0640",
			 path);
	else
		return 0;
	return -EINVAL;
}

static size_t without_newline(const char *text, size_t len)
{
	if (len && text[len - 1] == '\n')
		len--;
	if (len && text[len - 1] == '\r')
		len--;
	return len;
}

static int take_secret(struct config *c, int fd, char *err, size_t errlen)
{
	char text[SECRET_MAX + 1];
	ssize_t n = fd_read_all(fd, text, sizeof(text));
	size_t len = n > 0 ? without_newline(text, (size_t)n) : 0;
	int r = -EINVAL;

	if (n < 0)
		snprintf(err, errlen, "secret_file %.160s: %s", c->secret_file, strerror((int)-n));
	else if (len < SECRET_MIN || len > SECRET_MAX)
		snprintf(err, errlen,
			 "secret_file %.160s holds %zu bytes: it must be %d to %d, as from "
			 "'openssl rand -base64 32'",
			 c->secret_file, len, SECRET_MIN, SECRET_MAX);
	else
		r = 0;
	if (r == 0) {
		mac_key(text, len, c->secret);
		c->has_secret = true;
	}
	explicit_bzero(text, sizeof(text));
	return r;
}

int config_read_secret(struct config *c, char *err, size_t errlen)
{
	int fd, r;

	if (!c->secret_file[0])
		return 0;
	/* Whatever it turns out to be, opening it must not wait. */
	fd = open(c->secret_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		snprintf(err, errlen,
			 "secret_file %.160s: %s; the service's user must be able to read it: "
			 "chown root:rdma-pingmesh, chmod 0640",
			 c->secret_file, strerror(errno));
		return -EINVAL;
	}
	r = check_file(fd, c->secret_file, err, errlen);
	if (r == 0)
		r = take_secret(c, fd, err, errlen);
	close(fd);
	return r;
}
