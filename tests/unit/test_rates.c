#include "support.h"

#include "core/clock.h"
#include "health/rates.h"

#define SEC NSEC_PER_SEC
#define T0 (1000 * SEC)

/* A device whose only counters are these. */
struct fixture {
	struct rates *rates;
	uint64_t now;
	struct counter_value values[16];
	size_t n;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->rates = rates_new();
	f->now = T0;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	rates_free(f->rates);
	free(f);
	return 0;
}

static struct counter_value *counter(struct fixture *f, enum counter_source source,
				     const char *name, uint64_t value)
{
	struct counter_value *v = &f->values[f->n++];

	snprintf(v->name, sizeof(v->name), "%s", name);
	v->source = (uint8_t)source;
	v->port = 1;
	v->value = value;
	return v;
}

static void look_after(struct fixture *f, uint64_t ns)
{
	struct rates_round round = {.values = f->values, .n_values = f->n};

	f->now += ns;
	round.mono_ns = f->now;
	rates_add(f->rates, &round);
}

static struct rate get(const struct fixture *f, enum signal signal, int priority,
		       enum rate_window window)
{
	struct rate rate;

	assert_true(rates_get(f->rates, 1, signal, priority, window, &rate));
	return rate;
}

static bool known(const struct fixture *f, enum signal signal)
{
	struct rate rate;

	return rates_get(f->rates, 1, signal, -1, RATE_10S, &rate);
}

static void assert_near(double value, double wanted)
{
	double off = value > wanted ? value - wanted : wanted - value;

	if (off > 1e-6 * (wanted > 1 ? wanted : 1))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void test_one_value_is_no_rate_and_two_are(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 100);

	look_after(f, 5 * SEC);
	assert_false(known(f, SIGNAL_LOSS_RX_OUT_OF_SEQ));
	assert_true(rates_has(f->rates, 1, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1));
	v->value = 150;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S).per_second, 10);
	assert_string_equal(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S).name,
			    "out_of_sequence");
	assert_false(rates_has(f->rates, 1, SIGNAL_LOSS_NAK_RCVD, -1));
}

static void test_windows_cover_what_their_names_say(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 0);

	/* Ten minutes at one rate, then half a minute at another. */
	for (unsigned i = 0; i < 120; i++, v->value += 5)
		look_after(f, 5 * SEC);
	v->value -= 5;
	for (unsigned i = 0; i < 6; i++) {
		v->value += 500;
		look_after(f, 5 * SEC);
	}
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S).per_second, 100);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_1M).growth, 3000 + 30);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_5M).growth, 3000 + 270);
	assert_int_equal(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_5M).covered_ns, 300 * SEC);
}

static void test_a_wrap_goes_on_and_a_reset_covers_less(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", UINT32_MAX - 9);
	struct rate rate;

	look_after(f, 5 * SEC);
	v->value = 10;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_1M).growth, 20);
	v->value = 3; /* the driver was loaded again */
	look_after(f, 5 * SEC);
	v->value = 8;
	look_after(f, 5 * SEC);
	rate = get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_1M);
	assert_near(rate.growth, 25);
	assert_int_equal(rate.covered_ns, 10 * SEC);
	assert_near(rate.per_second, 2.5);
}

static void test_growth_over_a_gap_counts_for_the_whole_gap(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 0);
	struct rate rate;

	for (unsigned i = 0; i < 20; i++)
		look_after(f, 5 * SEC);
	v->value = 600;
	look_after(f, 120 * SEC); /* the worker was away */
	rate = get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S);
	assert_near(rate.per_second, 5);
	assert_int_equal(rate.covered_ns, 120 * SEC);
	look_after(f, 5 * SEC);
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S).per_second, 0);
}

