/* Bounded reads of small files and directories of sysfs, or of a tree that looks like it. No
 * allocation. What is read is whatever a driver, or whoever made the tree, put there. */
#pragma once
#include "probes/facts.h"

#define SYSFS_TEXT 256 /* no attribute we read has more */
#define SYSFS_PATH 192 /* below the device's directory */

/* The text of a file below dir_fd, NUL-terminated in ret: its length, or -errno: -ENOENT it is not
 * there, -EFBIG longer than size - 1, -EBADMSG has a NUL inside; else what open or read said.
 * Blocks as long as the driver does. */
int sysfs_read(int dir_fd, const char *path, char *ret, size_t size);
/* The same of a file that is open, from its beginning, wherever it was read before. */
int sysfs_read_fd(int fd, char *ret, size_t size);
/* The class of a negative errno as metrics name it. */
enum read_error sysfs_error_class(int error);

/* First line of an optional attribute, trimmed; true when it was there and readable, even if empty.
 * A failure other than absence is counted in errors[READ_ERROR_COUNT]; ret is then "". */
bool sysfs_line(int dir_fd, const char *path, char *ret, size_t size, uint64_t *errors);

struct sysfs_dir {
	int fd;
	size_t at, len;
	char buffer[4096] __attribute__((aligned(8)));
};

/* 0 or -errno. Close it only after a successful open. */
int sysfs_dir_open(struct sysfs_dir *d, int dir_fd, const char *path);
/* The next name that does not begin with a dot, or NULL at the end: 0 or -errno in *ret_error. */
const char *sysfs_dir_next(struct sysfs_dir *d, int *ret_error);
void sysfs_dir_close(struct sysfs_dir *d);
