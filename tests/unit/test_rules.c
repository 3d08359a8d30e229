#include "rules_world.h"

#define HW SOURCE_HW_COUNTERS
#define NET SOURCE_ETHTOOL
#define PMA SOURCE_COUNTERS

/* What fires a rule, and what is just below. A row of what is below names the same counters. */
struct firing {
	enum rule rule;
	enum rule_state state;
	enum cause cause;
	const char *says;
	struct ramp fires[RAMPS];
	struct ramp below[RAMPS];
};

static const struct firing firings[] = {
	{RULE_LINK_ERRORS,
	 RULE_WARNING,
	 CAUSE_LOCAL_PORT,
	 "rx_crc_errors_phy",
	 {{NET, "rx_crc_errors_phy", 1}},
	 {{NET, "rx_crc_errors_phy", 0}}},
	{RULE_LINK_ERRORS,
	 RULE_CRITICAL,
	 CAUSE_LOCAL_PORT,
	 "but not alone",
	 {{NET, "rx_pcs_symbol_err_phy", 50}, {HW, "rx_icrc_encapsulated", 1}},
	 {{NET, "rx_pcs_symbol_err_phy", 0}, {HW, "rx_icrc_encapsulated", 0}}},
	/* 100 Gbit/s: 5e11 bits a round, of which 1e-5 are 5e6 */
	{RULE_LINK_ERRORS,
	 RULE_WARNING,
	 CAUSE_LOCAL_PORT,
	 "error correction mends one bit of",
	 {{NET, "rx_corrected_bits_phy", 5010000}, {NET, "rx_crc_errors_phy", 0}},
	 {{NET, "rx_corrected_bits_phy", 4990000}, {NET, "rx_crc_errors_phy", 0}}},
	{RULE_CONGESTION,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "on the way to",
	 {{HW, "np_ecn_marked_roce_packets", 50001}, {HW, "np_cnp_sent", 900}},
	 {{HW, "np_ecn_marked_roce_packets", 49999}, {HW, "np_cnp_sent", 900}}},
	{RULE_CONGESTION,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "on the way from",
	 {{HW, "rx_cnp_pkts", 50001}},
	 {{HW, "rx_cnp_pkts", 49999}}},
	{RULE_CC_BROKEN,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "sent no notification",
	 {{HW, "np_ecn_marked_roce_packets", 9}, {HW, "np_cnp_sent", 0}},
	 {{HW, "np_ecn_marked_roce_packets", 9}, {HW, "np_cnp_sent", 1}}},
	{RULE_CC_BROKEN,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "ignored them",
	 {{HW, "rp_cnp_ignored", 9}, {HW, "rp_cnp_handled", 1}},
	 {{HW, "rp_cnp_ignored", 9}, {HW, "rp_cnp_handled", 10}}},
	{RULE_LOSS,
	 RULE_WARNING,
	 CAUSE_PATH,
	 "in the network",
	 {{HW, "out_of_sequence", 3}, {HW, "packet_seq_err", 2}},
	 {{HW, "out_of_sequence", 3}, {HW, "packet_seq_err", 1}}},
	{RULE_LOSS,
	 RULE_CRITICAL,
	 CAUSE_PATH,
	 "to_retransmits",
	 {{HW, "to_retransmits", 600}},
	 {{HW, "to_retransmits", 4}}},
	{RULE_LOSS,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "this host drops packets itself",
	 {{HW, "out_of_sequence", 10}, {NET, "rx_discards_phy", 10}},
	 {{HW, "out_of_sequence", 4}, {NET, "rx_discards_phy", 10}}},
	{RULE_RECEIVER_NOT_READY,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "a program on this host",
	 {{HW, "out_of_buffer", 51}, {HW, "rnr_nak_retry_err", 1}},
	 {{HW, "out_of_buffer", 49}, {HW, "rnr_nak_retry_err", 1}}},
	{RULE_RECEIVER_NOT_READY,
	 RULE_WARNING,
	 CAUSE_REMOTE_HOST,
	 "found a peer not ready",
	 {{HW, "rnr_naks_rcvd", 51}},
	 {{HW, "rnr_naks_rcvd", 49}}},
	{RULE_PAUSE_RECEIVED,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "in priority 3 for 5 %",
	 {{NET, "rx_prio3_pause_duration", 251000}, {NET, "rx_prio5_pause_duration", 10}},
	 {{NET, "rx_prio3_pause_duration", 249000}, {NET, "rx_prio5_pause_duration", 10}}},
	{RULE_PAUSE_RECEIVED,
	 RULE_CRITICAL,
	 CAUSE_CONGESTION,
	 "rx_global_pause_duration",
	 {{NET, "rx_global_pause_duration", 1510000}},
	 {{NET, "rx_global_pause_duration", 249000}}},
	{RULE_PAUSE_RECEIVED,
	 RULE_WARNING,
	 CAUSE_CONGESTION,
	 "pause frames in priority 4",
	 {{NET, "rx_priority_4_xoff.nic", 5010}},
	 {{NET, "rx_priority_4_xoff.nic", 4990}}},
	{RULE_PAUSE_SENT,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "slow receiver",
	 {{NET, "pfc_pri3_tx_duration_us", 251000}},
	 {{NET, "pfc_pri3_tx_duration_us", 249000}}},
	{RULE_PFC_STORM,
	 RULE_CRITICAL,
	 CAUSE_CONGESTION,
	 "while nothing moves",
	 {{NET, "rx_prio3_pause_duration", 4990000}, {NET, "tx_prio3_bytes", 0}},
	 {{NET, "rx_prio3_pause_duration", 4990000}, {NET, "tx_prio3_bytes", 100000}}},
	{RULE_PFC_STORM,
	 RULE_CRITICAL,
	 CAUSE_LOCAL_HOST,
	 "blocks the network",
	 {{NET, "tx_prio3_pause_duration", 4990000}, {PMA, "port_rcv_data", 0}},
	 {{NET, "tx_prio3_pause_duration", 4900000}, {PMA, "port_rcv_data", 0}}},
	/* bnxt: no bytes by priority, nor of RDMA alone before Linux 6.12 */
	{RULE_PFC_STORM,
	 RULE_CRITICAL,
	 CAUSE_CONGESTION,
	 "while nothing moves",
	 {{NET, "pfc_pri3_rx_duration_us", 4990000}, {HW, "tx_bytes", 0}},
	 {{NET, "pfc_pri3_rx_duration_us", 4990000}, {HW, "tx_bytes", 100000}}},
	{RULE_PFC_STORM,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "tx_pause_storm_warning_events",
	 {{NET, "tx_pause_storm_warning_events", 1}, {NET, "tx_pause_storm_error_events", 0}},
	 {{NET, "tx_pause_storm_warning_events", 0}, {NET, "tx_pause_storm_error_events", 0}}},
	{RULE_PFC_STORM,
	 RULE_CRITICAL,
	 CAUSE_LOCAL_HOST,
	 "now drops instead",
	 {{NET, "tx_pause_storm_warning_events", 1}, {NET, "tx_pause_storm_error_events", 1}},
	 {{NET, "tx_pause_storm_warning_events", 0}, {NET, "tx_pause_storm_error_events", 0}}},
	{RULE_PCIE_BOTTLENECK,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "PCIe stalled the NIC",
	 {{NET, "outbound_pci_stalled_wr_events", 1}},
	 {{NET, "outbound_pci_stalled_wr_events", 0}}},
	{RULE_PCIE_BOTTLENECK,
	 RULE_WARNING,
	 CAUSE_LOCAL_HOST,
	 "outbound_pci_buffer_overflow",
	 {{NET, "outbound_pci_buffer_overflow", 1}},
	 {{NET, "outbound_pci_buffer_overflow", 0}}},
};