static void test_a_counter_that_comes_back_lost_nothing(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 0);
	struct rate rate;

	for (unsigned i = 0; i < 10; i++)
		look_after(f, 5 * SEC);
	f->n = 0;
	for (unsigned i = 0; i < 5; i++)
		look_after(f, 5 * SEC);
	assert_false(rates_has(f->rates, 1, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1));
	assert_false(known(f, SIGNAL_LOSS_RX_OUT_OF_SEQ));
	f->n = 1;
	v->value = 60;
	look_after(f, 5 * SEC);
	rate = get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S);
	assert_near(rate.growth, 60);
	assert_int_equal(rate.covered_ns, 30 * SEC);
}

static void test_a_counter_that_stays_away_is_forgotten_alone(void **state)
{
	struct fixture *f = *state;

	counter(f, SOURCE_HW_COUNTERS, "packet_seq_err", 0);
	counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 0);
	counter(f, SOURCE_ETHTOOL, "link_down_events_phy", 0);
	look_after(f, 5 * SEC);
	f->n = 1;
	for (unsigned i = 0; i < 200; i++) {
		f->values[0].value += 5;
		look_after(f, 5 * SEC);
	}
	f->n = 3;
	look_after(f, 5 * SEC);
	/* It begins anew: what it gained since it was last seen is not known any more. */
	assert_false(known(f, SIGNAL_LOSS_RX_OUT_OF_SEQ));
	f->values[1].value = 20;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_5M).growth, 20);
	assert_near(get(f, SIGNAL_LOSS_NAK_RCVD, -1, RATE_5M).growth, 5 * 58);
}

static void test_a_round_that_is_not_later_is_ignored(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 0);

	look_after(f, 5 * SEC);
	v->value = 5;
	look_after(f, 5 * SEC);
	v->value = 500;
	look_after(f, 0);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_10S).growth, 5);
}

/* Each source goes before the one in the next line; what nobody tells any more gives way. */
static void test_two_views_of_one_thing_are_never_added(void **state)
{
	static const struct {
		enum counter_source source;
		const char *name;
		enum signal signal;
		uint64_t gain;
	} views[] = {
		{SOURCE_HW_COUNTERS, "link_downed", SIGNAL_LINK_DOWN, 2},
		{SOURCE_ETHTOOL, "link_down_events_phy", SIGNAL_LINK_DOWN, 3},
		{SOURCE_COUNTERS, "link_downed", SIGNAL_LINK_DOWN, 4},
	};
	struct fixture *f = *state;

	/* In the other order of being found. */
	for (size_t i = COUNT(views); i-- > 0;)
		counter(f, views[i].source, views[i].name, 0);
	look_after(f, 5 * SEC);
	for (size_t i = 0; i < COUNT(views); i++)
		f->values[COUNT(views) - 1 - i].value = views[i].gain;
	look_after(f, 5 * SEC);
	for (size_t i = 0; i < COUNT(views); i++) {
		struct rate rate = get(f, views[i].signal, -1, RATE_5M);

		assert_near(rate.growth, (double)views[i].gain);
		assert_string_equal(rate.name, views[i].name);
		f->n--;
		for (unsigned k = 0; k < 5; k++)
			look_after(f, 5 * SEC);
	}
	assert_false(rates_has(f->rates, 1, SIGNAL_LINK_DOWN, -1));
}

static void test_wide_counters_go_before_narrow_ones_and_optional_ones_last(void **state)
{
	struct fixture *f = *state;

	counter(f, SOURCE_COUNTERS, "port_rcv_data", 0);
	counter(f, SOURCE_COUNTERS_EXT, "port_rcv_data_64", 0);
	counter(f, SOURCE_OPTIONAL, "cc_rx_cnp_pkts", 0);
	counter(f, SOURCE_HW_COUNTERS, "rp_cnp_handled", 0);
	look_after(f, 5 * SEC);
	for (size_t i = 0; i < f->n; i++)
		f->values[i].value = 100 + i;
	look_after(f, 5 * SEC);
	assert_string_equal(get(f, SIGNAL_TRAFFIC_RX, -1, RATE_10S).name, "port_rcv_data_64");
	assert_near(get(f, SIGNAL_TRAFFIC_RX, -1, RATE_10S).growth, 404);
	assert_string_equal(get(f, SIGNAL_CC_CNP_RX, -1, RATE_10S).name, "rp_cnp_handled");
	assert_near(get(f, SIGNAL_CC_CNP_RX, -1, RATE_10S).growth, 103);
	f->n--;
	for (unsigned i = 0; i < 5; i++)
		look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_CC_CNP_RX, -1, RATE_5M).growth, 102);
}

