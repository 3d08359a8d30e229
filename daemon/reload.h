/* Taking over a changed configuration while everything goes on. */
#pragma once
#include <stddef.h>

struct config;
struct daemon;

/* Read the configuration as at the start; remarks go to the log. 0 or -errno with the first error,
 * as "FILE:LINE: message", in err. */
int reload_load(struct daemon *d, struct config *ret, char *err, size_t errlen);
/* SIGHUP and POST /-/reload. On error the old configuration stays, and err says why. */
int reload(struct daemon *d, char *err, size_t errlen);
