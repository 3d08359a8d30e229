/* Families of rails: totals that outlive sessions, peers and workers. */
#include "exporters/metrics_parts.h"

#include <string.h>

#include "exporters/gid_text.h"

#define HIST_SERIES (HIST_BUCKETS + 2)

/* One (rail, class, operation) whose books are told. */
struct rail_op {
	const char *rail, *class_name;
	const struct op_books *books;
	unsigned op;
};

typedef void (*rail_op_fn)(struct exposition *e, const struct rail_op *r);

static bool session_uses(const struct snapshot *s, const char *rail, const char *class_name,
			 unsigned op)
{
	for (size_t i = 0; i < s->n_sessions; i++) {
		const struct snap_session *session = &s->sessions[i];

		if (session->op[op].interval_ns > 0 && strcmp(session->rail, rail) == 0 &&
		    strcmp(session->class_name, class_name) == 0)
			return true;
	}
	return false;
}

/* An operation is told while it is configured, and for as long as main lives once it has books. */
static bool op_told(const struct snapshot *s, const struct snap_rail *rail,
		    const struct snap_rail_class *c, unsigned op)
{
	return c->op[op].interval_ns > 0 || c->op[op].scheduled > 0 ||
	       session_uses(s, rail->name, c->class_name, op);
}

static void each_rail_op(struct exposition *e, const struct snapshot *s, rail_op_fn fn)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *rail = &s->rails[i];

		for (size_t k = 0; k < rail->n_classes; k++) {
			const struct snap_rail_class *c = &rail->classes[k];

			for (unsigned op = 0; op < OP_COUNT; op++) {
				struct rail_op r = {rail->name, c->class_name, &c->op[op], op};

				if (op_told(s, rail, c, op))
					fn(e, &r);
			}
		}
	}
}

static void put_value(struct exposition *e, const struct rail_op *r, const char *reason,
		      uint64_t value)
{
	if (!exposition_admit(e, 1))
		return;
	exposition_sample(e, "");
	exposition_label(e, "rail", r->rail);
	exposition_label(e, "class", r->class_name);
	exposition_label(e, "op", op_name(r->op));
	if (reason)
		exposition_label(e, "reason", reason);
	exposition_u64(e, value);
}

static void put_scheduled(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->scheduled);
}

static void put_sent(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->sent);
}

static void put_ok(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->ok);
}

static void put_late(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->late);
}

static void put_self_delayed(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->self_delayed);
}

static void put_in_flight(struct exposition *e, const struct rail_op *r)
{
	put_value(e, r, NULL, r->books->in_flight);
}

static void put_failed(struct exposition *e, const struct rail_op *r)
{
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		put_value(e, r, fail_reason_name(i), r->books->failed[i]);
}

static void put_aborted(struct exposition *e, const struct rail_op *r)
{
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		put_value(e, r, abort_reason_name(i), r->books->aborted[i]);
}

static void put_not_attempted(struct exposition *e, const struct rail_op *r)
{
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		put_value(e, r, skip_reason_name(i), r->books->not_attempted[i]);
}

static const struct {
	const char *name;
	enum family_type type;
	const char *help;
	rail_op_fn put;
} op_families[] = {
	{"rdma_rail_probe_scheduled", FAMILY_COUNTER,
	 "Probes of the rail that were due: sent plus not attempted.", put_scheduled},
	{"rdma_rail_probe_sent", FAMILY_COUNTER,
	 "Probes of the rail that were sent: ok, failed, aborted or in flight.", put_sent},
	{"rdma_rail_probe_ok", FAMILY_COUNTER, "Probes of the rail answered within their deadline.",
	 put_ok},
	{"rdma_rail_probe_late", FAMILY_COUNTER,
	 "Failed probes of the rail that completed after their deadline after all.", put_late},
	{"rdma_rail_probe_self_delayed", FAMILY_COUNTER,
	 "Ok probes of the rail delayed by this daemon itself, kept out of latency.",
	 put_self_delayed},
	{"rdma_rail_probe_failed", FAMILY_COUNTER,
	 "Probes of the rail that were sent and genuinely failed.", put_failed},
	{"rdma_rail_probe_aborted", FAMILY_COUNTER,
	 "Probes of the rail that were sent and are nobody's loss.", put_aborted},
	{"rdma_rail_probe_not_attempted", FAMILY_COUNTER,
	 "Probes of the rail that were due and not sent.", put_not_attempted},
	{"rdma_rail_probe_in_flight", FAMILY_GAUGE, "Probes of the rail without an end yet.",
	 put_in_flight},
};

static void put_books(struct exposition *e, const struct snapshot *s)
{
	for (size_t i = 0; i < sizeof(op_families) / sizeof(op_families[0]); i++) {
		exposition_family(e, op_families[i].name, op_families[i].type, op_families[i].help);
		each_rail_op(e, s, op_families[i].put);
	}
}

static void open_hist(struct exposition *e, const char *suffix, const char *rail,
		      const char *class_name, unsigned stream)
{
	exposition_sample(e, suffix);
	exposition_label(e, "rail", rail);
	exposition_label(e, "class", class_name);
	exposition_label(e, "op", stream_name(stream));
}

