/* A device with one port for the tests of rules: counters that grow, rounds of 5 s. */
#pragma once
#include "support.h"

#include "core/clock.h"
#include "health/device_rules.h"

#define SEC NSEC_PER_SEC
#define ROUND (5 * SEC)
#define T0 (1000 * SEC)
#define WALL0 (1796000000ULL * SEC)

struct rules_world {
	struct device_rules *rules;
	struct rule_limits limits;
	struct counter_round round;
	uint64_t now;
	uint8_t rail_port;
	size_t n_rail_ports;
	struct rate_own_total own;
	struct snapshot *s;
	struct snap_device device;
};

static inline void default_limits(struct rule_limits *l)
{
	static const uint32_t levels[RULE_COUNT][2] = {
		[RULE_LINK_FLAP] = {2, 5},	 [RULE_LINK_ERRORS] = {10, 1000},
		[RULE_CONGESTION] = {10000, 0},	 [RULE_CC_BROKEN] = {100, 0},
		[RULE_LOSS] = {60, 6000},	 [RULE_RECEIVER_NOT_READY] = {600, 0},
		[RULE_PAUSE_RECEIVED] = {5, 30}, [RULE_PAUSE_SENT] = {5, 30},
		[RULE_PFC_STORM] = {1, 99},	 [RULE_PCIE_BOTTLENECK] = {10, 0},
	};

	for (unsigned i = 0; i < RULE_COUNT; i++) {
		l->on[i] = true;
		l->warning[i] = levels[i][0];
		l->critical[i] = levels[i][1];
	}
	l->recovery_ns = 600 * SEC;
	l->hold_ns = 60 * SEC;
}

static inline int world_set_up(void **state)
{
	struct rules_world *w = calloc(1, sizeof(*w));
	struct port_fact *p = &w->round.ports[0];

	w->rules = device_rules_new("mlx5_0");
	default_limits(&w->limits);
	w->now = T0;
	w->rail_port = 1;
	w->n_rail_ports = 1;
	w->round.n_ports = 1;
	snprintf(w->round.device.name, FACT_NAME, "mlx5_0");
	p->port = 1;
	p->state_known = p->phys_state_known = p->rate_known = 1;
	p->state = 4;
	p->phys_state = 5;
	p->rate_bytes_per_second = 12500000000;
	snprintf(p->state_text, sizeof(p->state_text), "ACTIVE");
	snprintf(p->phys_state_text, sizeof(p->phys_state_text), "LinkUp");
	*state = w;
	return 0;
}

static inline int world_tear_down(void **state)
{
	struct rules_world *w = *state;

	snapshot_unref(w->s);
	device_rules_free(w->rules);
	free(w);
	return 0;
}

static inline struct counter_value *add_counter(struct rules_world *w, enum counter_source source,
						const char *name, uint64_t value)
{
	struct counter_value *v = &w->round.values[w->round.n_values++];

	snprintf(v->name, sizeof(v->name), "%s", name);
	v->source = (uint8_t)source;
	v->port = 1;
	v->value = value;
	return v;
}

static inline uint64_t world_wall(const struct rules_world *w)
{
	return WALL0 + w->now;
}

static inline void feed_round(struct rules_world *w, uint64_t ns)
{
	struct device_rules_input in = {
		.limits = &w->limits,
		.round = &w->round,
		.rail_ports = &w->rail_port,
		.n_rail_ports = w->n_rail_ports,
		.own = &w->own,
		.n_own = w->own.port ? 1 : 0,
		.retry_count = 6,
	};

	w->now += ns;
	w->round.mono_ns = in.now_ns = w->now;
	in.wall_ns = world_wall(w);
	assert_true(device_rules_round(w->rules, &in));
}

static inline void take_snapshot(struct rules_world *w)
{
	snapshot_unref(w->s);
	w->s = snapshot_new(NULL);
	w->s->mono_ns = w->now;
	memset(&w->device, 0, sizeof(w->device));
	w->device.name = "mlx5_0";
	assert_true(device_rules_fill(w->rules, w->s, &w->device));
}

/* A round later; the snapshot then is w->s. */
static inline void next_round_after(struct rules_world *w, uint64_t ns)
{
	feed_round(w, ns);
	take_snapshot(w);
}

static inline void next_round(struct rules_world *w)
{
	next_round_after(w, ROUND);
}

static inline const struct snap_rule *said(const struct rules_world *w, enum rule rule)
{
	const struct snap_port_rules *p = snapshot_port_rules(&w->device, 1);

	assert_non_null(p);
	return &p->rule[rule];
}

static inline void assert_state(const struct rules_world *w, enum rule rule, enum rule_state state)
{
	if (said(w, rule)->state != state)
		fail_msg("%s at %.0f s is %s, not %s: %s", rule_name(rule),
			 (double)(w->now - T0) / SEC, rule_state_name(said(w, rule)->state),
			 rule_state_name(state), said(w, rule)->text);
}

/* To three digits: what a person reads. */
static inline bool nearly(double a, double b)
{
	double off = a > b ? a - b : b - a, most = b > 0 ? b : -b;

	return off <= 5e-3 * most;
}

static inline void assert_evidence(const struct rules_world *w, enum rule rule, unsigned i,
				   const char *name, double value, double threshold,
				   double window_seconds)
{
	const struct snap_rule *r = said(w, rule);

	if (i >= r->n_evidence)
		fail_msg("%s has %u pieces of evidence", rule_name(rule), (unsigned)r->n_evidence);
	assert_string_equal(r->evidence[i].name, name);
	if (!nearly(r->evidence[i].value, value) || !nearly(r->evidence[i].threshold, threshold) ||
	    !nearly(r->evidence[i].window_seconds, window_seconds))
		fail_msg("%s: %s is %g (threshold %g) in %g s, not %g (%g) in %g s",
			 rule_name(rule), name, r->evidence[i].value, r->evidence[i].threshold,
			 r->evidence[i].window_seconds, value, threshold, window_seconds);
}

#define assert_says(text, part)                                                                    \
	do {                                                                                       \
		if (!strstr(text, part))                                                           \
			print_error("'%s' is not in: %s\n", part, text);                           \
		assert_non_null(strstr(text, part));                                               \
	} while (0)

/* A counter that gains that much with each round, from the second on. */
struct ramp {
	enum counter_source source;
	const char *name;
	uint64_t gain;
};
#define RAMPS 6

/* rounds rounds in which all of them grow, or none. */
static inline void run_rounds(struct rules_world *w, const struct ramp *ramps, unsigned rounds,
			      bool growing)
{
	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 0; growing && k < RAMPS && ramps[k].name; k++)
			w->round.values[k].value += ramps[k].gain;
		next_round(w);
	}
}

static inline void begin_ramps(struct rules_world *w, const struct ramp *ramps)
{
	for (unsigned k = 0; k < RAMPS && ramps[k].name; k++)
		add_counter(w, ramps[k].source, ramps[k].name, 1000000);
	next_round(w);
}
