#include "rules_world.h"

#include "probes/counter_delta.h"

/* All counters that a rule looks at, by the signals of their rows: one that is new in the table is
 * tested with the others, and one that is new in a rule is missed here. */

#define SIGNALS_MAX 10
#define WHOLE_ROUNDS 61 /* until the longest window knows all that it can */
#define MINUTE_ROUNDS 13

/* A rule, and how much its counters have to gain in its window. */
struct bound {
	enum rule rule;
	enum cause cause;
	uint32_t warning, critical; /* 0: no such level */
	enum signal still; /* has to be there and gains nothing; SIGNAL_NONE: none has to */
	enum signal signals[SIGNALS_MAX];
};

static const struct bound bounds[] = {
	{RULE_LINK_FLAP, CAUSE_LOCAL_PORT, 2, 5, SIGNAL_NONE, {SIGNAL_LINK_DOWN}},
	{RULE_LINK_ERRORS,
	 CAUSE_LOCAL_PORT,
	 10,
	 1000,
	 SIGNAL_NONE,
	 {SIGNAL_LINK_FEC_UNCORRECTED, SIGNAL_LINK_FEC_UNCORRECTED_BLOCKS, SIGNAL_LINK_CRC,
	  SIGNAL_LINK_SYMBOL_ERRORS, SIGNAL_LINK_RX_ERRORS, SIGNAL_LINK_INTEGRITY,
	  SIGNAL_LINK_BUFFER_OVERRUN, SIGNAL_LINK_RECOVERY, SIGNAL_ERR_RX_ICRC,
	  SIGNAL_LINK_MODULE_ERR}},
	/* 100 Gbit/s for five minutes are 3e13 bits. */
	{RULE_LINK_ERRORS,
	 CAUSE_LOCAL_PORT,
	 300000000,
	 0,
	 SIGNAL_LINK_CRC,
	 {SIGNAL_LINK_FEC_CORRECTED_BITS}},
	{RULE_CONGESTION,
	 CAUSE_CONGESTION,
	 60 * 10000,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_CC_RX_ECN_MARKED, SIGNAL_CC_CNP_RX}},
	{RULE_CC_BROKEN, CAUSE_CONGESTION, 100, 0, SIGNAL_CC_CNP_TX, {SIGNAL_CC_RX_ECN_MARKED}},
	{RULE_CC_BROKEN, CAUSE_CONGESTION, 100, 0, SIGNAL_NONE, {SIGNAL_CC_CNP_RX_IGNORED}},
	{RULE_LOSS,
	 CAUSE_PATH,
	 60,
	 6000,
	 SIGNAL_NONE,
	 {SIGNAL_LOSS_ACK_TIMEOUT, SIGNAL_LOSS_NAK_RCVD, SIGNAL_LOSS_IMPLIED_NAK,
	  SIGNAL_LOSS_RETRANS, SIGNAL_LOSS_RETRANS_ROUNDS, SIGNAL_LOSS_ADAPTIVE_RETRANS,
	  SIGNAL_LOSS_RX_OUT_OF_SEQ, SIGNAL_LOSS_RETRY_EXCEEDED}},
	{RULE_RECEIVER_NOT_READY,
	 CAUSE_LOCAL_HOST,
	 600,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_RNR_NAK_SENT, SIGNAL_RNR_NO_BUFFER}},
	{RULE_RECEIVER_NOT_READY,
	 CAUSE_REMOTE_HOST,
	 600,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_RNR_NAK_RCVD, SIGNAL_RNR_RETRY_EXCEEDED}},
	/* 5 and 30 percent of a minute's microseconds; 200 frames a second stand for a percent. */
	{RULE_PAUSE_RECEIVED,
	 CAUSE_CONGESTION,
	 3000000,
	 18000000,
	 SIGNAL_NONE,
	 {SIGNAL_PFC_RX_US, SIGNAL_PAUSE_RX_US}},
	{RULE_PAUSE_RECEIVED,
	 CAUSE_CONGESTION,
	 5 * 200 * 60,
	 30 * 200 * 60,
	 SIGNAL_NONE,
	 {SIGNAL_PFC_RX_FRAMES, SIGNAL_PAUSE_RX_FRAMES, SIGNAL_PAUSE_RX_FRAMES_PHY}},
	{RULE_PAUSE_SENT,
	 CAUSE_LOCAL_HOST,
	 3000000,
	 18000000,
	 SIGNAL_NONE,
	 {SIGNAL_PFC_TX_US, SIGNAL_PAUSE_TX_US}},
	{RULE_PAUSE_SENT,
	 CAUSE_LOCAL_HOST,
	 5 * 200 * 60,
	 30 * 200 * 60,
	 SIGNAL_NONE,
	 {SIGNAL_PFC_TX_FRAMES, SIGNAL_PAUSE_TX_FRAMES, SIGNAL_PAUSE_TX_FRAMES_PHY}},
	/* 99 percent of ten seconds */
	{RULE_PFC_STORM,
	 CAUSE_CONGESTION,
	 0,
	 9900000,
	 SIGNAL_TRAFFIC_TX,
	 {SIGNAL_PFC_RX_US, SIGNAL_PAUSE_RX_US}},
	{RULE_PFC_STORM,
	 CAUSE_LOCAL_HOST,
	 0,
	 9900000,
	 SIGNAL_TRAFFIC_RX,
	 {SIGNAL_PFC_TX_US, SIGNAL_PAUSE_TX_US}},
	{RULE_PFC_STORM, CAUSE_LOCAL_HOST, 1, 0, SIGNAL_NONE, {SIGNAL_PFC_STORM_WARN}},
	{RULE_PFC_STORM, CAUSE_LOCAL_HOST, 0, 1, SIGNAL_NONE, {SIGNAL_PFC_STORM_ERR}},
	/* seconds of a minute, and percent of each */
	{RULE_PCIE_BOTTLENECK,
	 CAUSE_LOCAL_HOST,
	 6,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_HOST_PCI_STALL_RD, SIGNAL_HOST_PCI_STALL_WR}},
	{RULE_PCIE_BOTTLENECK,
	 CAUSE_LOCAL_HOST,
	 30,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_HOST_PCI_STALL_RD_PCT, SIGNAL_HOST_PCI_STALL_WR_PCT}},
	{RULE_PCIE_BOTTLENECK,
	 CAUSE_LOCAL_HOST,
	 10,
	 0,
	 SIGNAL_NONE,
	 {SIGNAL_HOST_PCI_OVERFLOW, SIGNAL_HOST_PCI_RX_ERRORS, SIGNAL_HOST_PCI_TX_ERRORS}},
};

