/* Families of rules, and verdicts of ports and devices. */
#include "exporters/metrics_parts.h"

/* A gauge that went stale disappears: rules are told as long as the counters are. */
static bool told(const struct snap_device *d)
{
	return !d->gone && d->counters_fresh;
}

static void put_rule(struct exposition *e, const struct snap_device *d,
		     const struct snap_port_rules *p, unsigned rule)
{
	if (p->rule[rule].state == RULE_NOT_APPLICABLE || !metrics_open_port(e, d, p->port))
		return;
	exposition_label(e, "rule", rule_name((enum rule)rule));
	exposition_u64(e, p->rule[rule].state - RULE_OK);
}

static void put_rules(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_rule_state_id", FAMILY_GAUGE,
			  "What a rule says of the port: 0 ok, 1 warning, 2 critical; absent where "
			  "there is nothing that it could judge.");
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; told(d) && k < d->n_port_rules; k++)
			for (unsigned rule = 0; rule < RULE_COUNT; rule++)
				put_rule(e, d, &d->port_rules[k], rule);
	}
}

static void put_expected(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_port_expected", FAMILY_GAUGE,
			  "1: a rail uses the port and it was up once, so that its link and what "
			  "rules say of it count for the host; 0: they are only told.");
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; told(d) && k < d->n_port_rules; k++)
			if (metrics_open_port(e, d, d->port_rules[k].port))
				exposition_u64(e, d->port_rules[k].expected);
	}
}

static void put_port_verdicts(struct exposition *e, const struct snapshot *s)
{
	exposition_family(
		e, "rdma_port_verdict_id", FAMILY_GAUGE,
		"Verdict on the port: 0 ok, 1 degraded, 2 failing; absent while unknown.");
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; told(d) && k < d->n_port_rules; k++) {
			const struct snap_port_rules *p = &d->port_rules[k];

			if (p->verdict != VERDICT_UNKNOWN && metrics_open_port(e, d, p->port))
				exposition_u64(e, p->verdict);
		}
	}
}

static void put_device_verdicts(struct exposition *e, const struct snapshot *s)
{
	exposition_family(
		e, "rdma_device_verdict_id", FAMILY_GAUGE,
		"Verdict on the device: 0 ok, 1 degraded, 2 failing; absent while unknown.");
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		if (d->gone || d->verdict == VERDICT_UNKNOWN || !exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_label(e, "device", d->name);
		exposition_u64(e, d->verdict);
	}
}

void metrics_put_rules(struct exposition *e, const struct snapshot *s)
{
	put_rules(e, s);
	put_expected(e, s);
	put_port_verdicts(e, s);
	put_device_verdicts(e, s);
}
