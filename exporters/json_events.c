#include "exporters/json_events.h"

#include <stdlib.h>
#include <string.h>

#include "health/journal.h"

/* Events of before memory's, a page at a time. */
struct past {
	uint64_t read; /* id of the one that is awaited; 0: none */
	bool done;     /* there is no more of it */
	struct journal_event *events;
	size_t n, next;
};

static const struct journal *journal_of(const struct json_list *l)
{
	return l->source && l->source->journal ? l->source->journal(l->source->arg) : NULL;
}

static uint64_t past_first(const struct json_list *l)
{
	return l->source && l->source->past_first ? l->source->past_first(l->source->arg) : 0;
}

static void events_head(struct json_list *l, struct jsonw *j)
{
	const struct journal *journal = journal_of(l);
	uint64_t first = past_first(l);

	l->last_seq = journal ? journal_last_seq(journal) : 0;
	l->seq = l->params.since;
	if (l->params.last && l->last_seq > l->params.last && l->seq < l->last_seq - l->params.last)
		l->seq = l->last_seq - l->params.last;
	if (!first && journal)
		first = journal_first_seq(journal);
	jsonw_put_string(j, "journal", journal ? journal_id(journal) : "");
	jsonw_put_u64(j, "first_seq", first);
	jsonw_put_u64(j, "last_seq", l->last_seq);
}

/* --- the past --- */

static void on_page(void *list, const struct journal_event *events, size_t n)
{
	struct json_list *l = list;
	struct past *p = l->state;
	struct journal_event *copy = n ? reallocarray(p->events, n, sizeof(*copy)) : NULL;

	p->read = 0;
	p->next = p->n = 0;
	p->done = !copy;
	if (copy) {
		memcpy(copy, events, n * sizeof(*copy));
		p->events = copy;
		p->n = n;
	}
	json_list_wake(l);
}

/* Asks for the next page. False: there is none. */
static bool ask(struct json_list *l, struct past *p)
{
	if (!p->done)
		p->read = l->source->past_read(l->source->arg, l->seq, on_page, l);
	p->done = !p->read;
	l->waits = p->read != 0;
	return l->waits;
}

static struct past *past_of(struct json_list *l)
{
	if (!l->state && past_first(l))
		l->state = calloc(1, sizeof(struct past));
	return l->state;
}

static const struct journal_event *from_page(const struct json_list *l, struct past *p)
{
	while (p->next < p->n)
		if (p->events[p->next++].seq > l->seq)
			return &p->events[p->next - 1];
	return NULL;
}

/* The next event, of memory where that has it. NULL: none; or, with waits, none yet. */
static const struct journal_event *next_event(struct json_list *l, const struct journal *journal)
{
	const struct journal_event *e = journal_after(journal, l->seq), *old;
	struct past *p;

	if ((e && e->seq == l->seq + 1) || l->seq >= l->last_seq)
		return e;
	p = past_of(l);
	if (!p)
		return e;
	old = from_page(l, p);
	if (old)
		return old;
	return ask(l, p) ? NULL : e;
}

/* --- rows --- */

static bool wanted(const struct json_list *l, const struct journal_event *e)
{
	const struct list_params *p = &l->params;
	uint64_t now = l->snapshot->wall_ns;

	return (!p->device[0] || !strcmp(p->device, e->device)) &&
	       (!p->rail[0] || !strcmp(p->rail, e->rail)) &&
	       (!p->peer[0] || !strcmp(p->peer, e->peer)) &&
	       (!p->kind[0] || !strcmp(p->kind, e->kind)) &&
	       (!p->max_age_ns || e->wall_ns >= now || now - e->wall_ns <= p->max_age_ns);
}

static void put_event(struct jsonw *j, const struct journal_event *e)
{
	jsonw_open_object(j);
	jsonw_put_u64(j, "seq", e->seq);
	jsonw_put_timestamp(j, "timestamp", e->wall_ns);
	jsonw_put_string(j, "kind", e->kind);
	jsonw_put_string(j, "device", e->device);
	jsonw_put_string(j, "rail", e->rail);
	jsonw_put_string(j, "peer", e->peer);
	jsonw_put_string(j, "text", e->text);
	jsonw_close_object(j);
}

static bool events_row(struct json_list *l, struct jsonw *j)
{
	const struct journal *journal = journal_of(l);
	const struct journal_event *e;

	if (!journal || (l->params.limit > 0 && l->written >= l->params.limit))
		return false;
	while ((e = next_event(l, journal)) && e->seq <= l->last_seq) {
		l->seq = e->seq;
		if (!wanted(l, e))
			continue;
		put_event(j, e);
		return true;
	}
	return false;
}

/* Where the next request goes on; null: all was told. */
static void events_tail(struct json_list *l, struct jsonw *j)
{
	bool more = l->params.limit && l->written >= l->params.limit && l->seq < l->last_seq;

	jsonw_put_known_u64(j, "next_since", more ? l->seq : 0);
}

static void events_end(struct json_list *l)
{
	struct past *p = l->state;

	if (!p)
		return;
	if (p->read)
		l->source->past_cancel(l->source->arg, p->read);
	free(p->events);
	free(p);
}

const struct json_list_type json_events = {
	.head = events_head,
	.name = "events",
	.row = events_row,
	.tail = events_tail,
	.end = events_end,
};
