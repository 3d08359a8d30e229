#include <string.h>

#include "core/clock.h"
#include "daemon/daemon.h"
#include "daemon/planner.h"
#include "daemon/view.h"
#include "health/quantile.h"

#define QUANTILE_WINDOW_NS (60 * NSEC_PER_SEC)
#define QUANTILE_AGE_NS (900 * NSEC_PER_MSEC) /* looks closer together share them */

static void take_quantiles(struct session *s, const struct table *table, uint64_t now_ns)
{
	uint64_t since = now_ns > QUANTILE_WINDOW_NS ? now_ns - QUANTILE_WINDOW_NS : 0;
	uint64_t v[SAMPLES_MAX];

	for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
		struct snap_quantiles *q = &s->quantiles[stream];

		*q = (struct snap_quantiles){0};
		if (table)
			q->count = table_get_samples(table, s->row, stream, since, v, SAMPLES_MAX);
		if (q->count == 0)
			continue;
		q->p50_ns = quantile_nearest_rank(v, q->count, 50);
		q->p99_ns = quantile_nearest_rank(v, q->count, 99);
	}
	s->quantiles_ns = now_ns;
}

/* A session without a worker has no samples; nor has one whose row is still its predecessor's. */
static const struct table *table_of(const struct daemon *d, const struct session *s)
{
	const struct device *dev = supervisor_find(d->supervisor, s->device);

	if (s->phase == PHASE_UNPLACED || !s->books.has_live || !dev || !dev->proc)
		return NULL;
	return worker_proc_table(dev->proc);
}

static void fill_conn(struct snap_session *to, const struct session *from)
{
	const struct session_conn *c = &from->conn;

	to->has_conn = to->state == SESSION_UP || to->state == SESSION_DRAINING;
	if (!to->has_conn)
		return;
	memcpy(to->local_gid, c->local_gid, sizeof(to->local_gid));
	memcpy(to->remote_gid, c->remote_gid, sizeof(to->remote_gid));
	to->qpn = c->qpn;
	to->remote_qpn = c->remote_qpn;
	to->udp_source_port = c->udp_source_port;
}

/* An operation that is on has its schedule from the configuration until a worker has one. */
static void fill_ops(struct snap_session *to, const struct session *from, const struct daemon *d)
{
	uint64_t last_ns = 1;

	memcpy(to->op, from->total, sizeof(to->op));
	for (unsigned op = 0; op < OP_COUNT; op++) {
		to->op[op].interval_ns = from->conn.op_lack[op] ? 0 : d->config.op[op].interval_ns;
		/* The latest, which is not the largest after the clock was set back. */
		if (to->op[op].last_success_ns >= last_ns) {
			last_ns = to->op[op].last_success_ns;
			to->last_success_wall_ns = to->op[op].last_success_wall_ns;
		}
	}
	memcpy(to->stream, from->quantiles, sizeof(to->stream));
	books_ack(&from->books, &to->ack_sum_ns, &to->ack_count);
}

static void fill_loss(struct snap_session *to, const struct window_sums *recent, uint64_t length_ns)
{
	to->has_loss = window_loss(recent, &to->loss_ratio);
	to->window_seconds = (double)length_ns / (double)NSEC_PER_SEC;
}

static void fill_names(struct snapshot *s, struct snap_session *to, const struct session *from)
{
	to->peer = snapshot_str(s, from->key.peer);
	to->rail = snapshot_str(s, from->key.rail);
	to->peer_rail = snapshot_str(s, from->key.peer_rail);
	to->class_name = snapshot_str(s, from->key.class_name);
	to->address = snapshot_str(s, from->target.text);
	to->device = snapshot_str(s, from->device);
	to->reason = "";
}

static const char *conn_reason(struct snapshot *s, const struct session *from)
{
	if (from->disabled)
		return snapshot_str(s, from->disabled_reason);
	if (from->released)
		return snapshot_printf(s,
				       "%s is released: 'rdma-pingmesh acquire %s' takes it back",
				       from->device, from->device);
	if (from->target.trouble[0])
		return snapshot_str(s, from->target.trouble);
	return from->conn_seen ? snapshot_str(s, from->conn.reason) : "";
}