static void test_what_our_probes_did_is_kept_beside_the_counters(void **state)
{
	struct rate_own_total own[] = {{.port = 1}, {.port = 2}};
	struct rates_round round = {.own = own, .n_own = COUNT(own), .mono_ns = T0};
	struct fixture *f = *state;
	struct rate rate;

	for (unsigned i = 0; i < 3; i++) {
		round.mono_ns += 5 * SEC;
		rates_add(f->rates, &round);
		own[0].retry_exceeded += 2;
		own[0].troubled += 3;
		own[1].troubled += 7;
	}
	assert_true(rates_get(f->rates, 1, RATE_OWN_RETRY_EXCEEDED, -1, RATE_1M, &rate));
	assert_near(rate.growth, 4);
	assert_int_equal(rate.grown_ago_ns, 0);
	assert_true(rates_get(f->rates, 1, RATE_OWN_TROUBLED, -1, RATE_1M, &rate));
	assert_near(rate.growth, 6);
	assert_true(rates_get(f->rates, 2, RATE_OWN_TROUBLED, -1, RATE_1M, &rate));
	assert_near(rate.growth, 14);
	round.mono_ns += 7 * SEC;
	own[0].retry_exceeded -= 2; /* as it was at the last round */
	rates_add(f->rates, &round);
	assert_true(rates_get(f->rates, 1, RATE_OWN_RETRY_EXCEEDED, -1, RATE_1M, &rate));
	assert_int_equal(rate.grown_ago_ns, 7 * SEC);
}

static void test_parts_of_one_thing_are_added_and_the_biggest_named(void **state)
{
	struct fixture *f = *state;
	struct counter_value *shorted = counter(f, SOURCE_ETHTOOL, "module_bad_shorted", 0);
	struct counter_value *stuck = counter(f, SOURCE_ETHTOOL, "module_bus_stuck", 0);
	struct counter_value *lane0 = counter(f, SOURCE_ETHTOOL, "rx_err_lane_0_phy", 0);
	struct counter_value *lane3 = counter(f, SOURCE_ETHTOOL, "rx_err_lane_3_phy", 0);

	look_after(f, 5 * SEC);
	shorted->value = 1;
	stuck->value = 4;
	lane0->value = 5;
	lane3->value = 7;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LINK_MODULE_ERR, -1, RATE_10S).growth, 5);
	assert_string_equal(get(f, SIGNAL_LINK_MODULE_ERR, -1, RATE_10S).name, "module_bus_stuck");
	assert_near(get(f, SIGNAL_LINK_RAW_ERRORS_LANE, -1, RATE_10S).growth, 12);
}

static void test_priorities_are_kept_apart(void **state)
{
	struct fixture *f = *state;

	counter(f, SOURCE_ETHTOOL, "rx_prio3_pause_duration", 0);
	counter(f, SOURCE_ETHTOOL, "rx_prio5_pause_duration", 0);
	look_after(f, 5 * SEC);
	f->values[0].value = 5000000;
	look_after(f, 5 * SEC);
	assert_int_equal(rates_priorities(f->rates, 1, SIGNAL_PFC_RX_US), 1 << 3 | 1 << 5);
	assert_near(get(f, SIGNAL_PFC_RX_US, 3, RATE_10S).per_second, 1e6);
	assert_near(get(f, SIGNAL_PFC_RX_US, 5, RATE_10S).per_second, 0);
	assert_false(rates_has(f->rates, 1, SIGNAL_PFC_RX_US, -1));
}

