/* gzip for the wire: fast rather than small, for it runs in main's loop. */
#pragma once
#include "core/strbuf.h"

struct gzip; /* a compressor: 260 kB from its first use on, which it need not set up for each */

struct gzip *gzip_new(void); /* NULL: no memory */
void gzip_free(struct gzip *g);
/* Append data as one gzip member. 0, -ENOMEM, or -EFBIG above 4 GiB; it can be used again. */
int gzip_compress(struct gzip *g, const char *data, size_t size, struct strbuf *out);