/* --- counters of the table --- */

/* Where a port finds a counter. */
enum place { AT_PORT, AT_DEVICE, AT_LEG };
#define PLACES 3

static bool may_be(const struct counter_row *row, enum place place)
{
	switch (place) {
	case AT_PORT:
		return true;
	case AT_DEVICE:
		return row->source == SOURCE_HW_COUNTERS;
	case AT_LEG:
		return row->source == SOURCE_ETHTOOL;
	}
	return false;
}

/* A name that has this row: a priority is 3, a number 4. */
static void name_of(const struct counter_row *row, char name[FACT_NAME])
{
	size_t to = 0;

	for (const char *from = row->name; *from; from++) {
		name[to++] = *from;
		if (*from == '*')
			name[to - 1] = 'x';
		if (*from == '{') {
			name[to - 1] = from[1] == 'p' ? '3' : '4';
			from += 2;
		}
	}
	name[to] = '\0';
	assert_ptr_equal(counter_row_of(row->source, name), row);
}

static struct counter_value *add_row(struct rules_world *w, const struct counter_row *row,
				     enum place place)
{
	bool sticks = counter_saturated(row->width, 15) || counter_saturated(row->width, UINT8_MAX);
	bool from_zero = sticks || row->kind == KIND_GAUGE;
	char name[FACT_NAME], at[FACT_NAME + 8];
	struct counter_value *v;

	name_of(row, name);
	snprintf(at, sizeof(at), "%s%s", place == AT_LEG ? "ens1/" : "", name);
	v = add_counter(w, place == AT_LEG ? SOURCE_LEG : row->source, at, from_zero ? 0 : 1000);
	if (place == AT_DEVICE)
		v->port = 0;
	return v;
}

static const struct counter_row *first_of(enum signal signal)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].signal == signal)
			return &rows[i];
	fail_msg("no counter has the signal %s", signal_name(signal));
	return NULL;
}

/* The most that it can gain from where add_row() lets it begin. */
static uint64_t room_of(const struct counter_row *row)
{
	static const uint64_t ends[] = {15, UINT8_MAX, UINT16_MAX};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (counter_saturated(row->width, ends[i]))
			return ends[i] - (ends[i] > UINT8_MAX ? 1000 : 0);
	return UINT32_MAX / 2;
}