static void test_words_are_told_as_bytes_and_gauges_as_their_mean(void **state)
{
	struct fixture *f = *state;
	struct counter_value *words = counter(f, SOURCE_COUNTERS, "port_rcv_data", 0);
	struct counter_value *percent = counter(f, SOURCE_ETHTOOL, "outbound_pci_stalled_rd", 10);

	look_after(f, 5 * SEC);
	words->value = 100;
	percent->value = 50;
	look_after(f, 5 * SEC);
	percent->value = 10;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_TRAFFIC_RX, -1, RATE_10S).growth, 400);
	assert_near(get(f, SIGNAL_HOST_PCI_STALL_RD_PCT, -1, RATE_10S).per_second, 30);
}

static void test_a_counter_at_its_end_is_said_to_be(void **state)
{
	struct fixture *f = *state;
	struct counter_value *v = counter(f, SOURCE_COUNTERS, "link_downed", 250);

	look_after(f, 5 * SEC);
	v->value = 255;
	look_after(f, 5 * SEC);
	assert_true(get(f, SIGNAL_LINK_DOWN, -1, RATE_10S).saturated);
	assert_near(get(f, SIGNAL_LINK_DOWN, -1, RATE_10S).growth, 5);
}

/* A NIC that is off the bus, or a driver's slip: both come back with what they had. */
static void test_a_value_of_all_ones_spoils_nothing(void **state)
{
	struct fixture *f = *state;
	struct counter_value *bytes = counter(f, SOURCE_HW_COUNTERS, "rx_bytes", 1000);
	struct counter_value *percent = counter(f, SOURCE_ETHTOOL, "outbound_pci_stalled_rd", 10);
	struct counter_value *narrow = counter(f, SOURCE_HW_COUNTERS, "out_of_sequence", 5000);

	look_after(f, 5 * SEC);
	bytes->value = percent->value = UINT64_MAX;
	narrow->value = UINT32_MAX;
	look_after(f, 5 * SEC);
	assert_false(rates_get(f->rates, 1, SIGNAL_TRAFFIC_RX_BYTES, -1, RATE_5M,
			       &(struct rate){.name = NULL}));
	bytes->value = 2000;
	percent->value = 10;
	narrow->value = 5003;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_LOSS_RX_OUT_OF_SEQ, -1, RATE_1M).growth, 3);
	for (unsigned i = 0; i < 100; i++) {
		look_after(f, 5 * SEC);
		bytes->value += 500;
	}
	assert_near(get(f, SIGNAL_TRAFFIC_RX_BYTES, -1, RATE_1M).per_second, 100);
	assert_near(get(f, SIGNAL_HOST_PCI_STALL_RD_PCT, -1, RATE_5M).per_second, 10);
}

static void test_every_counter_of_a_port_that_a_rule_asks_for_has_room(void **state)
{
	struct fixture *f = *state;
	const struct counter_row *rows;
	struct counter_value *all;
	struct rates_round round;
	size_t n_rows, n = 0;

	rows = counter_rows(&n_rows);
	all = calloc(n_rows * RATES_PRIORITIES, sizeof(*all));
	for (size_t i = 0; i < n_rows; i++) {
		const char *p = strstr(rows[i].name, "{p}");

		if (!strstr(rows[i].drivers, "mlx5") && strcmp(rows[i].drivers, "pma") != 0)
			continue;
		for (unsigned k = 0; k < (p ? RATES_PRIORITIES : 1); k++) {
			struct counter_value *v = &all[n++];

			v->source = (uint8_t)rows[i].source;
			v->port = 1;
			if (p)
				snprintf(v->name, sizeof(v->name), "%.*s%u%s",
					 (int)(p - rows[i].name), rows[i].name, k, p + 3);
			else
				snprintf(v->name, sizeof(v->name), "%s", rows[i].name);
		}
	}
	round = (struct rates_round){.values = all, .n_values = n, .mono_ns = T0 + SEC};
	rates_add(f->rates, &round);
	for (size_t i = 0; i < n; i++) {
		const struct counter_row *row = counter_row_of(all[i].source, all[i].name);

		if (rates_wants(row->signal) && row->kind != KIND_SETTING)
			assert_true(rates_has(f->rates, 1, row->signal,
					      counter_row_priority(row, all[i].name)));
	}
	free(all);
}

