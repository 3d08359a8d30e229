#include "health/device_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "health/hold.h"

#define STATE_ACTIVE 4
#define STATE_ACTIVE_DEFERRED 5
#define LOSSES_KEPT 128 /* as many as a limit may ask for, and more */
#define LOSSES_NS (300 * NSEC_PER_SEC)
#define KEPT_NS (10 * 60 * NSEC_PER_SEC) /* without a new round */

struct port_state {
	uint8_t port;
	char id[FACT_NAME + 8]; /* "mlx5_0/1" */
	bool listed;		/* in the last round */
	bool was_up, up, was_down, expected;
	uint64_t up_since_ns, down_since_ns; /* the last time */
	uint64_t down_ns;		     /* length of the last time without link */
	uint64_t loss_ns[LOSSES_KEPT];	     /* when the link was lost; 0: free */
	unsigned n_losses;		     /* ever */
	unsigned values_most;
	struct hold hold[RULE_COUNT];
	struct rule_said said[RULE_COUNT]; /* as last reached */
	uint64_t since_wall_ns[RULE_COUNT];
	size_t n_rates;
	struct snap_rate rates[RATES_PORT_SERIES];
};

struct device_rules {
	char device[FACT_NAME];
	struct rates *rates;
	size_t n_ports;
	struct port_state *ports[PORT_MAX];
};

struct device_rules *device_rules_new(const char *device)
{
	struct device_rules *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	name_copy(r->device, sizeof(r->device), device);
	r->rates = rates_new();
	if (r->rates)
		return r;
	free(r);
	return NULL;
}

void device_rules_free(struct device_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_ports; i++)
		free(r->ports[i]);
	rates_free(r->rates);
	free(r);
}

bool device_rules_seen(const struct device_rules *r, uint64_t mono_ns)
{
	return rates_last_ns(r->rates) >= mono_ns;
}

/* --- the link --- */

static struct port_state *port_of(struct device_rules *r, uint8_t port)
{
	struct port_state *p;

	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i]->port == port)
			return r->ports[i];
	if (r->n_ports == PORT_MAX)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->port = port;
	snprintf(p->id, sizeof(p->id), "%s/%u", r->device, port);
	r->ports[r->n_ports++] = p;
	return p;
}

static void note_link(struct port_state *p, const struct port_fact *fact, uint64_t now_ns)
{
	bool up = fact->state == STATE_ACTIVE || fact->state == STATE_ACTIVE_DEFERRED;

	if (!fact->state_known || up == p->up) {
		if (!p->up && p->was_up)
			p->down_ns = now_ns - p->down_since_ns;
		return;
	}
	p->up = up;
	if (up) {
		p->up_since_ns = now_ns;
		p->down_ns = p->was_up ? now_ns - p->down_since_ns : 0;
		p->was_up = true;
		return;
	}
	p->was_down = true;
	p->down_since_ns = now_ns;
	p->down_ns = 0;
	p->loss_ns[p->n_losses++ % LOSSES_KEPT] = now_ns;
}

static unsigned recent_losses(const struct port_state *p, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LOSSES_KEPT; i++)
		n += p->loss_ns[i] && now_ns - p->loss_ns[i] < LOSSES_NS;
	return n;
}

static bool uses(const struct device_rules_input *in, uint8_t port)
{
	for (size_t i = 0; i < in->n_rail_ports; i++)
		if (in->rail_ports[i] == port)
			return true;
	return in->all_ports;
}

/* --- asking --- */

/* A device with one port may have one set of counters, for itself. */
static unsigned counters_port(const struct counter_round *round, uint8_t port)
{
	if (round->n_ports != 1)
		return port;
	for (uint32_t i = 0; i < round->n_values; i++)
		if (round->values[i].port == port && round->values[i].source == SOURCE_HW_COUNTERS)
			return port;
	for (uint32_t i = 0; i < round->n_values; i++)
		if (round->values[i].port == 0 && round->values[i].source == SOURCE_HW_COUNTERS)
			return 0;
	return port;
}

