#include "chance.h"
#include "rules_world.h"

static void set_link(struct rules_world *w, bool up)
{
	struct port_fact *p = &w->round.ports[0];

	p->state = up ? 4 : 1;
	snprintf(p->state_text, sizeof(p->state_text), up ? "ACTIVE" : "DOWN");
	p->phys_state = up ? 5 : 2;
	snprintf(p->phys_state_text, sizeof(p->phys_state_text), up ? "LinkUp" : "Polling");
}

static void rounds(struct rules_world *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		next_round(w);
}

static void test_a_link_that_goes_down_is_critical_at_once_and_told_for_a_while(void **state)
{
	struct rules_world *w = *state;

	next_round(w);
	assert_state(w, RULE_LINK_DOWN, RULE_OK);
	set_link(w, false);
	rounds(w, 7);
	assert_state(w, RULE_LINK_DOWN, RULE_CRITICAL);
	assert_int_equal(said(w, RULE_LINK_DOWN)->cause, CAUSE_LOCAL_PORT);
	assert_says(said(w, RULE_LINK_DOWN)->text, "mlx5_0/1 is DOWN (Polling) for 30 s");
	assert_false(said(w, RULE_LINK_DOWN)->past);
	assert_evidence(w, RULE_LINK_DOWN, 0, "state", 1, 4, 30);
	set_link(w, true);
	rounds(w, 2);
	assert_state(w, RULE_LINK_DOWN, RULE_WARNING);
	assert_true(said(w, RULE_LINK_DOWN)->past);
	assert_says(said(w, RULE_LINK_DOWN)->text, "was down for 35 s and is up again for 5 s");
	assert_int_equal(said(w, RULE_LINK_DOWN)->cause, CAUSE_LOCAL_PORT);
	assert_evidence(w, RULE_LINK_DOWN, 0, "down_seconds", 35, 0, 5);
	/* Counted from when it came back. */
	rounds(w, 118);
	assert_state(w, RULE_LINK_DOWN, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_DOWN, RULE_OK);
}

static void test_only_a_port_that_a_rail_uses_and_that_was_up_is_missed(void **state)
{
	struct rules_world *w = *state;

	set_link(w, false);
	rounds(w, 10);
	assert_state(w, RULE_LINK_DOWN, RULE_NOT_APPLICABLE);
	assert_state(w, RULE_LINK_FLAP, RULE_NOT_APPLICABLE);
	w->n_rail_ports = 0;
	set_link(w, true);
	next_round(w);
	set_link(w, false);
	next_round(w);
	assert_state(w, RULE_LINK_DOWN, RULE_NOT_APPLICABLE);
	assert_false(snapshot_port_rules(&w->device, 1)->expected);
	w->n_rail_ports = 1;
	next_round(w);
	assert_state(w, RULE_LINK_DOWN, RULE_CRITICAL);
}

static void test_a_link_that_goes_down_twice_flaps_and_one_that_did_once_does_not(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, SOURCE_ETHTOOL, "link_down_events_phy", 7);

	rounds(w, 20);
	v->value++;
	rounds(w, 70);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	/* Too short for anybody to see the state: the counter did. */
	v->value++;
	rounds(w, 20);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	v->value++;
	next_round(w);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	assert_says(said(w, RULE_LINK_FLAP)->text, "went down 2 times in five minutes");
	assert_int_equal(said(w, RULE_LINK_FLAP)->cause, CAUSE_LOCAL_PORT);
	assert_evidence(w, RULE_LINK_FLAP, 0, "link_down_events_phy", 2, 2, 300);
	v->value += 3;
	next_round(w);
	assert_state(w, RULE_LINK_FLAP, RULE_CRITICAL);
}

static void test_flapping_is_told_until_the_link_was_well_for_the_recovery(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, SOURCE_ETHTOOL, "link_down_events_phy", 7);

	next_round(w);
	v->value += 2;
	next_round(w);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 119);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	/* A short recovery ends it, although the window still knows. */
	w->limits.recovery_ns = 10 * SEC;
	v->value += 2;
	next_round(w);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	rounds(w, 100);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
}