/* Without memory it is left out. */
static void fill_hist(struct snapshot *s, struct snap_session *to, const struct session *from)
{
	struct hist *hist = from->hist ? snapshot_alloc(s, OP_COUNT, sizeof(*hist)) : NULL;

	if (hist)
		memcpy(hist, from->hist, OP_COUNT * sizeof(*hist));
	to->hist = hist;
}

static void fill_session(struct snapshot *s, size_t i, struct session *from, struct daemon *d,
			 struct view_judged *judged)
{
	struct snap_session *to = &s->sessions[i];
	struct judge_session *in = &judged->sessions[i];
	char doubt[FACT_NAME];

	fill_names(s, to, from);
	to->state = session_shown_state(from, &to->since_wall_ns);
	to->up_since_ns = from->conn.since_mono_ns;
	to->error = from->error;
	to->verdict = VERDICT_UNKNOWN;
	fill_conn(to, from);
	if (s->mono_ns - from->quantiles_ns > QUANTILE_AGE_NS)
		take_quantiles(from, table_of(d, from), s->mono_ns);
	fill_ops(to, from, d);
	fill_hist(s, to, from);
	fill_loss(to, &in->recent,
		  window_since(&from->window, s->mono_ns, from->total, &in->recent));
	in->books_verdict = from->books_verdict;
	in->rack = snapshot_str(s, from->target.rack);
	in->pod = snapshot_str(s, from->target.pod);
	in->conn_reason = conn_reason(s, from);
	in->answers_as = snapshot_str(s, from->answers_as);
	in->doubt = snapshot_str(s, row_words(from->row_look, doubt, sizeof(doubt)));
	in->memory = &from->judged;
	judged->of[i] = from;
}

/* What its books say is all that is judged of it. */
static void fill_loopback(struct snapshot *s, struct snap_session *to, struct session *from,
			  struct daemon *d)
{
	fill_names(s, to, from);
	to->state = session_shown_state(from, &to->since_wall_ns);
	to->error = from->error;
	to->verdict = from->books_verdict;
	if (s->mono_ns - from->quantiles_ns > QUANTILE_AGE_NS)
		take_quantiles(from, table_of(d, from), s->mono_ns);
	fill_ops(to, from, d);
}

bool view_sessions(struct snapshot *s, struct daemon *d, struct view_judged *judged)
{
	size_t max = sessions_count(d->sessions);

	if (max == 0)
		return true;
	s->sessions = snapshot_alloc(s, max, sizeof(*s->sessions));
	s->loopbacks = snapshot_alloc(s, RAILS_MAX * CLASS_MAX < max ? RAILS_MAX * CLASS_MAX : max,
				      sizeof(*s->loopbacks));
	judged->sessions = snapshot_alloc(s, max, sizeof(*judged->sessions));
	judged->of = snapshot_alloc(s, max, sizeof(struct session *));
	if (!s->sessions || !s->loopbacks || !judged->sessions || !judged->of)
		return false;
	/* The list is in the order of the snapshot. */
	for (size_t i = 0; i < max; i++) {
		struct session *from = sessions_get(d->sessions, i);

		if (from->wanted && from->target.loopback)
			fill_loopback(s, &s->loopbacks[s->n_loopbacks++], from, d);
		else if (from->wanted)
			fill_session(s, s->n_sessions++, from, d, judged);
	}
	return true;
}

bool view_peers(struct snapshot *s, const struct daemon *d)
{
	size_t max = peers_count(d->peers);

	if (max == 0)
		return true;
	s->peers = snapshot_alloc(s, max, sizeof(*s->peers));
	if (!s->peers)
		return false;
	for (size_t i = 0; i < max; i++) {
		const struct target *t = peers_get(d->peers, i);

		if (t->doubled || planner_is_self(d, t))
			continue;
		s->peers[s->n_peers++] = (struct snap_peer){
			.peer = snapshot_str(s, t->host),
			.peer_rail = snapshot_str(s, t->rail),
			.address = snapshot_str(s, t->text),
			.rack = snapshot_str(s, t->rack),
			.pod = snapshot_str(s, t->pod),
		};
	}
	return true;
}