/* Fires within two minutes, and clears within seven once it is quiet (five of the longest window,
 * one of holding, and the rounds). */
static void fire(const struct firing *f)
{
	struct rules_world *w;
	void *state;

	world_set_up(&state);
	w = state;
	begin_ramps(w, f->fires);
	run_rounds(w, f->fires, 24, true);
	assert_state(w, f->rule, f->state);
	assert_says(said(w, f->rule)->text, f->says);
	assert_says(said(w, f->rule)->text, "mlx5_0");
	assert_int_equal(said(w, f->rule)->cause, f->cause);
	assert_true(said(w, f->rule)->n_evidence >= 1);
	assert_true(said(w, f->rule)->evidence[0].window_seconds > 0);
	assert_true(said(w, f->rule)->evidence[0].value >= said(w, f->rule)->evidence[0].threshold);
	run_rounds(w, f->fires, 84, false);
	assert_state(w, f->rule, RULE_OK);
	world_tear_down(&state);
}

static void stay_below(const struct firing *f)
{
	struct rules_world *w;
	void *state;

	world_set_up(&state);
	w = state;
	begin_ramps(w, f->below);
	for (unsigned i = 0; i < 100; i++) {
		run_rounds(w, f->below, 1, true);
		if (i > 2)
			assert_state(w, f->rule, RULE_OK);
	}
	world_tear_down(&state);
}