static void test_more_counters_than_there_is_room_for_do_no_harm(void **state)
{
	struct fixture *f = *state;
	struct counter_value *many = calloc(COUNTER_MAX, sizeof(*many));
	struct rates_round round = {.values = many, .n_values = COUNTER_MAX};

	for (unsigned i = 0; i < COUNTER_MAX; i++) {
		snprintf(many[i].name, sizeof(many[i].name), "rx_err_lane_%u_phy", i);
		many[i].source = SOURCE_ETHTOOL;
		many[i].port = (uint8_t)(i % 250);
	}
	for (unsigned i = 1; i < 4; i++) {
		round.mono_ns = T0 + i * 5 * SEC;
		rates_add(f->rates, &round);
	}
	assert_true(rates_has(f->rates, 1, SIGNAL_LINK_RAW_ERRORS_LANE, -1));
	free(many);
}

/* --- legs of a bond --- */

#define LEG_A "ens1f0np0/"
#define LEG_B "ens1f1np1/"

static void test_what_legs_count_is_the_ports_sum(void **state)
{
	struct fixture *f = *state;
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "rx_prio3_pause", 1000000);
	struct counter_value *b = counter(f, SOURCE_LEG, LEG_B "rx_prio3_pause", 5);
	struct rate rate;

	look_after(f, 5 * SEC);
	a->value += 50;
	b->value += 200;
	look_after(f, 5 * SEC);
	rate = get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_10S);
	assert_near(rate.growth, 250);
	assert_near(rate.per_second, 50);
	assert_string_equal(rate.name, LEG_B "rx_prio3_pause");
	assert_int_equal(rates_priorities(f->rates, 1, SIGNAL_PFC_RX_FRAMES), 1 << 3);
}

static void test_two_legs_paused_half_of_the_time_are_no_paused_port(void **state)
{
	struct fixture *f = *state;
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "rx_prio3_pause_duration", 0);
	struct counter_value *b = counter(f, SOURCE_LEG, LEG_B "rx_prio3_pause_duration", 0);
	struct rate rate;

	look_after(f, 5 * SEC);
	for (unsigned i = 0; i < 3; i++) {
		a->value += 2500000;
		b->value += 3000000;
		look_after(f, 5 * SEC);
	}
	rate = get(f, SIGNAL_PFC_RX_US, 3, RATE_10S);
	assert_near(rate.per_second, 600000);
	assert_string_equal(rate.name, LEG_B "rx_prio3_pause_duration");
}

/* What it counts while it is away, and what it comes back with, is no growth of the port. */
static void test_a_leg_that_leaves_and_returns_makes_no_rate(void **state)
{
	struct fixture *f = *state;
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "rx_prio3_pause", 70);
	struct counter_value *b = counter(f, SOURCE_LEG, LEG_B "rx_prio3_pause", 5000000000);

	look_after(f, 5 * SEC);
	look_after(f, 5 * SEC);
	f->n = 1;
	for (unsigned i = 0; i < 6; i++) {
		a->value += 10;
		look_after(f, 5 * SEC);
		assert_true(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_1M).growth <= 60);
	}
	assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_10S).per_second, 2);
	f->n = 2;
	b->value += 4000000;
	for (unsigned i = 0; i < 3; i++) {
		look_after(f, 5 * SEC);
		assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_1M).growth, 60);
	}
	b->value += 30;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_1M).growth, 90);
	/* Back with another driver's life behind it: lower than it was. */
	f->n = 1;
	for (unsigned i = 0; i < 4; i++)
		look_after(f, 5 * SEC);
	f->n = 2;
	b->value = 3;
	look_after(f, 5 * SEC);
	b->value = 8;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_10S).growth, 5);
}

