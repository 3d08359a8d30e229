#include "exporters/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include <zlib.h>

#define CHUNK 16384
#define GZIP_WINDOW (15 + 16) /* the largest window, with gzip's header */
#define GZIP_MEMORY 8

struct gzip {
	z_stream z;
	bool begun;
};

struct gzip *gzip_new(void)
{
	return calloc(1, sizeof(struct gzip));
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	if (g->begun)
		deflateEnd(&g->z);
	free(g);
}

static bool begin(struct gzip *g)
{
	if (g->begun)
		return deflateReset(&g->z) == Z_OK;
	g->begun = deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
				Z_DEFAULT_STRATEGY) == Z_OK;
	return g->begun;
}

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

int gzip_compress(struct gzip *g, const char *data, size_t size, struct strbuf *out)
{
	if (size > UINT_MAX)
		return -EFBIG;
	if (!begin(g))
		return -ENOMEM;
	/* zlib does not write there; its type is older than const. */
	g->z.next_in = (unsigned char *)(uintptr_t)data;
	g->z.avail_in = (unsigned)size;
	return deflate_all(&g->z, out);
}