static void test_every_rule_fires_and_clears(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(firings); i++)
		fire(&firings[i]);
}

static void test_just_below_its_limit_no_rule_fires(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(firings); i++)
		stay_below(&firings[i]);
}

static void test_without_its_counters_a_rule_is_not_applicable(void **state)
{
	struct rules_world *w = *state;

	add_counter(w, HW, "brand_new", 1);
	for (unsigned i = 0; i < 5; i++)
		next_round(w);
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		switch ((enum rule)rule) {
		case RULE_LINK_DOWN:
		case RULE_LINK_FLAP:
		case RULE_COUNTERS_SATURATED:
		case RULE_COUNTERS_UNREADABLE:
			assert_state(w, (enum rule)rule, RULE_OK);
			break;
		case RULE_LINK_ERRORS:
		case RULE_LINK_DEGRADED:
		case RULE_CONGESTION:
		case RULE_CC_BROKEN:
		case RULE_LOSS:
		case RULE_RECEIVER_NOT_READY:
		case RULE_PAUSE_RECEIVED:
		case RULE_PAUSE_SENT:
		case RULE_PFC_STORM:
		case RULE_PCIE_BOTTLENECK:
		case RULE_FIRMWARE_STUCK:
			assert_state(w, (enum rule)rule, RULE_NOT_APPLICABLE);
			break;
		}
	}
}

static void test_a_rule_that_is_off_is_not_asked(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "out_of_sequence", 1000}};

	w->limits.on[RULE_LOSS] = false;
	begin_ramps(w, ramps);
	run_rounds(w, ramps, 20, true);
	assert_state(w, RULE_LOSS, RULE_NOT_APPLICABLE);
	/* A reload takes effect with the next round. */
	w->limits.on[RULE_LOSS] = true;
	w->limits.critical[RULE_LOSS] = 0;
	run_rounds(w, ramps, 1, true);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	w->limits.on[RULE_LOSS] = false;
	run_rounds(w, ramps, 1, true);
	assert_state(w, RULE_LOSS, RULE_NOT_APPLICABLE);
}

static void test_a_level_that_comes_and_goes_is_held(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "out_of_sequence", 300}};
	uint64_t since;

	begin_ramps(w, ramps);
	next_round(w);
	run_rounds(w, ramps, 1, true);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	since = said(w, RULE_LOSS)->since_wall_ns;
	/* A burst each 90 s: one finding. */
	for (unsigned i = 0; i < 20; i++) {
		run_rounds(w, ramps, 17, false);
		run_rounds(w, ramps, 1, true);
		assert_state(w, RULE_LOSS, RULE_WARNING);
		assert_int_equal(said(w, RULE_LOSS)->since_wall_ns, since);
	}
}

static void test_trouble_is_held_for_as_long_as_the_configuration_says(void **state)
{
	static const struct ramp ramps[RAMPS] = {{HW, "out_of_sequence", 300}};
	struct rules_world *w = *state;

	w->limits.hold_ns = 20 * SEC;
	begin_ramps(w, ramps);
	run_rounds(w, ramps, 2, true);
	/* A minute in the window, the last round of which is the last to reach the limit. */
	run_rounds(w, ramps, 11 + 3, false);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	run_rounds(w, ramps, 1, false);
	assert_state(w, RULE_LOSS, RULE_OK);
}

static void test_time_outs_of_probes_that_were_given_up_are_subtracted(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "local_ack_timeout_err", 14}};

	w->own.port = 1;
	begin_ramps(w, ramps);
	for (unsigned i = 0; i < 30; i++) {
		/* Two probes a round, each sent seven times. */
		w->own.retry_exceeded += 2;
		w->own.troubled += 2;
		run_rounds(w, ramps, 1, true);
		if (i > 1)
			assert_state(w, RULE_LOSS, RULE_OK);
	}
	/* With other traffic's on top it fires, and says of which part it is sure. */
	for (unsigned i = 0; i < 30; i++) {
		w->round.values[0].value += 6;
		w->own.retry_exceeded += 2;
		w->own.troubled += 2;
		run_rounds(w, ramps, 1, true);
	}
	assert_state(w, RULE_LOSS, RULE_WARNING);
	assert_says(said(w, RULE_LOSS)->text, "includes probes");
	assert_string_equal(said(w, RULE_LOSS)->evidence[0].name, "local_ack_timeout_err");
	assert_string_equal(said(w, RULE_LOSS)->evidence[1].name, "subtracted_own_probes");
}