static void test_the_recovery_begins_when_the_last_flap_is_over(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, SOURCE_ETHTOOL, "link_down_events_phy", 7);

	next_round(w);
	v->value += 2;
	next_round(w);
	/* Again while it is held, too short for the state to show it. */
	rounds(w, 100);
	v->value += 2;
	rounds(w, 120);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	/* A link that stays down is not well, however long ago the second loss was. */
	v->value += 2;
	set_link(w, false);
	rounds(w, 50);
	set_link(w, true);
	rounds(w, 120);
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	rounds(w, 1);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
}

static void test_flaps_are_judged_by_what_is_there_to_see_them(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, SOURCE_ETHTOOL, "link_down_events_phy", 7);

	next_round(w);
	/* Both saw it twice: the counter is told, for it misses none. */
	for (unsigned i = 0; i < 2; i++) {
		set_link(w, false);
		v->value++;
		next_round(w);
		set_link(w, true);
		next_round(w);
	}
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
	assert_evidence(w, RULE_LINK_FLAP, 0, "link_down_events_phy", 2, 2, 300);
	/* The counter alone, then neither. */
	w->round.ports[0].state_known = 0;
	rounds(w, 130);
	assert_state(w, RULE_LINK_FLAP, RULE_OK);
	w->round.n_values = 0;
	rounds(w, 5);
	assert_state(w, RULE_LINK_FLAP, RULE_NOT_APPLICABLE);
	assert_state(w, RULE_LINK_DOWN, RULE_NOT_APPLICABLE);
}

static void test_corrected_bits_are_judged_by_the_rate_of_the_link(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, SOURCE_ETHTOOL, "rx_corrected_bits_phy", 0);

	add_counter(w, SOURCE_ETHTOOL, "rx_crc_errors_phy", 0);
	/* Twice what there may be of 100 Gbit/s; nothing is said before half a minute is known. */
	for (unsigned i = 0; i < 6; i++, v->value += 10000000) {
		next_round(w);
		if (i > 0)
			assert_state(w, RULE_LINK_ERRORS, RULE_OK);
	}
	next_round(w);
	assert_state(w, RULE_LINK_ERRORS, RULE_WARNING);
	for (unsigned i = 0; i < 100; i++, v->value += 10000000)
		next_round(w);
	assert_evidence(w, RULE_LINK_ERRORS, 0, "rx_corrected_bits_phy", 60 * 1e7, 300 * 1e6, 300);
	/* Of 400 Gbit/s it is half of what there may be. */
	w->round.ports[0].rate_bytes_per_second *= 4;
	for (unsigned i = 0; i < 20; i++, v->value += 10000000)
		next_round(w);
	assert_state(w, RULE_LINK_ERRORS, RULE_OK);
	/* Of a rate that is not known nothing is said. */
	w->round.ports[0].rate_bytes_per_second /= 4;
	w->round.ports[0].rate_known = 0;
	for (unsigned i = 0; i < 20; i++, v->value += 10000000)
		next_round(w);
	assert_state(w, RULE_LINK_ERRORS, RULE_OK);
	w->round.ports[0].rate_known = 1;
	w->round.ports[0].rate_bytes_per_second = 0;
	next_round(w);
	assert_state(w, RULE_LINK_ERRORS, RULE_OK);
}

static void test_losses_seen_in_the_state_count_where_there_is_no_counter(void **state)
{
	struct rules_world *w = *state;

	next_round(w);
	for (unsigned i = 0; i < 2; i++) {
		set_link(w, false);
		next_round(w);
		set_link(w, true);
		next_round(w);
	}
	assert_state(w, RULE_LINK_FLAP, RULE_WARNING);
}

static void test_as_many_losses_are_kept_as_a_limit_may_ask_for(void **state)
{
	struct rules_world *w = *state;

	w->limits.warning[RULE_LINK_FLAP] = w->limits.critical[RULE_LINK_FLAP] = 100;
	next_round(w);
	for (unsigned i = 0; i < 100; i++) {
		assert_state(w, RULE_LINK_FLAP, RULE_OK);
		set_link(w, false);
		next_round_after(w, SEC);
		set_link(w, true);
		if (i < 99)
			next_round_after(w, SEC);
	}
	assert_state(w, RULE_LINK_FLAP, RULE_CRITICAL);
}

