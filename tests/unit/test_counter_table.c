#include "support.h"

#include "probes/counter_table.h"

static const struct counter_row *pma(const char *name)
{
	return counter_row_of(SOURCE_COUNTERS, name);
}

static const struct counter_row *hw(const char *name)
{
	return counter_row_of(SOURCE_HW_COUNTERS, name);
}

static const struct counter_row *netdev(const char *name)
{
	return counter_row_of(SOURCE_ETHTOOL, name);
}

/* name with {p} as 3, {n} as 12 and a * at the end as "thing". */
static void concrete(const char *pattern, char *ret, size_t size)
{
	static const struct {
		const char *hole, *text;
	} holes[] = {{"{p}", "3"}, {"{n}", "12"}, {"*", "thing"}};

	snprintf(ret, size, "%s", pattern);
	for (size_t i = 0; i < COUNT(holes); i++) {
		const char *at = strstr(pattern, holes[i].hole);

		if (at)
			snprintf(ret, size, "%.*s%s%s", (int)(at - pattern), pattern, holes[i].text,
				 at + strlen(holes[i].hole));
	}
}

static void test_rows_are_sorted_and_each_is_found_by_its_name(void **state)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	(void)state;
	assert_true(n > 300);
	for (size_t i = 0; i < n; i++) {
		char name[FACT_NAME + 8];

		concrete(rows[i].name, name, sizeof(name));
		if (counter_row_of(rows[i].source, name) != &rows[i])
			fail_msg("%s is not found", name);
		if (i > 0 && rows[i - 1].source == rows[i].source)
			assert_true(strcmp(rows[i - 1].name, rows[i].name) < 0);
	}
}

static void test_rows_are_complete_and_their_texts_fit_a_help_line(void **state)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const struct counter_row *r = &rows[i];

		assert_true(r->name[0] && r->drivers[0] && r->help[0]);
		assert_null(strpbrk(r->help, "\"\\\n"));
		assert_int_not_equal(r->help[strlen(r->help) - 1], '.');
		assert_string_not_equal(counter_width_name(r->width), "invalid");
		assert_string_not_equal(counter_unit_name(r->unit), "invalid");
		assert_string_not_equal(counter_kind_name(r->kind), "invalid");
		assert_string_not_equal(counter_direction_name(r->direction), "invalid");
	}
}

static void test_every_signal_has_a_name_and_a_counter(void **state)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	(void)state;
	for (unsigned signal = 1; signal < SIGNAL_COUNT; signal++) {
		size_t with = 0;

		assert_non_null(signal_name(signal));
		assert_non_null(strchr(signal_name(signal), '.'));
		for (size_t i = 0; i < n; i++)
			with += rows[i].signal == signal;
		if (with == 0)
			fail_msg("nothing tells %s", signal_name(signal));
		for (unsigned other = 1; other < signal; other++)
			assert_string_not_equal(signal_name(signal), signal_name(other));
	}
	assert_string_equal(signal_name(SIGNAL_NONE), "");
	assert_string_equal(signal_name(SIGNAL_COUNT), "");
}

static void test_ib_performance_counters_stick_at_their_widths(void **state)
{
	(void)state;
	assert_int_equal(pma("link_downed")->width, WIDTH_STICKS_8);
	assert_int_equal(pma("symbol_error")->width, WIDTH_STICKS_16);
	assert_int_equal(pma("excessive_buffer_overrun_errors")->width, WIDTH_STICKS_4);
	assert_int_equal(pma("port_xmit_wait")->width, WIDTH_STICKS_32);
	assert_int_equal(pma("port_xmit_data")->width, WIDTH_64_OR_STICKS_32);
	/* rxe has one of that name among its hw_counters. */
	assert_int_equal(hw("link_downed")->width, WIDTH_64);
}

static void test_q_counters_are_32_bits_and_congestion_counters_64(void **state)
{
	(void)state;
	assert_int_equal(hw("out_of_sequence")->width, WIDTH_32);
	assert_int_equal(hw("sq_num_to")->width, WIDTH_32);
	assert_int_equal(hw("np_cnp_sent")->width, WIDTH_64);
	assert_int_equal(hw("rx_icrc_encapsulated")->width, WIDTH_64);
	/* 32 bits with mlx5, 64 with rxe. */
	assert_int_equal(hw("duplicate_request")->width, WIDTH_EITHER);
}

static void test_vendor_gauges_are_gauges_by_name(void **state)
{
	static const char *const gauges[] = {
		"active_pds",	     "active_new_thing", "watermark_qps", "current_rate",
		"num_qps_congested", "db_fifo_register", "active_rc_qps",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(gauges); i++) {
		if (hw(gauges[i])->kind != KIND_GAUGE)
			fail_msg("%s is taken for a counter", gauges[i]);
	}
	assert_int_equal(hw("resize_cq_cnt")->kind, KIND_COUNTER);
	assert_int_equal(hw("qp_congested_events")->kind, KIND_COUNTER);
	assert_int_equal(pma("active_pds")->kind, KIND_COUNTER);
	assert_int_equal(netdev("outbound_pci_stalled_rd")->kind, KIND_GAUGE);
	assert_int_equal(netdev("outbound_pci_stalled_rd_events")->kind, KIND_COUNTER);
}

