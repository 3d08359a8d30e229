/* The peer list of the running daemon: read at start and at a reload, and again when its file
 * changes. */
#pragma once
#include <stddef.h>
#include "daemon/peer_source.h"

struct daemon;

/* Read what config asks for: 0, or -errno with a message; the list in force is not touched. What is
 * bad goes to the log and, if lines is not NULL, there too, one a line. */
int peer_reload_read(struct daemon *d, const struct config *config, struct peer_source *ret,
		     struct strbuf *lines, char *err, size_t errlen);
/* Put in force what was read; takes it over. The sessions follow with the next plan. */
void peer_reload_take(struct daemon *d, struct peer_source *source);
/* At start: a file that cannot be used is told and waited for. 0 or -errno. */
int peer_reload_start(struct daemon *d);