static void test_a_port_slower_than_expected_is_degraded(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];

	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	p->expected_by = RATE_OF_CONFIGURATION;
	p->expected_rate_bytes_per_second = p->rate_bytes_per_second;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
	p->expected_rate_bytes_per_second *= 4;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_says(said(w, RULE_LINK_DEGRADED)->text, "runs at 100 Gbit/s and should at 400");
	assert_int_equal(said(w, RULE_LINK_DEGRADED)->cause, CAUSE_LOCAL_PORT);
	assert_evidence(w, RULE_LINK_DEGRADED, 0, "rate_bytes_per_second", 1.25e10, 5e10, 0);
	/* One that is down, or whose rate nobody tells, has none. */
	set_link(w, false);
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	set_link(w, true);
	p->rate_known = 0;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	p->rate_known = 1;
	w->n_rail_ports = 0;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	w->n_rail_ports = 1;
	p->rate_bytes_per_second *= 4;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
}

static void test_a_link_slower_than_both_ends_advertise_is_degraded(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];

	snprintf(p->netdev, sizeof(p->netdev), "ens1f0np0");
	/* A NIC of 200 Gbit/s at a switch of 100 is how it was bought. */
	p->link = (struct link_fact){.megabits = 100000, .possible_megabits = 200000};
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	p->link = (struct link_fact){.megabits = 100000,
				     .lanes = 4,
				     .possible_megabits = 200000,
				     .partner_megabits = 100000,
				     .common_megabits = 100000,
				     .common_lanes = 2};
	p->expected_by = RATE_OF_PARTNER;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
	p->link.megabits = 25000;
	p->link.lanes = 1;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_says(said(w, RULE_LINK_DEGRADED)->text,
		    "mlx5_0/1 (ens1f0np0) runs at 25 Gbit/s on fewer lanes, and both ends of the "
		    "link advertise 100 on 2 lanes");
	assert_string_equal(said(w, RULE_LINK_DEGRADED)->evidence[1].name, "lanes");
	assert_float_equal(said(w, RULE_LINK_DEGRADED)->evidence[0].threshold, 12.5e9, 1);
	/* Who configured less wants less. */
	p->expected_by = RATE_OF_CONFIGURATION;
	p->expected_rate_bytes_per_second = 3125000000;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
}

static void make_bond_of_two(struct port_fact *p)
{
	snprintf(p->netdev, sizeof(p->netdev), "bond0");
	snprintf(p->config.bond, sizeof(p->config.bond), "bond0");
	snprintf(p->config.members[0], FACT_NETDEV, "ens1f0np0");
	snprintf(p->config.members[1], FACT_NETDEV, "ens1f1np1");
	p->config.n_members = 2;
}

static void test_one_slow_leg_of_a_bond_is_found_and_named(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];
	const struct link_fact good = {
		.megabits = 100000, .common_megabits = 100000, .common_lanes = 4};

	make_bond_of_two(p);
	p->leg[0] = p->leg[1] = good;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
	p->leg[1].megabits = 40000;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_says(said(w, RULE_LINK_DEGRADED)->text, "(ens1f1np1) runs at 40 Gbit/s");
	/* The other leg's partner says nothing: this one is as slow as before. */
	p->leg[0] = (struct link_fact){.megabits = 100000};
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	/* Where the netdev is a leg itself, the other one is another port's. */
	snprintf(p->netdev, sizeof(p->netdev), "ens1f0np0");
	p->link = good;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
}

static void test_slow_and_narrow_are_told_apart(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];

	p->link = (struct link_fact){
		.megabits = 10000, .lanes = 1, .common_megabits = 25000, .common_lanes = 1};
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_says(said(w, RULE_LINK_DEGRADED)->text,
		    "runs at 10 Gbit/s, and both ends of the link advertise 25 on 1 lane:");
	assert_evidence(w, RULE_LINK_DEGRADED, 0, "speed_bytes_per_second", 1.25e9, 3.125e9, 0);
	assert_evidence(w, RULE_LINK_DEGRADED, 1, "lanes", 1, 1, 0);
	p->link.megabits = 25000;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
}

