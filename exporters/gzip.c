#include "exporters/gzip.h"

#include <errno.h>
#include <limits.h>

#include <zlib.h>

#define CHUNK 16384
#define GZIP_WINDOW (15 + 16) /* the largest window, with gzip's header */
#define GZIP_MEMORY 8

static int deflate_all(z_stream *z, struct strbuf *out)
{
	unsigned char chunk[CHUNK];
	int r;

	do {
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		r = deflate(z, Z_FINISH);
		if (r != Z_OK && r != Z_STREAM_END)
			return -EIO;
		strbuf_add(out, (const char *)chunk, sizeof(chunk) - z->avail_out);
	} while (r != Z_STREAM_END);
	return strbuf_failed(out) ? -ENOMEM : 0;
}

int gzip_compress(const char *data, size_t size, struct strbuf *out)
{
	z_stream z = {0};
	int r;

	if (size > UINT_MAX)
		return -EFBIG;
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	/* zlib does not write there; its type is older than const. */
	z.next_in = (unsigned char *)(uintptr_t)data;
	z.avail_in = (unsigned)size;
	r = deflate_all(&z, out);
	deflateEnd(&z);
	return r;
}
