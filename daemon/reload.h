/* Taking over a changed configuration while everything goes on. */
#pragma once
#include <stddef.h>

struct config;
struct daemon;
struct strbuf;

/* Read the configuration as at the start; remarks go to the log and, if lines is not NULL, there
 * too, one a line. 0 or -errno with the first error, as "FILE:LINE: message", in err. */
int reload_load(struct daemon *d, struct config *ret, struct strbuf *lines, char *err,
		size_t errlen);
/* SIGHUP, POST /-/reload and the control socket. On error the old configuration stays, and err
 * says why. lines as above. */
int reload(struct daemon *d, struct strbuf *lines, char *err, size_t errlen);
