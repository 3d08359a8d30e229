/* What a scrape costs at 8 rails x 64 peers with send, read and write: the first of a snapshot,
 * which renders it, and the further ones, which are given the same bytes; with a yardstick of the
 * same run: printf() of as many lines of the same length. Times are medians of the rounds. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "exporters/gzip.h"
#include "exporters/metrics.h"
#include "tests/tools/synthetic.h"

#define ROUNDS 41
#define RAILS 8
#define PEERS 64
#define SERIES_MAX 50000

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_us(uint64_t *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	return (double)ns[ROUNDS / 2] / 1e3;
}

static size_t count_series(const struct strbuf *text)
{
	size_t n = 0;

	for (const char *line = text->data; line && *line; line = strchr(line, '\n') + 1)
		n += *line != '#';
	return n;
}

/* Each line anew by printf(), as an exporter without a plan would. */
static void print_alike(const struct strbuf *text, struct strbuf *out)
{
	const char *end = text->data + text->len;

	for (const char *line = text->data; line < end;) {
		size_t len = (size_t)(strchr(line, '\n') - line);
		size_t value = len;

		while (value > 0 && line[value - 1] != ' ')
			value--;
		strbuf_printf(out, "%.*s%.9g\n", (int)value, line, strtod(line + value, NULL));
		line += len + 1;
	}
}

static int render(const struct snapshot *s, struct strbuf *out)
{
	return metrics_render(s, NULL, EXPOSITION_TEXT, NULL, out);
}

int main(void)
{
	const struct synthetic wanted = {
		.rails = RAILS,
		.peers = PEERS,
		.ops = {[OP_SEND] = true, [OP_READ] = true, [OP_WRITE] = true},
		.max_series = SERIES_MAX,
	};
	uint64_t rendered[ROUNDS], packed[ROUNDS], printed[ROUNDS];
	struct snapshot *s = synthetic_snapshot(&wanted, 0);
	struct gzip *packer = gzip_new();
	size_t series = 0, bytes = 0, small = 0;

	for (unsigned i = 0; s && packer && i < ROUNDS; i++) {
		struct strbuf text = {0}, gzip = {0}, alike = {0};
		uint64_t at[4];

		at[0] = clock_now_ns();
		if (render(s, &text) < 0)
			return EXIT_FAILURE;
		at[1] = clock_now_ns();
		if (gzip_compress(packer, text.data, text.len, &gzip) < 0)
			return EXIT_FAILURE;
		at[2] = clock_now_ns();
		print_alike(&text, &alike);
		at[3] = clock_now_ns();
		rendered[i] = at[1] - at[0];
		packed[i] = at[2] - at[1];
		printed[i] = at[3] - at[2];
		series = count_series(&text);
		bytes = text.len;
		small = gzip.len;
		strbuf_free(&text);
		strbuf_free(&gzip);
		strbuf_free(&alike);
	}
	if (!s || !packer)
		return EXIT_FAILURE;
	gzip_free(packer);
	snapshot_unref(s);
	printf("%d sessions x 3 operations: %zu series, %zu bytes, %zu with gzip\n", RAILS * PEERS,
	       series, bytes, small);
	printf("rendered in %.0f us (%.2f of printf() of the same lines), packed in %.0f us; "
	       "further scrapes of the same second copy\n",
	       median_us(rendered), median_us(rendered) / median_us(printed), median_us(packed));
	return EXIT_SUCCESS;
}
