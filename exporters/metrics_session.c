/* Families of sessions (labels S = peer, rail, peer_rail, class) and of the peer list. */
#include "exporters/metrics_parts.h"

#include <stdlib.h>
#include <string.h>

#define WORST_PER_RAIL 8		   /* sessions of a rail that `per_peer = worst` shows */
#define SERIES_PER_OP 8			   /* four counters, two quantiles, sum, count */
#define SERIES_PER_HIST (HIST_BUCKETS + 2) /* sum and count */
#define SERIES_PER_SESSION 3		   /* up, verdict, last success */

/* A session that is shown, and where its rendered labels stand. */
struct shown {
	const struct snap_session *session;
	size_t label_at, label_len;
};

struct sessions {
	struct exposition *e;
	const struct snapshot *snapshot;
	struct strbuf labels;
	struct shown *shown;
	size_t n;
};

static bool same_key(const struct snap_session *a, const struct snap_session *b)
{
	return strcmp(a->peer, b->peer) == 0 && strcmp(a->rail, b->rail) == 0 &&
	       strcmp(a->peer_rail, b->peer_rail) == 0 && strcmp(a->class_name, b->class_name) == 0;
}

static bool op_on(const struct snap_session *session, unsigned op)
{
	return session->op[op].interval_ns > 0;
}

static uint64_t series_of(const struct snap_session *session)
{
	uint64_t n = SERIES_PER_SESSION;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (op_on(session, op))
			n += SERIES_PER_OP + (session->hist ? SERIES_PER_HIST : 0);
	return n;
}

static int badness(enum verdict v)
{
	switch (v) {
	case VERDICT_OK:
		return 0;
	case VERDICT_UNKNOWN:
		return 1;
	case VERDICT_DEGRADED:
		return 2;
	case VERDICT_FAILING:
		return 3;
	}
	return 0;
}

/* By verdict, then loss, then the send's 99th percentile. */
static bool is_worse(const struct snap_session *a, const struct snap_session *b)
{
	double loss_a = a->has_loss ? a->loss_ratio : 0;
	double loss_b = b->has_loss ? b->loss_ratio : 0;

	if (badness(a->verdict) != badness(b->verdict))
		return badness(a->verdict) > badness(b->verdict);
	if (loss_a != loss_b)
		return loss_a > loss_b;
	return a->stream[OP_SEND].p99_ns > b->stream[OP_SEND].p99_ns;
}

/* Is it among the worst of its rail? A session with fewer than that many worse ones. */
static bool is_among_worst(const struct snapshot *s, const struct snap_session *session)
{
	size_t worse = 0;

	for (size_t i = 0; i < s->n_sessions && worse < WORST_PER_RAIL; i++) {
		const struct snap_session *other = &s->sessions[i];

		if (other == session || strcmp(other->rail, session->rail) != 0)
			continue;
		/* Ties go to the earlier one, so that exactly as many as wanted remain. */
		if (is_worse(other, session) || (other < session && !is_worse(session, other)))
			worse++;
	}
	return worse < WORST_PER_RAIL;
}

static bool is_selected(const struct snapshot *s, size_t i)
{
	/* Two equal label sets would make the whole scrape invalid. */
	if (i > 0 && same_key(&s->sessions[i - 1], &s->sessions[i]))
		return false;
	switch (s->per_peer) {
	case PER_PEER_SUMMARY:
	case PER_PEER_HISTOGRAM:
		return true;
	case PER_PEER_WORST:
		return is_among_worst(s, &s->sessions[i]);
	case PER_PEER_NONE:
		return false;
	}
	return false;
}

static void render_labels(struct sessions *all, const struct snap_session *session)
{
	size_t at = all->labels.len;

	exposition_render_label(&all->labels, at, "peer", session->peer);
	exposition_render_label(&all->labels, at, "rail", session->rail);
	exposition_render_label(&all->labels, at, "peer_rail", session->peer_rail);
	exposition_render_label(&all->labels, at, "class", session->class_name);
	all->shown[all->n++] = (struct shown){session, at, all->labels.len - at};
}

/* Choose whole sessions while the limit allows, and render each one's labels once. */
static void choose(struct sessions *all)
{
	const struct snapshot *s = all->snapshot;

	for (size_t i = 0; i < s->n_sessions; i++) {
		if (is_selected(s, i) && exposition_admit(all->e, series_of(&s->sessions[i])))
			render_labels(all, &s->sessions[i]);
	}
}

static void open_sample(struct sessions *all, const struct shown *shown, const char *suffix)
{
	exposition_sample(all->e, suffix);
	exposition_labels(all->e, all->labels.data + shown->label_at, shown->label_len);
}

typedef uint64_t (*op_value_fn)(const struct op_books *b);

static uint64_t value_scheduled(const struct op_books *b)
{
	return b->scheduled;
}

static uint64_t value_ok(const struct op_books *b)
{
	return b->ok;
}

static uint64_t value_retransmits(const struct op_books *b)
{
	return b->retransmits_suspected;
}

static void put_op_counter(struct sessions *all, const char *name, const char *help, op_value_fn fn)
{
	exposition_family(all->e, name, FAMILY_COUNTER, help);
	for (size_t i = 0; i < all->n; i++) {
		const struct snap_session *session = all->shown[i].session;

		for (unsigned op = 0; op < OP_COUNT; op++) {
			if (!op_on(session, op))
				continue;
			open_sample(all, &all->shown[i], "");
			exposition_label(all->e, "op", op_name(op));
			exposition_u64(all->e, fn(&session->op[op]));
		}
	}
}