static void test_a_replaced_worker_loses_nothing_of_a_leg(void **state)
{
	struct fixture *f = *state;
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "rx_prio3_pause", 70);

	look_after(f, 5 * SEC);
	a->value += 100;
	look_after(f, 40 * SEC); /* no round in between */
	assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_1M).growth, 100);
}

static void test_legs_are_asked_only_for_what_the_port_does_not_count(void **state)
{
	struct fixture *f = *state;
	struct counter_value *port = counter(f, SOURCE_HW_COUNTERS, "out_of_buffer", 0);
	struct counter_value *leg = counter(f, SOURCE_LEG, LEG_A "rx_out_of_buffer", 0);
	struct counter_value *pma = counter(f, SOURCE_COUNTERS, "link_downed", 0);
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "link_down_events_phy", 0);
	struct counter_value *b = counter(f, SOURCE_LEG, LEG_B "link_down_events_phy", 0);

	look_after(f, 5 * SEC);
	port->value = 7;
	leg->value = 7;
	pma->value = 1;
	a->value = 2;
	b->value = 3;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_RNR_NO_BUFFER, -1, RATE_10S).growth, 7);
	assert_near(get(f, SIGNAL_LINK_DOWN, -1, RATE_10S).growth, 5);
}

/* Each leg tells a thing by its own driver's name, and one of them by two names. */
static void test_legs_of_two_vendors_are_added_up_once_each(void **state)
{
	struct fixture *f = *state;
	struct counter_value *a = counter(f, SOURCE_LEG, LEG_A "rx_prio3_pause", 0);
	struct counter_value *b = counter(f, SOURCE_LEG, LEG_B "rx_pfc_ena_frames_pri3", 0);
	struct counter_value *twice = counter(f, SOURCE_LEG, LEG_B "rx_priority_3_xoff.nic", 0);

	look_after(f, 5 * SEC);
	a->value = 10;
	b->value = twice->value = 100;
	look_after(f, 5 * SEC);
	assert_near(get(f, SIGNAL_PFC_RX_FRAMES, 3, RATE_10S).growth, 110);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_one_value_is_no_rate_and_two_are),
		T(test_windows_cover_what_their_names_say),
		T(test_a_wrap_goes_on_and_a_reset_covers_less),
		T(test_growth_over_a_gap_counts_for_the_whole_gap),
		T(test_a_counter_that_comes_back_lost_nothing),
		T(test_a_counter_that_stays_away_is_forgotten_alone),
		T(test_a_round_that_is_not_later_is_ignored),
		T(test_two_views_of_one_thing_are_never_added),
		T(test_wide_counters_go_before_narrow_ones_and_optional_ones_last),
		T(test_what_our_probes_did_is_kept_beside_the_counters),
		T(test_parts_of_one_thing_are_added_and_the_biggest_named),
		T(test_priorities_are_kept_apart),
		T(test_words_are_told_as_bytes_and_gauges_as_their_mean),
		T(test_a_counter_at_its_end_is_said_to_be),
		T(test_a_value_of_all_ones_spoils_nothing),
		T(test_every_counter_of_a_port_that_a_rule_asks_for_has_room),
		T(test_more_counters_than_there_is_room_for_do_no_harm),
		T(test_what_legs_count_is_the_ports_sum),
		T(test_two_legs_paused_half_of_the_time_are_no_paused_port),
		T(test_a_leg_that_leaves_and_returns_makes_no_rate),
		T(test_a_replaced_worker_loses_nothing_of_a_leg),
		T(test_legs_are_asked_only_for_what_the_port_does_not_count),
		T(test_legs_of_two_vendors_are_added_up_once_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
