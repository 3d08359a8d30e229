#include "probes/held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
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

bool held_in_sysfs(int dir_fd)
{
	struct statfs fs;

	return fstatfs(dir_fd, &fs) == 0 && fs.f_type == SYSFS_MAGIC;
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
	if (h->never || room->n >= room->max)
		return false;
	h->never = !held_in_sysfs(fd);
	return !h->never && (uint32_t)fd < held_limit() + HELD_RESERVE / 2;
}

int held_open_read(struct held *h, struct held_room *room, int dir_fd, const char *path, char *ret,
		   size_t size)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC), r;

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