typedef void (*row_test)(struct rules_world *w, const struct counter_row *row, enum place place,
			 const void *of);

/* In a world of its own each counter of that signal, at each place where it may be. */
static void each_of(enum signal signal, row_test test, const void *of)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	(void)first_of(signal);
	for (size_t i = 0; i < n; i++)
		for (unsigned place = 0; place < PLACES; place++) {
			void *state;

			if (rows[i].signal != signal || !may_be(&rows[i], (enum place)place))
				continue;
			world_set_up(&state);
			test(state, &rows[i], (enum place)place, of);
			world_tear_down(&state);
		}
}

static void feed(struct rules_world *w, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		feed_round(w, ROUND);
	take_snapshot(w);
}

static void assert_row_state(const struct rules_world *w, const struct counter_row *row,
			     enum rule rule, enum rule_state state)
{
	if (said(w, rule)->state != state)
		print_error("%s/%s:\n", counter_source_name(row->source), row->name);
	assert_state(w, rule, state);
}

/* --- what fires, what is just below, and when it clears --- */

/* A gauge has to stand there for a minute. */
static void gain(struct rules_world *w, struct counter_value *v, uint64_t by)
{
	bool gauge = counter_row_of(v->source, v->name)->kind == KIND_GAUGE;

	v->value += by;
	feed(w, gauge ? MINUTE_ROUNDS : 1);
}

static void assert_told(const struct rules_world *w, const struct bound *b,
			const struct counter_value *v, uint64_t limit)
{
	const struct snap_rule *r = said(w, b->rule);

	assert_int_equal(r->cause, b->cause);
	assert_says(r->text, "mlx5_0");
	assert_true(r->n_evidence >= 1);
	assert_string_equal(r->evidence[0].name, v->name);
	assert_true(nearly(r->evidence[0].value, (double)limit));
	assert_true(nearly(r->evidence[0].threshold, (double)limit));
}

static void assert_clears(struct rules_world *w, const struct bound *b,
			  const struct counter_row *row, struct counter_value *v)
{
	uint64_t held = b->rule == RULE_LINK_FLAP ? w->limits.recovery_ns : w->limits.hold_ns;

	if (row->kind == KIND_GAUGE)
		v->value = 0;
	feed(w, (unsigned)(held / ROUND) - 1);
	assert_true(said(w, b->rule)->state >= RULE_WARNING);
	feed(w, WHOLE_ROUNDS + 1);
	assert_row_state(w, row, b->rule, RULE_OK);
}

static void reach_bound(struct rules_world *w, const struct counter_row *row, enum place place,
			const void *of)
{
	const struct bound *b = of;
	const uint32_t limits[] = {b->warning, b->critical};
	struct counter_value *v = add_row(w, row, place);
	enum rule_state before = RULE_OK;
	uint64_t gained = 0;

	if (b->still)
		add_row(w, first_of(b->still), AT_PORT);
	feed(w, WHOLE_ROUNDS);
	for (size_t i = 0; i < COUNT(limits); i++) {
		if (!limits[i] || limits[i] > room_of(row))
			continue;
		gain(w, v, limits[i] - 1 - gained);
		assert_row_state(w, row, b->rule, before);
		gain(w, v, 1);
		before = i == 0 ? RULE_WARNING : RULE_CRITICAL;
		assert_row_state(w, row, b->rule, before);
		assert_told(w, b, v, limits[i]);
		gained = limits[i];
	}
	assert_true(gained > 0);
	assert_clears(w, b, row, v);
}

static void test_each_counter_of_each_rule_fires_at_its_limit_and_clears(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bounds); i++)
		for (size_t k = 0; k < SIGNALS_MAX && bounds[i].signals[k]; k++)
			each_of(bounds[i].signals[k], reach_bound, &bounds[i]);
}

/* --- what fires nothing --- */

static bool looks_at(enum rule rule, enum signal signal)
{
	for (size_t i = 0; i < COUNT(bounds); i++)
		for (size_t k = 0; k < SIGNALS_MAX; k++)
			if (bounds[i].rule == rule && bounds[i].signals[k] == signal)
				return signal != SIGNAL_NONE;
	return false;
}

static void add_what_stands_still(struct rules_world *w, enum signal but)
{
	for (size_t i = 0; i < COUNT(bounds); i++)
		if (bounds[i].still && bounds[i].still != but)
			add_row(w, first_of(bounds[i].still), AT_PORT);
}