static void put_quantile(struct sessions *all, const struct shown *shown, unsigned op,
			 const char *quantile, uint64_t ns)
{
	open_sample(all, shown, "");
	exposition_label(all->e, "op", op_name(op));
	exposition_label(all->e, "quantile", quantile);
	exposition_seconds(all->e, ns);
}

static void put_round_trip(struct sessions *all, const struct shown *shown, unsigned op)
{
	const struct snap_quantiles *q = &shown->session->stream[op];
	const struct op_books *b = &shown->session->op[op];

	if (q->count > 0) {
		put_quantile(all, shown, op, "0.5", q->p50_ns);
		put_quantile(all, shown, op, "0.99", q->p99_ns);
	}
	open_sample(all, shown, "_sum");
	exposition_label(all->e, "op", op_name(op));
	exposition_seconds(all->e, b->rtt_sum_ns);
	open_sample(all, shown, "_count");
	exposition_label(all->e, "op", op_name(op));
	exposition_u64(all->e, b->rtt_count);
}

static void put_round_trips(struct sessions *all)
{
	exposition_family(all->e, "rdma_probe_rtt_seconds", FAMILY_SUMMARY,
			  "Round trip of probes; quantiles are of the last minute.");
	for (size_t i = 0; i < all->n; i++) {
		for (unsigned op = 0; op < OP_COUNT; op++) {
			if (op_on(all->shown[i].session, op))
				put_round_trip(all, &all->shown[i], op);
		}
	}
}

static void put_histogram(struct sessions *all, const struct shown *shown, unsigned op)
{
	const struct hist *h = &shown->session->hist[op];
	uint64_t below = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		below += h->bucket[i];
		open_sample(all, shown, "_bucket");
		exposition_label(all->e, "op", op_name(op));
		exposition_label(all->e, "le", i < HIST_BOUNDS ? hist_bounds_le[i] : "+Inf");
		exposition_u64(all->e, below);
	}
	open_sample(all, shown, "_sum");
	exposition_label(all->e, "op", op_name(op));
	exposition_seconds(all->e, h->sum_ns);
	open_sample(all, shown, "_count");
	exposition_label(all->e, "op", op_name(op));
	exposition_u64(all->e, below);
}

static void put_histograms(struct sessions *all)
{
	if (all->snapshot->per_peer != PER_PEER_HISTOGRAM)
		return;
	exposition_family(all->e, "rdma_session_rtt_seconds", FAMILY_HISTOGRAM,
			  "Round trip of a session's probes; with [metrics] per_peer = histogram.");
	for (size_t i = 0; i < all->n; i++) {
		const struct snap_session *session = all->shown[i].session;

		for (unsigned op = 0; session->hist && op < OP_COUNT; op++)
			if (op_on(session, op))
				put_histogram(all, &all->shown[i], op);
	}
}

static void put_states(struct sessions *all)
{
	exposition_family(all->e, "rdma_session_up", FAMILY_GAUGE,
			  "1 while the session's queue pair is connected.");
	for (size_t i = 0; i < all->n; i++) {
		open_sample(all, &all->shown[i], "");
		exposition_u64(all->e, all->shown[i].session->state == SESSION_UP);
	}
	exposition_family(all->e, "rdma_session_verdict_id", FAMILY_GAUGE,
			  "0 ok, 1 degraded, 2 failing; absent while unknown.");
	for (size_t i = 0; i < all->n; i++) {
		if (all->shown[i].session->verdict == VERDICT_UNKNOWN)
			continue;
		open_sample(all, &all->shown[i], "");
		exposition_u64(all->e, all->shown[i].session->verdict);
	}
	exposition_family(all->e, "rdma_session_last_success_timestamp_seconds", FAMILY_GAUGE,
			  "When a probe of any operation last succeeded; 0 if never.");
	for (size_t i = 0; i < all->n; i++) {
		open_sample(all, &all->shown[i], "");
		exposition_seconds(all->e, all->shown[i].session->last_success_wall_ns);
	}
}

static void put_peers(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_peer_info", FAMILY_GAUGE,
			  "A target of the peer list with its labels there; always 1.");
	for (size_t i = 0; i < s->n_peers; i++) {
		const struct snap_peer *p = &s->peers[i];

		if (!exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_label(e, "peer", p->peer);
		exposition_label(e, "peer_rail", p->peer_rail);
		exposition_label(e, "address", p->address);
		exposition_label(e, "rack", p->rack);
		exposition_label(e, "pod", p->pod);
		exposition_u64(e, 1);
	}
}

static void put_all(struct sessions *all)
{
	put_op_counter(
		all, "rdma_probe_scheduled",
		"Probes that were due: each is booked once, also while nothing is connected.",
		value_scheduled);
	put_op_counter(all, "rdma_probe_ok", "Probes answered within their deadline.", value_ok);
	put_op_counter(all, "rdma_probe_failed",
		       "Probes that were sent and genuinely failed; reasons are told per rail.",
		       op_books_failed);
	put_op_counter(all, "rdma_probe_retransmits_suspected",
		       "Round trips so long that a retransmission must be suspected; not a loss.",
		       value_retransmits);
	put_round_trips(all);
	put_histograms(all);
	put_states(all);
}

void metrics_put_sessions(struct exposition *e, const struct snapshot *s)
{
	struct sessions all = {.e = e, .snapshot = s};

	if (s->per_peer == PER_PEER_NONE)
		return;
	all.shown = calloc(s->n_sessions + 1, sizeof(*all.shown));
	if (!all.shown) {
		e->out->failed = true;
		return;
	}
	choose(&all);
	if (strbuf_failed(&all.labels))
		e->out->failed = true;
	else
		put_all(&all);
	put_peers(e, s);
	strbuf_free(&all.labels);
	free(all.shown);
}
