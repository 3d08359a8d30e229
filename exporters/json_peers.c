#include "exporters/json_peers.h"

#include <string.h>

#include "core/names.h"
#include "exporters/gid_text.h"

/* Order of the rows, which the snapshot has them in. */
static int compare_key(const struct snap_session *s, const struct session_key *key)
{
	int order = strcmp(s->peer, key->peer);

	if (order == 0)
		order = strcmp(s->rail, key->rail);
	if (order == 0)
		order = strcmp(s->peer_rail, key->peer_rail);
	if (order == 0)
		order = strcmp(s->class_name, key->class_name);
	return order;
}

static bool is_wanted(const struct list_params *p, const struct snap_session *s)
{
	if (p->peer[0] && strcmp(p->peer, s->peer) != 0)
		return false;
	if (p->rail[0] && strcmp(p->rail, s->rail) != 0)
		return false;
	if (p->has_verdict && p->verdict != s->verdict)
		return false;
	return !p->has_cursor || compare_key(s, &p->cursor) > 0;
}

/* Move next to the next wanted session; NULL: none. */
static const struct snap_session *find_next(struct json_list *l)
{
	for (; l->next < l->snapshot->n_sessions; l->next++) {
		if (is_wanted(&l->params, &l->snapshot->sessions[l->next]))
			return &l->snapshot->sessions[l->next];
	}
	return NULL;
}

typedef uint64_t (*reason_value_fn)(const struct op_books *b, unsigned reason);
typedef const char *(*reason_name_fn)(unsigned reason);

static uint64_t failed_of(const struct op_books *b, unsigned reason)
{
	return b->failed[reason];
}

static uint64_t aborted_of(const struct op_books *b, unsigned reason)
{
	return b->aborted[reason];
}

static uint64_t not_attempted_of(const struct op_books *b, unsigned reason)
{
	return b->not_attempted[reason];
}

static const char *failed_name(unsigned reason)
{
	return fail_reason_name(reason);
}

static const char *aborted_name(unsigned reason)
{
	return abort_reason_name(reason);
}

static const char *not_attempted_name(unsigned reason)
{
	return skip_reason_name(reason);
}

/* Sums over the operations that are shown, each reason with its number. */
static void put_reasons(struct jsonw *j, const char *key, const struct snap_session *s,
			unsigned count, reason_value_fn value, reason_name_fn name)
{
	jsonw_key(j, key);
	jsonw_open_object(j);
	for (unsigned reason = 0; reason < count; reason++) {
		uint64_t sum = 0;

		for (unsigned op = 0; op < OP_COUNT; op++)
			sum += s->op[op].interval_ns ? value(&s->op[op], reason) : 0;
		jsonw_put_u64(j, name(reason), sum);
	}
	jsonw_close_object(j);
}

static void put_quantiles(struct jsonw *j, const struct snap_quantiles *q)
{
	jsonw_key(j, "p50_seconds");
	if (q->count > 0)
		jsonw_seconds(j, q->p50_ns);
	else
		jsonw_null(j);
	jsonw_key(j, "p99_seconds");
	if (q->count > 0)
		jsonw_seconds(j, q->p99_ns);
	else
		jsonw_null(j);
}

static void put_op(struct jsonw *j, const struct snap_session *s, unsigned op)
{
	const struct op_books *b = &s->op[op];

	jsonw_key(j, op_name(op));
	jsonw_open_object(j);
	jsonw_put_u64(j, "scheduled", b->scheduled);
	jsonw_put_u64(j, "sent", b->sent);
	jsonw_put_u64(j, "ok", b->ok);
	jsonw_put_u64(j, "failed", op_books_failed(b));
	jsonw_put_u64(j, "aborted", op_books_aborted(b));
	jsonw_put_u64(j, "not_attempted", op_books_not_attempted(b));
	jsonw_put_u64(j, "late", b->late);
	jsonw_put_u64(j, "self_delayed", b->self_delayed);
	jsonw_put_u64(j, "in_flight", b->in_flight);
	put_quantiles(j, &s->stream[op]);
	jsonw_put_u64(j, "last_minute_count", s->stream[op].count);
	jsonw_put_timestamp(j, "last_attempt_timestamp", b->last_attempt_wall_ns);
	jsonw_put_timestamp(j, "last_success_timestamp", b->last_success_wall_ns);
	jsonw_close_object(j);
}

