#include "health/judge_rules.h"

#include <string.h>

size_t judge_rules_max(const struct snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].n_port_rules * RULE_COUNT;
	return n;
}

static void judge_port(struct snap_port_rules *p)
{
	p->verdict = VERDICT_UNKNOWN;
	p->cause = CAUSE_NONE;
	p->reason = "";
	for (unsigned i = 0; i < RULE_COUNT; i++) {
		const struct snap_rule *rule = &p->rule[i];
		enum verdict v = VERDICT_OK;

		if (rule->state == RULE_NOT_APPLICABLE)
			continue;
		if (rule->state >= RULE_WARNING && !rule->about_data)
			v = verdict_of_trouble(rule->cause, rule->state == RULE_CRITICAL);
		if (p->verdict != VERDICT_UNKNOWN && v <= p->verdict)
			continue;
		p->verdict = v;
		p->cause = v == VERDICT_OK ? CAUSE_NONE : rule->cause;
		p->reason = v == VERDICT_OK ? "" : rule->text;
	}
}

/* Rails hear of their link by events, rules with the next round: one that is up again is no longer
 * missed. */
static bool rail_is_up(const struct snapshot *s, const struct snap_device *d, unsigned port)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *r = &s->rails[i];

		if (r->present && r->up && r->fact.port == port && !strcmp(r->fact.device, d->name))
			return true;
	}
	return false;
}

/* What is over, and what happens on a port that nobody expects, is the port's own. */
static bool weighs(const struct snapshot *s, const struct snap_device *d,
		   const struct snap_port_rules *p, unsigned k)
{
	const struct snap_rule *rule = &p->rule[k];

	if (rule->state < RULE_WARNING || !p->expected || rule->about_data || rule->past)
		return false;
	return k != RULE_LINK_DOWN || !rail_is_up(s, d, p->port);
}

/* A device whose worker cannot tell is unknown for that, and not for its ports. */
static void worsen(struct snap_device *d, const struct snap_rule *rule)
{
	enum verdict v = verdict_of_trouble(rule->cause, rule->state == RULE_CRITICAL);

	if (d->verdict != VERDICT_UNKNOWN && v <= d->verdict)
		return;
	d->verdict = v;
	d->cause = rule->cause;
	d->reason = rule->text;
}

void judge_port_rules(const struct snapshot *s, struct snap_device *d)
{
	for (size_t i = 0; i < d->n_port_rules; i++) {
		struct snap_port_rules *p = &d->port_rules[i];

		judge_port(p);
		for (unsigned k = 0; k < RULE_COUNT && d->counters_fresh; k++)
			if (weighs(s, d, p, k))
				worsen(d, &p->rule[k]);
	}
}

static void hang_evidence(struct findings *f, struct snap_finding *finding,
			  const struct snap_rule *rule)
{
	struct snap_evidence *e = NULL;

	if (finding && rule->n_evidence)
		e = snapshot_alloc(f->s, rule->n_evidence, sizeof(*e));
	if (!e)
		return;
	for (size_t i = 0; i < rule->n_evidence; i++)
		e[i] = (struct snap_evidence){
			.name = rule->evidence[i].name,
			.value = rule->evidence[i].value,
			.threshold = rule->evidence[i].threshold,
			.window_seconds = rule->evidence[i].window_seconds,
		};
	finding->evidence = e;
	finding->n_evidence = rule->n_evidence;
}

static void find_rule(struct findings *f, const char *subject, const struct snap_device *d,
		      const struct snap_port_rules *p, unsigned k)
{
	const struct snap_rule *rule = &p->rule[k];
	struct snap_finding *finding = findings_add_of_rule(f, rule_name((enum rule)k), rule->cause,
							    rule->state == RULE_CRITICAL, subject,
							    rule->text, rule->since_wall_ns);

	if (!weighs(f->s, d, p, k))
		findings_mark_minor(f, finding);
	hang_evidence(f, finding, rule);
}

/* Of counters that stand at their end there is one finding for all ports of the device already. */
static void find_rules(struct findings *f, const struct snap_device *d)
{
	for (size_t i = 0; i < d->n_port_rules; i++) {
		const struct snap_port_rules *p = &d->port_rules[i];
		const char *subject = snapshot_printf(f->s, "port:%s/%u", d->name, p->port);

		for (unsigned k = 0; k < RULE_COUNT; k++)
			if (p->rule[k].state >= RULE_WARNING && k != RULE_COUNTERS_SATURATED)
				find_rule(f, subject, d, p, k);
	}
}

void judge_rule_findings(struct findings *f)
{
	for (size_t i = 0; i < f->s->n_devices; i++)
		if (!f->s->devices[i].gone)
			find_rules(f, &f->s->devices[i]);
}
