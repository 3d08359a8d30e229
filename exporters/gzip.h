/* gzip for the wire: fast rather than small, for it runs in main's loop. */
#pragma once
#include "core/strbuf.h"

/* Append data as one gzip member. 0, -ENOMEM, or -EFBIG above 4 GiB. */
int gzip_compress(const char *data, size_t size, struct strbuf *out);