/* As fast as it can, for long enough that every rule judges it. */
static void race(struct rules_world *w, const struct counter_row *row)
{
	struct counter_value *v = add_row(w, row, AT_PORT);

	add_what_stands_still(w, row->signal);
	for (unsigned i = 0; i < 15; i++) {
		uint64_t by = room_of(row) / 15;

		v->value += by < 10000000 ? by : 10000000;
		feed_round(w, ROUND);
	}
	take_snapshot(w);
	for (unsigned rule = 0; rule < RULE_COUNT; rule++)
		if ((said(w, (enum rule)rule)->state >= RULE_WARNING) !=
		    looks_at((enum rule)rule, row->signal))
			fail_msg("%s %s %s/%s", rule_name((enum rule)rule),
				 said(w, (enum rule)rule)->text[0] ? "looks at"
								   : "does not look at",
				 counter_source_name(row->source), row->name);
}

static void test_each_counter_fires_the_rules_that_look_at_it_and_no_other(void **state)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	assert_true(n > 400);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == KIND_SETTING)
			continue;
		world_set_up(state);
		race(*state, &rows[i]);
		world_tear_down(state);
	}
}

/* --- what decides beside what fires --- */

static void drop_half(struct rules_world *w, const struct counter_row *row, enum place place,
		      const void *of)
{
	struct counter_value *drops = add_row(w, row, place);
	struct counter_value *losses = add_row(w, first_of(SIGNAL_LOSS_RX_OUT_OF_SEQ), AT_PORT);

	(void)of;
	feed(w, WHOLE_ROUNDS);
	losses->value += 60;
	gain(w, drops, 29);
	assert_row_state(w, row, RULE_LOSS, RULE_WARNING);
	assert_int_equal(said(w, RULE_LOSS)->cause, CAUSE_PATH);
	gain(w, drops, 1);
	assert_int_equal(said(w, RULE_LOSS)->cause, CAUSE_LOCAL_HOST);
	assert_says(said(w, RULE_LOSS)->text, "this host drops packets itself");
	assert_string_equal(said(w, RULE_LOSS)->evidence[1].name, drops->name);
}

static void test_losses_are_this_hosts_where_it_drops_half_as_many(void **state)
{
	static const enum signal dropped[] = {
		SIGNAL_DROP_RX_NOBUF, SIGNAL_DROP_DEV_NOBUF, SIGNAL_DROP_RX,
		SIGNAL_DROP_RX_ROCE,  SIGNAL_DROP_TX,	     SIGNAL_DROP_TX_PHY,
		SIGNAL_DROP_RX_LIMIT, SIGNAL_DROP_TX_LIMIT,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(dropped); i++)
		each_of(dropped[i], drop_half, NULL);
}

/* of: the signal of the pauses. */
static void move_little(struct rules_world *w, const struct counter_row *row, enum place place,
			const void *of)
{
	struct counter_value *paused = add_row(w, first_of(*(const enum signal *)of), AT_PORT);
	struct counter_value *moved = add_row(w, row, place);
	uint64_t little = row->unit == UNIT_WORDS ? 1024 : 4096;

	feed(w, WHOLE_ROUNDS);
	paused->value += 9900000;
	gain(w, moved, little + 1);
	assert_row_state(w, row, RULE_PFC_STORM, RULE_OK);
	feed(w, 3);
	paused->value += 9900000;
	gain(w, moved, little);
	assert_row_state(w, row, RULE_PFC_STORM, RULE_CRITICAL);
}

