/* Families of a rail's session to itself: families of their own, for a host is no peer of its own.
 */
#include "exporters/metrics_parts.h"

#define SERIES_PER_OP 7 /* three counters, two quantiles, sum, count */

static uint64_t series_of(const struct snap_session *s)
{
	uint64_t n = 1;

	for (unsigned op = 0; op < OP_COUNT; op++)
		n += s->op[op].interval_ns ? SERIES_PER_OP : 0;
	return n;
}

static void open_sample(struct exposition *e, const struct snap_session *s, const char *suffix)
{
	exposition_sample(e, suffix);
	exposition_label(e, "rail", s->rail);
	exposition_label(e, "class", s->class_name);
}

static uint64_t value_scheduled(const struct op_books *b)
{
	return b->scheduled;
}

static uint64_t value_ok(const struct op_books *b)
{
	return b->ok;
}

static void put_counter(struct exposition *e, const struct snapshot *s, size_t n, const char *name,
			const char *help, uint64_t (*value)(const struct op_books *b))
{
	exposition_family(e, name, FAMILY_COUNTER, help);
	for (size_t i = 0; i < n; i++) {
		for (unsigned op = 0; op < OP_COUNT; op++) {
			if (!s->loopbacks[i].op[op].interval_ns)
				continue;
			open_sample(e, &s->loopbacks[i], "");
			exposition_label(e, "op", op_name(op));
			exposition_u64(e, value(&s->loopbacks[i].op[op]));
		}
	}
}

static void put_quantile(struct exposition *e, const struct snap_session *s, unsigned op,
			 const char *quantile, uint64_t ns)
{
	open_sample(e, s, "");
	exposition_label(e, "op", op_name(op));
	exposition_label(e, "quantile", quantile);
	exposition_seconds(e, ns);
}

static void put_round_trip(struct exposition *e, const struct snap_session *s, unsigned op)
{
	const struct snap_quantiles *q = &s->stream[op];

	if (!s->op[op].interval_ns)
		return;
	if (q->count > 0) {
		put_quantile(e, s, op, "0.5", q->p50_ns);
		put_quantile(e, s, op, "0.99", q->p99_ns);
	}
	open_sample(e, s, "_sum");
	exposition_label(e, "op", op_name(op));
	exposition_seconds(e, s->op[op].rtt_sum_ns);
	open_sample(e, s, "_count");
	exposition_label(e, "op", op_name(op));
	exposition_u64(e, s->op[op].rtt_count);
}

static void put_all(struct exposition *e, const struct snapshot *s, size_t n)
{
	exposition_family(e, "rdma_loopback_up", FAMILY_GAUGE,
			  "1 while the rail's session to itself is connected.");
	for (size_t i = 0; i < n; i++) {
		open_sample(e, &s->loopbacks[i], "");
		exposition_u64(e, s->loopbacks[i].state == SESSION_UP);
	}
	put_counter(e, s, n, "rdma_loopback_probe_scheduled",
		    "Probes of a rail to itself that were due; not part of the rail's sums.",
		    value_scheduled);
	put_counter(e, s, n, "rdma_loopback_probe_ok",
		    "Probes of a rail to itself that were answered within their deadline.",
		    value_ok);
	put_counter(e, s, n, "rdma_loopback_probe_failed",
		    "Probes of a rail to itself that were sent and failed.", op_books_failed);
	exposition_family(e, "rdma_loopback_rtt_seconds", FAMILY_SUMMARY,
			  "Round trip of a rail to itself: host and NIC without the fabric.");
	for (size_t i = 0; i < n; i++)
		for (unsigned op = 0; op < OP_COUNT; op++)
			put_round_trip(e, &s->loopbacks[i], op);
}

void metrics_put_loopbacks(struct exposition *e, const struct snapshot *s)
{
	size_t n = 0;

	while (n < s->n_loopbacks && exposition_admit(e, series_of(&s->loopbacks[n])))
		n++;
	if (n > 0)
		put_all(e, s, n);
}
