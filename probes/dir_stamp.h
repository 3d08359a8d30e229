/* Whether a directory may have other entries than when it was last looked at, by one stat(): for
 * trees that somebody makes and edits. sysfs does not keep the time of a directory's last change.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Two changes this close to each other may bear one time; file systems count in ticks. */
#define DIR_STAMP_SETTLED_NS 1000000000ULL

struct dir_stamp { /* zeroed: of no directory */
	dev_t dev;
	ino_t ino; /* 0: there was none */
	uint64_t changed_ns;
	bool settled; /* a later change would bear another time */
};

/* Take the stamp of path below dir_fd as it is at wall_ns. true: since the stamp that was in *s, no
 * entry can have come, gone or been replaced. dev is the file system that is known to keep such
 * times: of a directory elsewhere that is never said. */
bool dir_stamp_renew(struct dir_stamp *s, dev_t dev, int dir_fd, const char *path,
		     uint64_t wall_ns);