static void test_either_leg_of_a_bond_may_be_the_slow_one_that_tells(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];

	make_bond_of_two(p);
	for (unsigned i = 0; i < 2; i++) {
		p->leg[i] = (struct link_fact){
			.megabits = 40000, .common_megabits = 100000, .common_lanes = 4};
		p->leg[1 - i] = (struct link_fact){.megabits = 100000};
		next_round(w);
		assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
		assert_says(said(w, RULE_LINK_DEGRADED)->text, p->config.members[i]);
		p->leg[i].megabits = 100000;
		next_round(w);
		assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
	}
}

static void test_a_bond_that_goes_on_without_a_leg_is_degraded(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];
	struct port_config_fact *c = &p->config;

	snprintf(p->netdev, sizeof(p->netdev), "bond0");
	snprintf(c->bond, sizeof(c->bond), "bond0");
	c->n_members = 3;
	for (unsigned i = 0; i < 3; i++)
		snprintf(c->members[i], FACT_NETDEV, "ens%uf0", i);
	/* Nobody says. */
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
	c->legs_known = 1 << 1 | 1 << 2;
	c->legs_up = 1 << 1 | 1 << 2;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
	c->legs_up = 1 << 1;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_says(said(w, RULE_LINK_DEGRADED)->text,
		    "1 of the 3 legs of bond0 (mlx5_0/1) has no link, ens2f0: look at cable");
	assert_int_equal(said(w, RULE_LINK_DEGRADED)->cause, CAUSE_LOCAL_PORT);
	assert_evidence(w, RULE_LINK_DEGRADED, 0, "legs_up", 2, 3, 0);
	c->legs_known = 1 << 0 | 1 << 1 | 1 << 2;
	next_round(w);
	assert_says(said(w, RULE_LINK_DEGRADED)->text,
		    "2 of the 3 legs of bond0 (mlx5_0/1) have no link, ens0f0 among them: look");
	assert_evidence(w, RULE_LINK_DEGRADED, 0, "legs_up", 1, 3, 0);
	/* Where the netdev is a leg itself, the other ones are other ports'. */
	snprintf(p->netdev, sizeof(p->netdev), "ens1f0");
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_NOT_APPLICABLE);
}

static void test_a_bond_with_all_legs_may_be_slow_all_the_same(void **state)
{
	struct rules_world *w = *state;
	struct port_fact *p = &w->round.ports[0];

	snprintf(p->netdev, sizeof(p->netdev), "bond0");
	snprintf(p->config.bond, sizeof(p->config.bond), "bond0");
	p->config.n_members = 1;
	p->config.legs_known = p->config.legs_up = 1;
	p->expected_by = RATE_OF_CONFIGURATION;
	p->expected_rate_bytes_per_second = p->rate_bytes_per_second * 2;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_WARNING);
	assert_evidence(w, RULE_LINK_DEGRADED, 0, "rate_bytes_per_second", 1.25e10, 2.5e10, 0);
	p->rate_known = 0;
	next_round(w);
	assert_state(w, RULE_LINK_DEGRADED, RULE_OK);
}

/* --- a week in which nothing is wrong --- */

#define WEEK_ROUNDS (7 * 24 * 3600 / 5)
#define LOOK_EVERY 10 /* whatever fires is held for longer */

/* What grows in a fabric that is well, a million rounds of 5 s being the scale of chance. */
struct noise {
	enum counter_source source;
	const char *name;
	uint32_t per_million; /* rounds in which it grows */
	uint32_t by;	      /* at most, when it does */
};

