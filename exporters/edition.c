#include "exporters/edition.h"

#include <errno.h>
#include <stdlib.h>

#include "exporters/gzip.h"
#include "exporters/metrics.h"

struct edition {
	struct editions *all;
	struct edition *older, *newer;
	unsigned refs;
	struct snapshot *snapshot;
	struct strbuf plain[EXPOSITION_FORMATS], packed[EXPOSITION_FORMATS];
	uint64_t bytes;
};

struct editions {
	const struct http_source *source;
	struct edition *oldest, *newest;
	struct edition *current; /* holds a reference; NULL before the first */
	uint64_t bytes;
	struct counter_lines counter_lines;
	struct gzip *gzip;
};

struct editions *editions_new(const struct http_source *source)
{
	struct editions *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->source = source;
	all->gzip = gzip_new();
	if (all->gzip)
		return all;
	free(all);
	return NULL;
}

void editions_free(struct editions *all)
{
	if (!all)
		return;
	edition_unref(all->current);
	counter_lines_free(&all->counter_lines);
	gzip_free(all->gzip);
	free(all);
}

static uint64_t snapshot_bytes(const struct snapshot *s)
{
	uint64_t bytes = sizeof(*s);

	bytes += s->n_sessions * sizeof(*s->sessions) + s->n_peers * sizeof(*s->peers) +
		 s->n_findings * sizeof(*s->findings);
	for (size_t i = 0; i < s->n_rails; i++)
		bytes += sizeof(s->rails[i]) +
			 s->rails[i].n_classes * sizeof(s->rails[i].classes[0]);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		bytes += sizeof(*d) + d->n_ports * sizeof(*d->ports) +
			 d->n_gids * sizeof(*d->gids) + d->n_values * sizeof(*d->values);
	}
	return bytes;
}

static void count_bytes(struct edition *e, uint64_t bytes)
{
	e->bytes += bytes;
	e->all->bytes += bytes;
}

/* Takes over the reference to the snapshot. */
static struct edition *edition_new(struct editions *all, struct snapshot *snapshot)
{
	struct edition *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->all = all;
	e->refs = 1;
	e->snapshot = snapshot;
	e->older = all->newest;
	if (all->newest)
		all->newest->newer = e;
	else
		all->oldest = e;
	all->newest = e;
	count_bytes(e, sizeof(*e) + snapshot_bytes(snapshot));
	return e;
}

static void edition_free(struct edition *e)
{
	struct editions *all = e->all;

	if (e->older)
		e->older->newer = e->newer;
	else
		all->oldest = e->newer;
	if (e->newer)
		e->newer->older = e->older;
	else
		all->newest = e->older;
	all->bytes -= e->bytes;
	for (size_t i = 0; i < EXPOSITION_FORMATS; i++) {
		strbuf_free(&e->plain[i]);
		strbuf_free(&e->packed[i]);
	}
	snapshot_unref(e->snapshot);
	free(e);
}

void edition_unref(struct edition *e)
{
	if (e && --e->refs == 0)
		edition_free(e);
}

struct edition *editions_current(struct editions *all)
{
	struct snapshot *snapshot = all->source->snapshot(all->source->arg);
	struct edition *e;

	if (!snapshot)
		return NULL;
	if (all->current && all->current->snapshot == snapshot) {
		snapshot_unref(snapshot);
	} else {
		e = edition_new(all, snapshot);
		if (!e) {
			snapshot_unref(snapshot);
			return NULL;
		}
		edition_unref(all->current);
		all->current = e;
	}
	all->current->refs++;
	return all->current;
}

const struct snapshot *edition_snapshot(const struct edition *e)
{
	return e->snapshot;
}

static int render(struct edition *e, enum exposition_format format)
{
	struct strbuf *out = &e->plain[format];
	struct process_facts process;
	int r;

	if (out->len > 0)
		return 0;
	process_read(&process);
	r = metrics_render(e->snapshot, &process, format, &e->all->counter_lines, out);
	if (r < 0)
		strbuf_free(out);
	count_bytes(e, out->cap);
	return r;
}

static int pack(struct edition *e, enum exposition_format format)
{
	struct strbuf *out = &e->packed[format];
	int r;

	if (out->len > 0)
		return 0;
	r = gzip_compress(e->all->gzip, e->plain[format].data, e->plain[format].len, out);
	if (r < 0)
		strbuf_free(out);
	count_bytes(e, out->cap);
	return r;
}

int edition_metrics(struct edition *e, enum exposition_format format, bool gzip,
		    const char **ret_data, size_t *ret_size)
{
	const struct strbuf *body = gzip ? &e->packed[format] : &e->plain[format];
	int r = render(e, format);

	if (r == 0 && gzip)
		r = pack(e, format);
	if (r < 0)
		return r;
	*ret_data = body->data;
	*ret_size = body->len;
	return 0;
}

uint64_t editions_bytes(const struct editions *all)
{
	return all->bytes;
}

const struct edition *editions_oldest(const struct editions *all)
{
	return all->oldest == all->current ? NULL : all->oldest;
}