static void put_hist(struct exposition *e, const char *rail, const char *class_name,
		     unsigned stream, const struct hist *h)
{
	uint64_t cumulative = 0;

	if (!exposition_admit(e, HIST_SERIES))
		return;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		cumulative += h->bucket[i];
		open_hist(e, "_bucket", rail, class_name, stream);
		exposition_label(e, "le", i < HIST_BOUNDS ? hist_bounds_le[i] : "+Inf");
		exposition_u64(e, cumulative);
	}
	open_hist(e, "_sum", rail, class_name, stream);
	exposition_seconds(e, h->sum_ns);
	/* Not h->count: the histogram is read while a worker adds to it, word by word. */
	open_hist(e, "_count", rail, class_name, stream);
	exposition_u64(e, cumulative);
}

static void put_round_trips(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_rail_rtt_seconds", FAMILY_HISTOGRAM,
			  "Round trips of the rail; ack is the transport's acknowledgement "
			  "of a send.");
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *rail = &s->rails[i];

		for (size_t k = 0; k < rail->n_classes; k++) {
			const struct snap_rail_class *c = &rail->classes[k];

			for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
				unsigned op = stream == STREAM_ACK ? OP_SEND : stream;

				if (op_told(s, rail, c, op))
					put_hist(e, rail->name, c->class_name, stream,
						 &c->hist[stream]);
			}
		}
	}
}

static void put_rail_value(struct exposition *e, const struct snap_rail *rail, const char *key,
			   const char *label, uint64_t value)
{
	if (!exposition_admit(e, 1))
		return;
	exposition_sample(e, "");
	exposition_label(e, "rail", rail->name);
	if (key)
		exposition_label(e, key, label);
	exposition_u64(e, value);
}

static void put_states(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_rail_sessions", FAMILY_GAUGE,
			  "Sessions that this host opened on the rail, by state.");
	for (size_t i = 0; i < s->n_rails; i++) {
		for (unsigned state = 0; state < SESSION_STATE_COUNT; state++)
			put_rail_value(e, &s->rails[i], "state", session_state_name(state),
				       s->rails[i].sessions[state]);
	}
	exposition_family(e, "rdma_rail_up", FAMILY_GAUGE,
			  "1 while the rail's port is active with a usable address.");
	for (size_t i = 0; i < s->n_rails; i++)
		put_rail_value(e, &s->rails[i], NULL, NULL, s->rails[i].up);
	if (s->rails_expected > 0 && exposition_admit(e, 1)) {
		exposition_family(e, "rdma_rails_expected", FAMILY_GAUGE,
				  "Rails that the configuration expects on this host.");
		exposition_sample(e, "");
		exposition_u64(e, s->rails_expected);
	}
}

static void put_info(struct exposition *e, const struct snap_rail *rail)
{
	const struct rail_fact *f = &rail->fact;
	char gid[GID_TEXT_SIZE] = "";

	if (!gid_is_zero(f->gid))
		gid_text(f->gid, gid);
	if (!exposition_admit(e, 1))
		return;
	exposition_sample(e, "");
	exposition_label(e, "rail", rail->name);
	exposition_label(e, "device", f->device);
	exposition_label_u64(e, "port", f->port);
	exposition_label(e, "netdev", f->netdev);
	exposition_label(e, "address", f->address);
	exposition_label(e, "gid", gid);
	exposition_label_u64(e, "gid_index", f->gid_index);
	exposition_label(e, "gid_type", gid_type_name(f->gid_type));
	exposition_u64(e, 1);
}

static void put_connections(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_connection_attempts", FAMILY_COUNTER,
			  "Connects that this host began on the rail.");
	for (size_t i = 0; i < s->n_rails; i++)
		put_rail_value(e, &s->rails[i], NULL, NULL, s->rails[i].totals.attempts);
	exposition_family(e, "rdma_connection_failures", FAMILY_COUNTER,
			  "Connects that this host began on the rail and that failed.");
	for (size_t i = 0; i < s->n_rails; i++) {
		for (unsigned k = 0; k < CONNECT_COUNT; k++)
			put_rail_value(e, &s->rails[i], "reason", connect_failure_name(k),
				       s->rails[i].totals.failures[k]);
	}
	exposition_family(e, "rdma_connections_refused", FAMILY_COUNTER,
			  "Others that wanted to connect to the rail and were turned away.");
	for (size_t i = 0; i < s->n_rails; i++) {
		for (unsigned k = 0; k < REFUSE_COUNT; k++)
			put_rail_value(e, &s->rails[i], "reason", refuse_reason_name(k),
				       s->rails[i].totals.refused[k]);
	}
	exposition_family(e, "rdma_qp_drains", FAMILY_COUNTER,
			  "Queue pairs drained before their destruction, by how the drain ended.");
	for (size_t i = 0; i < s->n_rails; i++) {
		for (unsigned k = 0; k < DRAIN_COUNT; k++)
			put_rail_value(e, &s->rails[i], "outcome", drain_outcome_name(k),
				       s->rails[i].totals.drains[k]);
	}
}

void metrics_put_rails(struct exposition *e, const struct snapshot *s)
{
	put_round_trips(e, s);
	put_books(e, s);
	put_states(e, s);
	exposition_family(e, "rdma_rail_info", FAMILY_GAUGE,
			  "Where the rail's probes leave this host; always 1.");
	for (size_t i = 0; i < s->n_rails; i++) {
		if (s->rails[i].present)
			put_info(e, &s->rails[i]);
	}
	put_connections(e, s);
}