static void test_what_rxe_sent_again_for_a_probe_is_subtracted(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "completer_retry_err", 12},
						 {HW, "retry_exceeded_err", 2}};

	w->own.port = 1;
	begin_ramps(w, ramps);
	for (unsigned i = 0; i < 30; i++) {
		w->own.retry_exceeded += 2;
		run_rounds(w, ramps, 1, true);
		if (i > 1)
			assert_state(w, RULE_LOSS, RULE_OK);
	}
}

/* The counter, what it gained, and the limit in the same unit. */
static void test_evidence_is_in_the_unit_of_its_counter(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{NET, "outbound_pci_stalled_wr_events", 2},
						 {NET, "rx_corrected_bits_phy", 10000000},
						 {NET, "rx_crc_errors_phy", 0}};
	const struct rule_evidence *e;

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 60, true);
	assert_state(w, RULE_PCIE_BOTTLENECK, RULE_WARNING);
	e = said(w, RULE_PCIE_BOTTLENECK)->evidence;
	assert_string_equal(e->name, "outbound_pci_stalled_wr_events");
	assert_true(e->value == 24 && e->threshold == 6 && e->window_seconds == 60);
	assert_state(w, RULE_LINK_ERRORS, RULE_WARNING);
	e = said(w, RULE_LINK_ERRORS)->evidence;
	assert_string_equal(e->name, "rx_corrected_bits_phy");
	assert_true(e->value == 6e8 && e->threshold > 2.9e8 && e->threshold < 3.1e8);
}

static void test_a_burst_just_after_the_start_is_no_congestion_yet(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "np_ecn_marked_roce_packets", 60000}};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 1, true);
	assert_state(w, RULE_CONGESTION, RULE_NOT_APPLICABLE);
	run_rounds(w, ramps, 1, false);
	assert_state(w, RULE_CONGESTION, RULE_OK);
}

static void test_a_stalling_gauge_counts_by_its_mean(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, NET, "outbound_pci_stalled_rd", 29);

	for (unsigned i = 0; i < 20; i++)
		next_round(w);
	assert_state(w, RULE_PCIE_BOTTLENECK, RULE_OK);
	v->value = 45;
	for (unsigned i = 0; i < 20; i++)
		next_round(w);
	assert_state(w, RULE_PCIE_BOTTLENECK, RULE_WARNING);
	assert_says(said(w, RULE_PCIE_BOTTLENECK)->text, "45 %");
}

static void test_counters_at_their_end_and_counters_that_are_gone(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, PMA, "link_downed", 255);

	next_round(w);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_OK);
	v->flags = COUNTER_SATURATED;
	next_round(w);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_WARNING);
	assert_says(said(w, RULE_COUNTERS_SATURATED)->text, "link_downed");
	w->round.n_values = 0;
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_WARNING);
	w->round.n_values = 1;
	v->flags = 0;
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_OK);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_OK);
}

static void test_firmware_that_takes_no_commands(void **state)
{
	struct rules_world *w = *state;
	struct device_fact *d = &w->round.device;

	d->firmware_watched = 1;
	next_round(w);
	assert_state(w, RULE_FIRMWARE_STUCK, RULE_OK);
	d->firmware_stuck_since_wall_ns = WALL0;
	snprintf(d->firmware_stuck_text, sizeof(d->firmware_stuck_text), "timeout of a command");
	next_round(w);
	assert_state(w, RULE_FIRMWARE_STUCK, RULE_CRITICAL);
	assert_says(said(w, RULE_FIRMWARE_STUCK)->text, "timeout of a command");
	d->firmware_stuck_since_wall_ns = 0;
	next_round(w);
	assert_state(w, RULE_FIRMWARE_STUCK, RULE_OK);
}

static void test_a_worker_that_was_away_changes_nothing(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "out_of_sequence", 20}};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 30, true);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	/* 40 s without rounds, while the NIC goes on at the same rate. */
	w->round.values[0].value += 8 * 20;
	next_round_after(w, 8 * ROUND);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	run_rounds(w, ramps, 5, true);
	assert_state(w, RULE_LOSS, RULE_WARNING);
}

