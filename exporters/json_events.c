#include "exporters/json_events.h"

#include "health/journal.h"

static const struct journal *journal_of(const struct json_list *l)
{
	return l->source && l->source->journal ? l->source->journal(l->source->arg) : NULL;
}

static void events_head(struct json_list *l, struct jsonw *j)
{
	const struct journal *journal = journal_of(l);

	l->seq = l->params.since;
	l->last_seq = journal ? journal_last_seq(journal) : 0;
	jsonw_put_string(j, "journal", journal ? journal_id(journal) : "");
	jsonw_put_u64(j, "first_seq", journal ? journal_first_seq(journal) : 0);
	jsonw_put_u64(j, "last_seq", l->last_seq);
}

static bool events_row(struct json_list *l, struct jsonw *j)
{
	const struct journal *journal = journal_of(l);
	const struct journal_event *e;

	if (!journal || (l->params.limit > 0 && l->written >= l->params.limit))
		return false;
	e = journal_after(journal, l->seq);
	if (!e || e->seq > l->last_seq)
		return false;
	l->seq = e->seq;
	jsonw_open_object(j);
	jsonw_put_u64(j, "seq", e->seq);
	jsonw_put_timestamp(j, "timestamp", e->wall_ns);
	jsonw_put_string(j, "kind", e->kind);
	jsonw_put_string(j, "device", e->device);
	jsonw_put_string(j, "rail", e->rail);
	jsonw_put_string(j, "peer", e->peer);
	jsonw_put_string(j, "text", e->text);
	jsonw_close_object(j);
	return true;
}

const struct json_list_type json_events = {
	.head = events_head,
	.name = "events",
	.row = events_row,
};