static void test_lifespan_is_a_setting_in_hw_counters_only(void **state)
{
	(void)state;
	assert_int_equal(hw("lifespan")->kind, KIND_SETTING);
	assert_int_equal(pma("lifespan")->kind, KIND_COUNTER);
	assert_int_equal(hw("lifespan_errors")->kind, KIND_COUNTER);
}

static void test_only_pma_data_counters_count_words(void **state)
{
	(void)state;
	assert_int_equal(pma("port_xmit_data")->unit, UNIT_WORDS);
	assert_int_equal(pma("port_rcv_data")->unit, UNIT_WORDS);
	assert_int_equal(counter_row_of(SOURCE_COUNTERS_EXT, "port_rcv_data_64")->unit, UNIT_WORDS);
	assert_int_equal(pma("port_xmit_packets")->unit, UNIT_PACKETS);
	assert_int_equal(hw("rx_bytes")->unit, UNIT_BYTES);
	assert_int_equal(hw("port_xmit_data")->unit, UNIT_NONE);
}

static void test_priorities_are_digits_where_the_vendor_has_them(void **state)
{
	static const struct {
		const char *name;
		int priority;
		enum signal signal;
	} cases[] = {
		{"rx_prio0_pause", 0, SIGNAL_PFC_RX_FRAMES},
		{"rx_prio7_pause_duration", 7, SIGNAL_PFC_RX_US},
		{"tx_pfc_ena_frames_pri3", 3, SIGNAL_PFC_TX_FRAMES},
		{"pfc_pri5_rx_duration_us", 5, SIGNAL_PFC_RX_US},
		{"rx_priority_4_xoff.nic", 4, SIGNAL_PFC_RX_FRAMES},
		{"mac_tx_pfc_pri1_pkt_num", 1, SIGNAL_PFC_TX_FRAMES},
		{"rx_pause_duration_prio_2", 2, SIGNAL_PFC_RX_US},
		{"rx_prio8_pause", -1, SIGNAL_NONE},
		{"rx_prio33_pause", -1, SIGNAL_NONE},
		{"rx_prio_pause", -1, SIGNAL_NONE},
		{"rx_prio{p}_pause", -1, SIGNAL_PFC_RX_FRAMES}, /* somebody's joke */
		{"rx_err_lane_3_phy", -1, SIGNAL_LINK_RAW_ERRORS_LANE},
		{"rx_err_lane_11_phy", -1, SIGNAL_LINK_RAW_ERRORS_LANE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct counter_row *row = netdev(cases[i].name);

		if (row->signal != cases[i].signal)
			fail_msg("%s tells %s", cases[i].name, signal_name(row->signal));
		assert_int_equal(counter_row_priority(row, cases[i].name), cases[i].priority);
	}
}

static void test_representors_tell_the_same_counters(void **state)
{
	(void)state;
	assert_ptr_equal(hw("vport_out_of_sequence"), hw("out_of_sequence"));
	assert_string_equal(pma("vport_link_downed")->name, "");
}

static void test_unknown_names_have_what_holds_for_their_source(void **state)
{
	char longest[FACT_NAME * 4];

	(void)state;
	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (unsigned source = 0; source < COUNTER_SOURCE_COUNT; source++) {
		const char *const names[] = {"brand_new_counter", "", "{p}", "*", "_", longest};

		for (size_t i = 0; i < COUNT(names); i++) {
			const struct counter_row *r = counter_row_of(source, names[i]);

			assert_string_equal(r->name, "");
			assert_int_equal(r->source, source == SOURCE_LEG ? SOURCE_ETHTOOL : source);
			assert_int_equal(r->kind, KIND_COUNTER);
			assert_int_equal(counter_row_priority(r, names[i]), -1);
			assert_int_equal(r->width,
					 source == SOURCE_COUNTERS_EXT || source == SOURCE_OPTIONAL
						 ? WIDTH_64
						 : WIDTH_EITHER);
		}
	}
	/* What a worker gone wild may tell. */
	assert_string_equal(counter_row_of(200, "link_downed")->name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sorted_and_each_is_found_by_its_name),
		cmocka_unit_test(test_rows_are_complete_and_their_texts_fit_a_help_line),
		cmocka_unit_test(test_every_signal_has_a_name_and_a_counter),
		cmocka_unit_test(test_ib_performance_counters_stick_at_their_widths),
		cmocka_unit_test(test_q_counters_are_32_bits_and_congestion_counters_64),
		cmocka_unit_test(test_vendor_gauges_are_gauges_by_name),
		cmocka_unit_test(test_lifespan_is_a_setting_in_hw_counters_only),
		cmocka_unit_test(test_only_pma_data_counters_count_words),
		cmocka_unit_test(test_priorities_are_digits_where_the_vendor_has_them),
		cmocka_unit_test(test_representors_tell_the_same_counters),
		cmocka_unit_test(test_unknown_names_have_what_holds_for_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
