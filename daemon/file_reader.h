/* Main's way to the peer file, which may be on a file system that hangs: a helper process, this
 * very program started as --file-helper, watches and reads it. Started with the first path, ended
 * with the last. */
#pragma once
#include "core/loop.h"
#include "daemon/config.h"

#define FILE_READER_WAIT_NS 1500000000ULL  /* a reload waits so long for the content */
#define FILE_READER_START_NS 5000000000ULL /* at a start, when nothing runs yet */
#define FILE_READER_LOOK_NS 5000000000ULL  /* the helper is asked so often whether it is there */
#define FILE_READER_PATIENCE 4		   /* such looks without an answer: it hangs */

struct file_reader;

/* changed: the file that is followed may be another now, or can be read again. NULL: no memory. */
struct file_reader *file_reader_new(struct loop *loop, void (*changed)(void *arg), void *arg);
void file_reader_free(struct file_reader *r);
/* "": none. The caller reads it by itself at first; one change too many may be told then. */
void file_reader_follow(struct file_reader *r, const char *path);
/* The content as of now, NUL-terminated, to be freed: its length; or -errno with a message. Waits
 * for wait_ns at most, and not at all for a helper that is known to hang (-ETIMEDOUT): when it
 * answers after all, changed() tells. */
ssize_t file_reader_read(struct file_reader *r, const char *path, uint64_t wait_ns, char **ret,
			 char *err, size_t errlen);
/* Since when the file system does not answer, wall clock; 0: it does. */
uint64_t file_reader_hangs_since(const struct file_reader *r);