/* sysfs tells of a port whether its netdev is there or not; the netdev has its own way. */
static bool is_file(const struct counter_value *v)
{
	return v->source != SOURCE_ETHTOOL && v->source != SOURCE_OPTIONAL &&
	       v->source != SOURCE_LEG;
}

static void count_values(const struct counter_round *round, struct rule_input *ask)
{
	unsigned counters = counters_port(round, (uint8_t)ask->port);

	for (uint32_t i = 0; i < round->n_values; i++) {
		const struct counter_value *v = &round->values[i];

		if (!is_file(v) || (v->port != ask->port && v->port != counters))
			continue;
		ask->values++;
		if (v->flags & COUNTER_SATURATED && !ask->saturated++)
			ask->saturated_name = v->name;
	}
}

static void hold_rule(struct port_state *p, enum rule rule, const struct rule_said *said,
		      const struct device_rules_input *in)
{
	bool link = rule == RULE_LINK_FLAP;
	uint64_t hold_ns = link ? in->limits->recovery_ns : in->limits->hold_ns;
	bool changed;

	if (!said->judged)
		return;
	/* What is a state, and not a count, is over when it is over; so is what nobody asks. */
	if (!in->limits->on[rule] || rule == RULE_LINK_DOWN || rule == RULE_LINK_DEGRADED ||
	    rule >= RULE_COUNTERS_SATURATED)
		hold_ns = 0;
	changed = hold_next(&p->hold[rule], said->state, said->busy, in->now_ns, hold_ns);
	if (changed)
		p->since_wall_ns[rule] = in->wall_ns;
	if (said->state >= RULE_WARNING && said->state >= p->hold[rule].state)
		p->said[rule] = *said;
	else if (p->hold[rule].state < RULE_WARNING)
		p->said[rule] = (struct rule_said){0};
}

static void ask_all(struct device_rules *r, struct port_state *p, const struct port_fact *fact,
		    const struct device_rules_input *in)
{
	uint64_t now = in->now_ns;
	struct rule_input ask = {
		.rates = r->rates,
		.limits = in->limits,
		.port = p->port,
		.lone = in->round->n_ports == 1,
		.id = p->id,
		.fact = fact,
		.device = &in->round->device,
		.expected = p->expected,
		.up = p->up,
		.down_ns = p->down_ns,
		.up_ns = p->was_down && p->up ? now - p->up_since_ns : UINT64_MAX,
		.losses = recent_losses(p, now),
		.retry_count = in->retry_count,
	};
	struct rule_said said;

	count_values(in->round, &ask);
	if (ask.values > p->values_most)
		p->values_most = ask.values;
	ask.values_most = p->values_most;
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		rule_ask((enum rule)rule, &ask, &said);
		hold_rule(p, (enum rule)rule, &said, in);
	}
}

/* --- rates, for those who want to see them --- */

static void note_rate(struct device_rules *r, struct port_state *p, unsigned port, unsigned signal,
		      int priority)
{
	struct snap_rate *to = &p->rates[p->n_rates];

	if (p->n_rates == RATES_PORT_SERIES || !rates_has(r->rates, port, signal, priority))
		return;
	*to = (struct snap_rate){.signal = (uint16_t)signal, .priority = (int8_t)priority};
	for (unsigned w = 0; w < RATE_WINDOWS; w++) {
		struct rate rate;

		to->known[w] =
			rates_get(r->rates, port, signal, priority, (enum rate_window)w, &rate);
		if (to->known[w])
			to->per_second[w] = rate.per_second;
	}
	p->n_rates++;
}

static void note_rates(struct device_rules *r, struct port_state *p,
		       const struct counter_round *round)
{
	bool lone = round->n_ports == 1;

	p->n_rates = 0;
	for (unsigned signal = 0; signal < SIGNAL_COUNT; signal++) {
		unsigned priorities;

		if (!rates_wants((enum signal)signal))
			continue;
		note_rate(r, p, rates_level(r->rates, p->port, lone, signal, -1), signal, -1);
		priorities = rates_priorities(r->rates, p->port, signal);
		for (int priority = 0; priorities >> priority; priority++)
			if (priorities & 1u << priority)
				note_rate(r, p, p->port, signal, priority);
	}
}