static void test_rounds_of_the_past_and_of_the_future_are_ignored(void **state)
{
	struct rules_world *w = *state;
	struct device_rules_input in = {.limits = &w->limits, .round = &w->round};

	next_round(w);
	in.now_ns = w->now;
	w->round.mono_ns = w->now + 1;
	assert_false(device_rules_round(w->rules, &in));
	w->round.mono_ns = UINT64_MAX;
	assert_false(device_rules_round(w->rules, &in));
	w->round.mono_ns = w->now;
	assert_false(device_rules_round(w->rules, &in));
	w->round.mono_ns = 0;
	assert_false(device_rules_round(w->rules, &in));
}

static void test_counters_of_the_device_are_those_of_its_only_port(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *v = add_counter(w, HW, "retrans_pkts", 0);

	v->port = 0;
	for (unsigned i = 0; i < 20; i++) {
		v->value += 10;
		next_round(w);
	}
	assert_state(w, RULE_LOSS, RULE_WARNING);
}

/* mana: marks and notifications sent are the device's, notifications received are the port's. */
static void test_a_lone_port_has_what_only_its_device_counts(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *marks = add_counter(w, HW, "received_ecns", 0);
	struct counter_value *sent = add_counter(w, HW, "sent_cnps", 0);

	add_counter(w, HW, "received_cnps", 0);
	marks->port = sent->port = 0;
	for (unsigned i = 0; i < 20; i++) {
		marks->value += 60000;
		next_round(w);
	}
	assert_state(w, RULE_CONGESTION, RULE_WARNING);
	assert_state(w, RULE_CC_BROKEN, RULE_WARNING);
	/* With a second port, nobody knows whose they are. */
	w->round.ports[1] = w->round.ports[0];
	w->round.ports[1].port = 2;
	w->round.n_ports = 2;
	for (unsigned i = 0; i < 15; i++)
		next_round(w);
	assert_state(w, RULE_CC_BROKEN, RULE_NOT_APPLICABLE);
}

static void test_where_nothing_counts_what_moves_a_storm_is_not_applicable(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{NET, "pfc_pri3_rx_duration_us", 4990000}};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 20, true);
	assert_state(w, RULE_PFC_STORM, RULE_NOT_APPLICABLE);
	assert_state(w, RULE_PAUSE_RECEIVED, RULE_CRITICAL);
}

static void test_files_that_are_gone_are_missed_while_the_netdev_still_tells(void **state)
{
	struct rules_world *w = *state;

	add_counter(w, NET, "rx_discards_phy", 1);
	add_counter(w, HW, "out_of_sequence", 1);
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_OK);
	w->round.n_values = 1;
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_WARNING);
}

static void test_after_a_gap_a_window_has_its_share_of_what_was_counted(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "out_of_sequence", 0}};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 30, false);
	w->round.values[0].value += 1800;
	next_round_after(w, 180 * SEC);
	assert_state(w, RULE_LOSS, RULE_WARNING);
	assert_evidence(w, RULE_LOSS, 0, "out_of_sequence", 600, 60, 60);
}

static void test_only_counters_that_grew_are_named_beside_the_first(void **state)
{
	struct rules_world *w = *state;
	static const struct ramp ramps[RAMPS] = {{HW, "rx_icrc_encapsulated", 0},
						 {NET, "rx_crc_errors_phy", 0},
						 {NET, "rx_symbol_err_phy", 0}};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 3, false);
	w->round.values[1].value += 20;
	next_round(w);
	assert_state(w, RULE_LINK_ERRORS, RULE_WARNING);
	assert_null(strstr(said(w, RULE_LINK_ERRORS)->text, "not alone"));
	assert_evidence(w, RULE_LINK_ERRORS, 0, "rx_crc_errors_phy", 20, 10, 20);
	assert_int_equal(said(w, RULE_LINK_ERRORS)->n_evidence, 1);
	w->round.values[2].value++;
	next_round(w);
	assert_says(said(w, RULE_LINK_ERRORS)->text, "most by rx_crc_errors_phy but not alone");
	assert_evidence(w, RULE_LINK_ERRORS, 0, "link_errors", 21, 10, 25);
	assert_evidence(w, RULE_LINK_ERRORS, 1, "rx_crc_errors_phy", 20, 0, 25);
	assert_evidence(w, RULE_LINK_ERRORS, 2, "rx_symbol_err_phy", 1, 0, 25);
}