static void test_a_port_is_in_no_storm_while_it_moves_more_than_a_page(void **state)
{
	static const struct {
		enum signal paused;
		enum signal moved[4];
	} of[] = {
		{SIGNAL_PFC_RX_US,
		 {SIGNAL_TRAFFIC_TX_PRIO_BYTES, SIGNAL_TRAFFIC_TX_RDMA_BYTES, SIGNAL_TRAFFIC_TX,
		  SIGNAL_TRAFFIC_TX_BYTES}},
		{SIGNAL_PFC_TX_US,
		 {SIGNAL_TRAFFIC_RX_PRIO_BYTES, SIGNAL_TRAFFIC_RX_RDMA_BYTES, SIGNAL_TRAFFIC_RX,
		  SIGNAL_TRAFFIC_RX_BYTES}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(of); i++)
		for (size_t k = 0; k < COUNT(of[i].moved); k++)
			each_of(of[i].moved[k], move_little, &of[i].paused);
}

static void send_one(struct rules_world *w, const struct counter_row *row, enum place place,
		     const void *of)
{
	struct counter_value *sent = add_row(w, row, place);
	struct counter_value *marks = add_row(w, first_of(SIGNAL_CC_RX_ECN_MARKED), AT_PORT);

	(void)of;
	feed(w, WHOLE_ROUNDS);
	marks->value += 1000;
	gain(w, sent, 1);
	assert_row_state(w, row, RULE_CC_BROKEN, RULE_OK);
	feed(w, MINUTE_ROUNDS);
	marks->value += 1000;
	gain(w, sent, 0);
	assert_row_state(w, row, RULE_CC_BROKEN, RULE_WARNING);
	assert_string_equal(said(w, RULE_CC_BROKEN)->evidence[1].name, sent->name);
}

static void heed_as_many(struct rules_world *w, const struct counter_row *row, enum place place,
			 const void *of)
{
	struct counter_value *heeded = add_row(w, row, place);
	struct counter_value *ignored = add_row(w, first_of(SIGNAL_CC_CNP_RX_IGNORED), AT_PORT);

	(void)of;
	feed(w, WHOLE_ROUNDS);
	ignored->value += 1000;
	gain(w, heeded, 1001);
	assert_row_state(w, row, RULE_CC_BROKEN, RULE_OK);
	gain(w, ignored, 1);
	assert_row_state(w, row, RULE_CC_BROKEN, RULE_WARNING);
	assert_string_equal(said(w, RULE_CC_BROKEN)->evidence[1].name, heeded->name);
}

static void test_a_notification_that_is_sent_and_most_that_are_heeded_are_well(void **state)
{
	(void)state;
	each_of(SIGNAL_CC_CNP_TX, send_one, NULL);
	each_of(SIGNAL_CC_CNP_RX, heed_as_many, NULL);
}

/* --- the counters themselves --- */

static bool is_file_of(const struct counter_row *row, enum place place)
{
	return place != AT_LEG && row->source != SOURCE_ETHTOOL && row->source != SOURCE_OPTIONAL;
}

static void end_and_leave(struct rules_world *w, const struct counter_row *row, enum place place,
			  const void *of)
{
	struct counter_value *v = add_row(w, row, place);
	bool file = is_file_of(row, place);

	(void)of;
	feed(w, 1);
	assert_row_state(w, row, RULE_COUNTERS_SATURATED, file ? RULE_OK : RULE_NOT_APPLICABLE);
	assert_row_state(w, row, RULE_COUNTERS_UNREADABLE, file ? RULE_OK : RULE_NOT_APPLICABLE);
	if (!file)
		return;
	v->flags = COUNTER_SATURATED;
	feed(w, 1);
	assert_row_state(w, row, RULE_COUNTERS_SATURATED, RULE_WARNING);
	assert_says(said(w, RULE_COUNTERS_SATURATED)->text, v->name);
	v->flags = 0;
	feed(w, 1);
	assert_row_state(w, row, RULE_COUNTERS_SATURATED, RULE_OK);
	w->round.n_values = 0;
	feed(w, 1);
	assert_row_state(w, row, RULE_COUNTERS_UNREADABLE, RULE_WARNING);
	assert_row_state(w, row, RULE_COUNTERS_SATURATED, RULE_NOT_APPLICABLE);
	w->round.n_values = 1;
	feed(w, 1);
	assert_row_state(w, row, RULE_COUNTERS_UNREADABLE, RULE_OK);
}

static void test_any_counter_can_stand_at_its_end_and_be_gone(void **state)
{
	(void)state;
	for (unsigned signal = 0; signal < SIGNAL_COUNT; signal++)
		each_of((enum signal)signal, end_and_leave, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_counter_of_each_rule_fires_at_its_limit_and_clears),
		cmocka_unit_test(test_each_counter_fires_the_rules_that_look_at_it_and_no_other),
		cmocka_unit_test(test_losses_are_this_hosts_where_it_drops_half_as_many),
		cmocka_unit_test(test_a_port_is_in_no_storm_while_it_moves_more_than_a_page),
		cmocka_unit_test(
			test_a_notification_that_is_sent_and_most_that_are_heeded_are_well),
		cmocka_unit_test(test_any_counter_can_stand_at_its_end_and_be_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