static const struct noise quiet[] = {
	{SOURCE_COUNTERS, "port_rcv_data", 1000000, 1000000000},
	{SOURCE_COUNTERS, "port_rcv_packets", 1000000, 10000000},
	{SOURCE_COUNTERS, "symbol_error", 20, 1},
	{SOURCE_COUNTERS, "port_rcv_errors", 10, 1},
	{SOURCE_HW_COUNTERS, "np_ecn_marked_roce_packets", 300000, 20000},
	{SOURCE_HW_COUNTERS, "np_cnp_sent", 1000000, 2000},
	{SOURCE_HW_COUNTERS, "rp_cnp_handled", 300000, 3000},
	{SOURCE_HW_COUNTERS, "rp_cnp_ignored", 1000, 3},
	{SOURCE_HW_COUNTERS, "out_of_sequence", 20000, 4},
	{SOURCE_HW_COUNTERS, "local_ack_timeout_err", 5000, 2},
	{SOURCE_HW_COUNTERS, "packet_seq_err", 20000, 4},
	{SOURCE_HW_COUNTERS, "roce_adp_retrans", 20000, 3},
	{SOURCE_HW_COUNTERS, "rnr_nak_retry_err", 20000, 20},
	{SOURCE_HW_COUNTERS, "out_of_buffer", 10000, 20},
	{SOURCE_HW_COUNTERS, "req_cqe_flush_error", 1000, 100000},
	{SOURCE_HW_COUNTERS, "resp_cqe_flush_error", 1000, 100000},
	{SOURCE_HW_COUNTERS, "duplicate_request", 10000, 3},
	{SOURCE_ETHTOOL, "rx_prio3_pause_duration", 200000, 60000},
	{SOURCE_ETHTOOL, "tx_prio3_pause_duration", 200000, 60000},
	{SOURCE_ETHTOOL, "tx_prio3_bytes", 1000000, 1000000000},
	{SOURCE_ETHTOOL, "rx_prio3_bytes", 1000000, 1000000000},
	{SOURCE_ETHTOOL, "rx_corrected_bits_phy", 1000000, 500000},
	{SOURCE_ETHTOOL, "rx_discards_phy", 1000, 5},
	{SOURCE_ETHTOOL, "outbound_pci_stalled_wr_events", 1000, 1},
	{SOURCE_ETHTOOL, "link_down_events_phy", 4, 1},
};

static void grow_all(struct rules_world *w, struct chance *c)
{
	for (unsigned k = 0; k < COUNT(quiet); k++)
		if (chance_below(c, 1000000) < quiet[k].per_million)
			w->round.values[k].value += 1 + chance_below(c, quiet[k].by);
}

static void test_a_quiet_week_fires_nothing(void **state)
{
	struct rules_world *w = *state;
	struct chance c = {20260901};

	for (unsigned k = 0; k < COUNT(quiet); k++)
		add_counter(w, quiet[k].source, quiet[k].name, chance_below(&c, UINT32_MAX));
	for (unsigned i = 0; i < WEEK_ROUNDS; i++) {
		grow_all(w, &c);
		/* A worker that is replaced, once a day. */
		feed_round(w, i % 17280 == 17279 ? 4 * ROUND : ROUND);
		if (i % LOOK_EVERY)
			continue;
		take_snapshot(w);
		for (unsigned rule = 0; rule < RULE_COUNT; rule++)
			if (said(w, (enum rule)rule)->state >= RULE_WARNING)
				assert_state(w, (enum rule)rule, RULE_OK);
	}
	/* The counters were seen: each of these rules had something to judge. */
	assert_state(w, RULE_LOSS, RULE_OK);
	assert_state(w, RULE_CONGESTION, RULE_OK);
	assert_state(w, RULE_PAUSE_SENT, RULE_OK);
	assert_state(w, RULE_LINK_ERRORS, RULE_OK);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		T(test_a_link_that_goes_down_is_critical_at_once_and_told_for_a_while),
		T(test_only_a_port_that_a_rail_uses_and_that_was_up_is_missed),
		T(test_a_link_that_goes_down_twice_flaps_and_one_that_did_once_does_not),
		T(test_flapping_is_told_until_the_link_was_well_for_the_recovery),
		T(test_the_recovery_begins_when_the_last_flap_is_over),
		T(test_flaps_are_judged_by_what_is_there_to_see_them),
		T(test_corrected_bits_are_judged_by_the_rate_of_the_link),
		T(test_losses_seen_in_the_state_count_where_there_is_no_counter),
		T(test_as_many_losses_are_kept_as_a_limit_may_ask_for),
		T(test_a_port_slower_than_expected_is_degraded),
		T(test_a_link_slower_than_both_ends_advertise_is_degraded),
		T(test_one_slow_leg_of_a_bond_is_found_and_named),
		T(test_slow_and_narrow_are_told_apart),
		T(test_either_leg_of_a_bond_may_be_the_slow_one_that_tells),
		T(test_a_bond_that_goes_on_without_a_leg_is_degraded),
		T(test_a_bond_with_all_legs_may_be_slow_all_the_same),
		T(test_a_quiet_week_fires_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