static void put_ack(struct jsonw *j, const struct snap_session *s)
{
	jsonw_key(j, stream_name(STREAM_ACK));
	jsonw_open_object(j);
	put_quantiles(j, &s->stream[STREAM_ACK]);
	jsonw_close_object(j);
}

/* An operation that is off has no member; `ack` is the send's. */
static void put_ops(struct jsonw *j, const struct snap_session *s)
{
	jsonw_key(j, "ops");
	jsonw_open_object(j);
	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (s->op[op].interval_ns == 0)
			continue;
		put_op(j, s, op);
		if (op == OP_SEND)
			put_ack(j, s);
	}
	jsonw_close_object(j);
}

static void put_gid(struct jsonw *j, const char *key, const struct snap_session *s,
		    const uint8_t gid[16])
{
	char text[GID_TEXT_SIZE] = "";

	if (s->has_conn && !gid_is_zero(gid))
		gid_text(gid, text);
	jsonw_put_known_string(j, key, text);
}

static void put_connection(struct jsonw *j, const struct snap_session *s)
{
	jsonw_put_known_string(j, "device", s->device);
	put_gid(j, "local_gid", s, s->local_gid);
	put_gid(j, "remote_gid", s, s->remote_gid);
	jsonw_put_known_u64(j, "qpn", s->has_conn ? s->qpn : 0);
	jsonw_put_known_u64(j, "remote_qpn", s->has_conn ? s->remote_qpn : 0);
	jsonw_put_known_u64(j, "udp_source_port", s->has_conn ? s->udp_source_port : 0);
}

static void put_loss(struct jsonw *j, const struct snap_session *s)
{
	jsonw_key(j, "loss_ratio");
	if (s->has_loss)
		jsonw_double(j, s->loss_ratio);
	else
		jsonw_null(j);
	jsonw_key(j, "window_seconds");
	jsonw_double(j, s->window_seconds);
}

static void put_row(struct jsonw *j, const struct snap_session *s)
{
	jsonw_open_object(j);
	jsonw_put_string(j, "peer", s->peer);
	jsonw_put_string(j, "rail", s->rail);
	jsonw_put_string(j, "peer_rail", s->peer_rail);
	jsonw_put_string(j, "class", s->class_name);
	jsonw_put_known_string(j, "address", s->address);
	jsonw_put_string(j, "state", session_state_name(s->state));
	jsonw_put_timestamp(j, "since", s->since_wall_ns);
	jsonw_put_string(j, "verdict", verdict_name(s->verdict));
	jsonw_put_timestamp(j, "verdict_since", s->verdict_since_wall_ns);
	jsonw_put_string(j, "cause", cause_name(s->cause));
	jsonw_put_string(j, "reason", s->reason);
	put_connection(j, s);
	put_loss(j, s);
	put_reasons(j, "failures", s, FAIL_COUNT, failed_of, failed_name);
	put_reasons(j, "aborts", s, ABORT_COUNT, aborted_of, aborted_name);
	put_reasons(j, "not_attempted", s, SKIP_COUNT, not_attempted_of, not_attempted_name);
	put_ops(j, s);
	jsonw_close_object(j);
}

static bool peers_row(struct json_list *l, struct jsonw *j)
{
	const struct snap_session *s = find_next(l);

	if (!s || (l->params.limit > 0 && l->written >= l->params.limit))
		return false;
	put_row(j, s);
	l->last = l->next++;
	return true;
}

static void peers_tail(struct json_list *l, struct jsonw *j)
{
	char text[CURSOR_TEXT_SIZE] = "";
	struct session_key key;

	/* A row that is wanted and was not written: the limit ended the list. */
	if (l->written > 0 && l->next < l->snapshot->n_sessions) {
		const struct snap_session *s = &l->snapshot->sessions[l->last];

		name_copy(key.peer, sizeof(key.peer), s->peer);
		name_copy(key.rail, sizeof(key.rail), s->rail);
		name_copy(key.peer_rail, sizeof(key.peer_rail), s->peer_rail);
		name_copy(key.class_name, sizeof(key.class_name), s->class_name);
		cursor_format(&key, text);
	}
	jsonw_put_known_string(j, "next_cursor", text);
}

const struct json_list_type json_peers = {
	.name = "peers",
	.row = peers_row,
	.tail = peers_tail,
};