/* --- a round --- */

static void drop_unlisted(struct device_rules *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_ports; i++) {
		if (r->ports[i]->listed)
			r->ports[kept++] = r->ports[i];
		else
			free(r->ports[i]);
	}
	r->n_ports = kept;
}

bool device_rules_round(struct device_rules *r, const struct device_rules_input *in)
{
	const struct counter_round *round = in->round;
	struct rates_round values = {
		.mono_ns = round->mono_ns,
		.values = round->values,
		.n_values = round->n_values,
		.own = in->own,
		.n_own = in->n_own,
	};

	if (!round->mono_ns || round->mono_ns > in->now_ns || device_rules_seen(r, round->mono_ns))
		return false;
	rates_add(r->rates, &values);
	for (size_t i = 0; i < r->n_ports; i++)
		r->ports[i]->listed = false;
	for (uint32_t i = 0; i < round->n_ports; i++) {
		const struct port_fact *fact = &round->ports[i];
		struct port_state *p = port_of(r, fact->port);

		if (!p || p->listed)
			continue;
		p->listed = true;
		note_link(p, fact, in->now_ns);
		p->expected = p->was_up && uses(in, p->port);
		ask_all(r, p, fact, in);
		note_rates(r, p, round);
	}
	/* A round without ports is one of a driver that is just going: what it had may come back.
	 */
	if (round->n_ports)
		drop_unlisted(r);
	return true;
}

/* --- the snapshot --- */

static bool fill_rule(const struct port_state *p, unsigned rule, struct snapshot *s,
		      struct snap_rule *to)
{
	const struct rule_said *said = &p->said[rule];
	struct rule_evidence *evidence;

	*to = (struct snap_rule){
		.state = p->hold[rule].state,
		.since_wall_ns = p->since_wall_ns[rule],
		.text = "",
	};
	if (to->state < RULE_WARNING)
		return true;
	to->cause = said->cause;
	to->about_data = said->about_data;
	to->past = said->past;
	to->text = snapshot_str(s, said->text);
	if (!said->n_evidence)
		return true;
	evidence = snapshot_alloc(s, said->n_evidence, sizeof(*evidence));
	if (!evidence)
		return false;
	memcpy(evidence, said->evidence, said->n_evidence * sizeof(*evidence));
	to->evidence = evidence;
	to->n_evidence = said->n_evidence;
	return true;
}

static bool fill_port(const struct port_state *p, struct snapshot *s, struct snap_port_rules *to)
{
	to->port = p->port;
	to->expected = p->expected;
	to->verdict = VERDICT_UNKNOWN;
	to->reason = "";
	for (unsigned rule = 0; rule < RULE_COUNT; rule++)
		if (!fill_rule(p, rule, s, &to->rule[rule]))
			return false;
	if (!p->n_rates)
		return true;
	to->rates = snapshot_alloc(s, p->n_rates, sizeof(*to->rates));
	if (!to->rates)
		return false;
	memcpy(to->rates, p->rates, p->n_rates * sizeof(*to->rates));
	to->n_rates = p->n_rates;
	return true;
}

bool device_rules_fill(const struct device_rules *r, struct snapshot *s, struct snap_device *to)
{
	uint64_t last_ns = rates_last_ns(r->rates);

	if (!r->n_ports || (s->mono_ns > last_ns && s->mono_ns - last_ns > KEPT_NS))
		return true;
	to->port_rules = snapshot_alloc(s, r->n_ports, sizeof(*to->port_rules));
	if (!to->port_rules)
		return false;
	for (size_t i = 0; i < r->n_ports; i++)
		if (!fill_port(r->ports[i], s, &to->port_rules[i]))
			return false;
	to->n_port_rules = r->n_ports;
	return true;
}