static void test_what_a_device_counts_is_no_ports_that_counts_itself(void **state)
{
	struct rules_world *w = *state;
	struct counter_value *first, *second, *of_device;

	add_counter(w, HW, "rate_inc_events", 1);
	of_device = add_counter(w, HW, "rate_inc_events", 1);
	of_device->port = 0;
	of_device->flags = COUNTER_SATURATED;
	next_round(w);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_OK);
	first = add_counter(w, PMA, "symbol_error", 65535);
	second = add_counter(w, PMA, "link_downed", 255);
	first->flags = second->flags = COUNTER_SATURATED;
	next_round(w);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_WARNING);
	assert_says(said(w, RULE_COUNTERS_SATURATED)->text,
		    "2 counters of mlx5_0/1 stand at the maximum and count no more (symbol_error)");
	assert_evidence(w, RULE_COUNTERS_SATURATED, 0, "saturated_counters", 2, 1, 0);
	w->round.n_values = 0;
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_WARNING);
	assert_says(said(w, RULE_COUNTERS_UNREADABLE)->text, "none of the 3 counters");
}

static void test_what_a_device_with_two_ports_counts_is_neithers(void **state)
{
	struct rules_world *w = *state;

	w->round.ports[1] = w->round.ports[0];
	w->round.ports[1].port = 2;
	w->round.n_ports = 2;
	add_counter(w, HW, "brand_new", 1)->port = 0;
	next_round(w);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_NOT_APPLICABLE);
	assert_state(w, RULE_COUNTERS_SATURATED, RULE_NOT_APPLICABLE);
}

static void test_one_leg_of_a_bond_that_is_paused_is_the_ports_trouble(void **state)
{
	struct rules_world *w = *state;
	const struct ramp ramps[RAMPS] = {
		{SOURCE_LEG, "ens1f0np0/rx_prio3_pause_duration", 0},
		{SOURCE_LEG, "ens1f1np1/rx_prio3_pause_duration", 500000},
		{SOURCE_LEG, "ens1f0np0/rx_discards_phy", 1},
	};

	begin_ramps(w, ramps);
	run_rounds(w, ramps, 12, true);
	assert_state(w, RULE_PAUSE_RECEIVED, RULE_WARNING);
	assert_says(said(w, RULE_PAUSE_RECEIVED)->text,
		    "pauses in priority 3 for 10 % of 60 s (ens1f1np1/rx_prio3_pause_duration)");
	/* The leg is taken out: what it did ends with it, and comes back with nothing new. */
	w->round.values[1] = w->round.values[--w->round.n_values];
	run_rounds(w, ramps, 40, false);
	assert_state(w, RULE_PAUSE_RECEIVED, RULE_OK);
	assert_state(w, RULE_COUNTERS_UNREADABLE, RULE_NOT_APPLICABLE);
	add_counter(w, SOURCE_LEG, "ens1f1np1/rx_prio3_pause_duration", 900000000);
	run_rounds(w, ramps, 20, false);
	assert_state(w, RULE_PAUSE_RECEIVED, RULE_OK);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_rule_fires_and_clears),
		cmocka_unit_test(test_just_below_its_limit_no_rule_fires),
		T(test_without_its_counters_a_rule_is_not_applicable),
		T(test_a_rule_that_is_off_is_not_asked),
		T(test_a_level_that_comes_and_goes_is_held),
		T(test_trouble_is_held_for_as_long_as_the_configuration_says),
		T(test_time_outs_of_probes_that_were_given_up_are_subtracted),
		T(test_what_rxe_sent_again_for_a_probe_is_subtracted),
		T(test_evidence_is_in_the_unit_of_its_counter),
		T(test_a_burst_just_after_the_start_is_no_congestion_yet),
		T(test_a_stalling_gauge_counts_by_its_mean),
		T(test_counters_at_their_end_and_counters_that_are_gone),
		T(test_firmware_that_takes_no_commands),
		T(test_a_worker_that_was_away_changes_nothing),
		T(test_rounds_of_the_past_and_of_the_future_are_ignored),
		T(test_a_lone_port_has_what_only_its_device_counts),
		T(test_where_nothing_counts_what_moves_a_storm_is_not_applicable),
		T(test_files_that_are_gone_are_missed_while_the_netdev_still_tells),
		T(test_counters_of_the_device_are_those_of_its_only_port),
		T(test_one_leg_of_a_bond_that_is_paused_is_the_ports_trouble),
		T(test_after_a_gap_a_window_has_its_share_of_what_was_counted),
		T(test_only_counters_that_grew_are_named_beside_the_first),
		T(test_what_a_device_counts_is_no_ports_that_counts_itself),
		T(test_what_a_device_with_two_ports_counts_is_neithers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
