#include "exporters/json_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JSON_SCHEMA 1

void json_put_envelope(struct jsonw *j, const struct snapshot *s, uint64_t age_ns)
{
	jsonw_put_u64(j, "schema", JSON_SCHEMA);
	jsonw_put_timestamp(j, "timestamp", s->wall_ns);
	jsonw_put_seconds(j, "snapshot_age_seconds", age_ns);
	jsonw_put_string(j, "instance", s->instance);
}

uint64_t json_snapshot_age(const struct snapshot *s, uint64_t now_ns)
{
	return now_ns > s->mono_ns ? now_ns - s->mono_ns : 0;
}

struct json_list *json_list_new(const struct json_list_type *type, const struct snapshot *snapshot,
				const struct http_source *source, const struct list_params *params,
				uint64_t now_ns)
{
	struct json_list *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->type = type;
	l->snapshot = snapshot;
	l->source = source;
	l->age_ns = json_snapshot_age(snapshot, now_ns);
	if (params)
		l->params = *params;
	l->json.out = &l->pending;
	return l;
}

void json_list_free(struct json_list *l)
{
	if (!l)
		return;
	if (l->type->end)
		l->type->end(l);
	strbuf_free(&l->pending);
	free(l);
}

static void produce_head(struct json_list *l)
{
	jsonw_open_object(&l->json);
	json_put_envelope(&l->json, l->snapshot, l->age_ns);
	if (l->type->head)
		l->type->head(l, &l->json);
	jsonw_key(&l->json, l->type->name);
	jsonw_open_array(&l->json);
	l->stage = LIST_ROWS;
}

static void produce_row(struct json_list *l)
{
	if (l->type->row(l, &l->json)) {
		l->written++;
		return;
	}
	if (l->waits)
		return;
	jsonw_close_array(&l->json);
	if (l->type->tail)
		l->type->tail(l, &l->json);
	jsonw_close_object(&l->json);
	strbuf_putc(&l->pending, '\n');
	l->stage = LIST_END;
}

/* Refill the empty buffer; false at the end. */
static bool produce(struct json_list *l)
{
	strbuf_reset(&l->pending);
	l->sent = 0;
	switch (l->stage) {
	case LIST_HEAD:
		produce_head(l);
		return true;
	case LIST_ROWS:
		produce_row(l);
		return true;
	case LIST_END:
		return false;
	}
	return false;
}

void json_list_wake(struct json_list *l)
{
	l->waits = false;
	if (l->woken)
		l->woken(l->waiter);
}

ssize_t json_list_read(struct json_list *l, char *buf, size_t max)
{
	size_t done = 0;

	while (done < max) {
		size_t n = l->pending.len - l->sent;

		if (n == 0) {
			if (l->waits)
				return done ? (ssize_t)done : -EAGAIN;
			if (!produce(l))
				break;
			if (strbuf_failed(&l->pending))
				return -ENOMEM;
			continue;
		}
		if (n > max - done)
			n = max - done;
		memcpy(buf + done, l->pending.data + l->sent, n);
		l->sent += n;
		done += n;
	}
	return (ssize_t)done;
}
