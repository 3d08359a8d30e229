#include "daemon/worker_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/child.h"

/* Writes the path of name in the directory of this program; false when that cannot be known. */
static bool beside_us(const char *name, char *out, size_t cap)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(out, cap, "%s/%s", self, name) < (int)cap;
}

/* The child that executes it first moves its socket and its table to low descriptors: out of their
 * way. */
static int open_program(const char *path)
{
	int fd, lifted, saved;

	/* What may not be executed is found out here, not at the first worker. */
	if (access(path, X_OK) < 0)
		return -errno;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	lifted = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FIRST_SAFE_FD);
	saved = errno;
	close(fd);
	return lifted < 0 ? -saved : lifted;
}

int worker_program_open(struct worker_program *p, const char *path, char *err, size_t errlen)
{
	static const char installed[] = RPM_LIBEXECDIR "/" WORKER_PROGRAM_NAME;
	char beside[PATH_MAX];
	int fd = -ENOENT;

	p->fd = -1;
	if (path)
		fd = open_program(path);
	else if (beside_us(WORKER_PROGRAM_NAME, beside, sizeof(beside)))
		fd = open_program(beside);
	if (fd < 0 && !path) {
		path = installed;
		fd = open_program(path);
	}
	if (fd < 0) {
		snprintf(err, errlen, "the worker's program %s: %s; is the installation complete?",
			 path, strerror(-fd));
		return fd;
	}
	p->fd = fd;
	snprintf(p->path, sizeof(p->path), "/proc/self/fd/%d", fd);
	return 0;
}

void worker_program_close(struct worker_program *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}
