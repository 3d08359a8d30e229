/* Reading from descriptors. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

/* Up to size bytes, fewer only at the end of the file; interrupted reads go on. The number read, or
 * -errno. */
ssize_t fd_read_all(int fd, void *into, size_t size);
