#include "probes/dir_stamp.h"

#include <fcntl.h>

#include "core/clock.h"

static struct dir_stamp stamp_of(dev_t dev, int dir_fd, const char *path, uint64_t wall_ns)
{
	struct dir_stamp now = {.settled = true}; /* one that comes has an inode */
	struct stat st;

	if (fstatat(dir_fd, path, &st, 0) < 0)
		return now;
	now.dev = st.st_dev;
	now.ino = st.st_ino;
	now.changed_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
	now.settled = st.st_dev == dev && wall_ns >= now.changed_ns &&
		      wall_ns - now.changed_ns >= DIR_STAMP_SETTLED_NS;
	return now;
}

bool dir_stamp_renew(struct dir_stamp *s, dev_t dev, int dir_fd, const char *path, uint64_t wall_ns)
{
	struct dir_stamp before = *s;

	*s = stamp_of(dev, dir_fd, path, wall_ns);
	/* Unsettled when it was taken: what is the same now may have changed behind it. */
	return before.settled && before.dev == s->dev && before.ino == s->ino &&
	       before.changed_ns == s->changed_ns;
}
