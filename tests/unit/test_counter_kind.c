#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probes/counter_kind.h"

static struct counter_kind pma(const char *name)
{
	return counter_kind_of(SOURCE_COUNTERS, name);
}

static struct counter_kind hw(const char *name)
{
	return counter_kind_of(SOURCE_HW_COUNTERS, name);
}

static void test_lookup_finds_every_entry_of_its_tables(void **state)
{
	static const char *const pma_names[] = {
		"VL15_dropped",
		"excessive_buffer_overrun_errors",
		"link_downed",
		"link_error_recovery",
		"port_rcv_errors",
		"local_link_integrity_errors",
		"port_xmit_discards",
		"port_rcv_remote_physical_errors",
		"port_xmit_wait",
		"port_rcv_switch_relay_errors",
		"symbol_error",
		"port_xmit_constraint_errors",
		"port_rcv_constraint_errors",
	};
	static const char *const q_names[] = {
		"duplicate_request",
		"implied_nak_seq_err",
		"local_ack_timeout_err",
		"out_of_buffer",
		"out_of_sequence",
		"packet_seq_err",
		"req_cqe_error",
		"req_cqe_flush_error",
		"req_remote_access_errors",
		"req_remote_invalid_request",
		"req_rnr_retries_exceeded",
		"req_transport_retries_exceeded",
		"resp_cqe_error",
		"resp_cqe_flush_error",
		"resp_local_length_error",
		"resp_remote_access_errors",
		"rnr_nak_retry_err",
		"roce_adp_retrans",
		"roce_adp_retrans_to",
		"roce_slow_restart",
		"roce_slow_restart_cnps",
		"roce_slow_restart_trans",
		"rx_atomic_requests",
		"rx_dct_connect",
		"rx_read_requests",
		"rx_write_requests",
		"rq_num_oos",
		"sq_num_to",
		"num_cqovf",
		"vport_out_of_sequence",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pma_names) / sizeof(pma_names[0]); i++) {
		if (pma(pma_names[i]).sticks_at == 0)
			fail_msg("%s does not stick", pma_names[i]);
	}
	for (size_t i = 0; i < sizeof(q_names) / sizeof(q_names[0]); i++) {
		if (hw(q_names[i]).bits != 32)
			fail_msg("%s does not wrap at 32 bits", q_names[i]);
	}
}

static void test_congestion_counters_are_64_bit(void **state)
{
	(void)state;
	assert_int_equal(hw("np_cnp_sent").bits, 64);
	assert_int_equal(hw("np_ecn_marked_roce_packets").bits, 64);
	assert_int_equal(hw("rp_cnp_handled").bits, 64);
	assert_int_equal(hw("rp_cnp_ignored").bits, 64);
	assert_int_equal(hw("rx_icrc_encapsulated").bits, 64);
}

static void test_vendor_gauges_are_gauges_by_name(void **state)
{
	static const char *const gauges[] = {
		"active_pds",	    "active_ahs",    "active_cqs",    "active_srqs",
		"active_mrs",	    "active_mws",    "active_rc_qps", "active_ud_qps",
		"watermark_qps",    "watermark_pds", "current_rate",  "num_qps_congested",
		"db_fifo_register",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		if (!hw(gauges[i]).gauge)
			fail_msg("%s is taken for a counter", gauges[i]);
	}
	assert_false(hw("resize_cq_cnt").gauge);
	assert_false(hw("qp_congested_events").gauge);
	assert_false(hw("np_cnp_sent").gauge);
	assert_false(pma("active_pds").gauge);
}

static void test_lifespan_is_hidden_in_hw_counters_only(void **state)
{
	(void)state;
	assert_true(hw("lifespan").hidden);
	assert_false(pma("lifespan").hidden);
	assert_false(hw("lifespan_errors").hidden);
}

static void test_only_pma_data_counters_count_words(void **state)
{
	(void)state;
	assert_true(pma("port_xmit_data").data_words);
	assert_true(pma("port_rcv_data").data_words);
	assert_true(counter_kind_of(SOURCE_COUNTERS_EXT, "port_rcv_data_64").data_words);
	assert_true(counter_kind_of(SOURCE_COUNTERS_EXT, "port_xmit_data_64").data_words);
	assert_false(pma("port_xmit_packets").data_words);
	assert_false(hw("rx_bytes").data_words);
	assert_false(hw("tx_bytes").data_words);
	assert_false(hw("port_xmit_data").data_words);
}

static void test_words_become_bytes_exactly(void **state)
{
	(void)state;
	assert_true(counter_bytes(345091702026) == 1380366808104);
	assert_true(counter_bytes(230539874932483) == 922159499729932);
	assert_true(counter_bytes(UINT64_MAX / 4) == UINT64_MAX - 3);
}

static void test_words_above_a_quarter_of_the_range_do_not_wrap(void **state)
{
	(void)state;
	assert_true(counter_bytes(UINT64_MAX / 4 + 1) == UINT64_MAX);
	assert_true(counter_bytes(UINT64_MAX) == UINT64_MAX);
}

static void test_saturation_is_the_exact_maximum_of_the_width(void **state)
{
	struct counter_kind downed = pma("link_downed"), discards = pma("port_xmit_discards");
	struct counter_kind overrun = pma("excessive_buffer_overrun_errors");
	struct counter_kind wait = pma("port_xmit_wait"), hw_downed = hw("link_downed");

	(void)state;
	assert_true(counter_saturated(&downed, 255));
	assert_false(counter_saturated(&downed, 254));
	assert_true(counter_saturated(&discards, 65535));
	assert_false(counter_saturated(&discards, 255));
	assert_true(counter_saturated(&overrun, 15));
	assert_true(counter_saturated(&wait, 4294967295));
	/* rxe has one of that name among its hw_counters, 64 bits wide. */
	assert_false(counter_saturated(&hw_downed, 255));
}

static void test_plain_names(void **state)
{
	(void)state;
	assert_true(counter_name_plain("np_cnp_sent"));
	assert_true(counter_name_plain("a"));
	assert_true(counter_name_plain("x9_"));
	assert_false(counter_name_plain(""));
	assert_false(counter_name_plain("_x"));
	assert_false(counter_name_plain("9x"));
	assert_false(counter_name_plain("VL15_dropped"));
	assert_false(counter_name_plain("RxECNMrkd"));
	assert_false(counter_name_plain("SDMAIdInt1,32"));
	assert_false(counter_name_plain("na\xc3\xafve"));
}

static void test_wide_form_of_counters_ext(void **state)
{
	char base[FACT_NAME];

	(void)state;
	assert_true(counter_wide_form(SOURCE_COUNTERS_EXT, "port_xmit_data_64", base));
	assert_string_equal(base, "port_xmit_data");
	assert_false(counter_wide_form(SOURCE_COUNTERS_EXT, "port_unicast_rcv_packets", base));
	assert_false(counter_wide_form(SOURCE_COUNTERS, "port_xmit_data_64", base));
	assert_false(counter_wide_form(SOURCE_COUNTERS_EXT, "_64", base));
}

static void test_growth_over_a_32_bit_wrap(void **state)
{
	struct counter_kind k = hw("out_of_sequence");
	uint64_t growth;

	(void)state;
	assert_true(counter_growth(&k, 4294967290, 4, &growth));
	assert_int_equal(growth, 10);
	assert_true(counter_growth(&k, 5, 5, &growth));
	assert_int_equal(growth, 0);
}

static void test_backward_step_is_a_reset_and_never_growth(void **state)
{
	struct counter_kind q = hw("out_of_sequence"), data = pma("port_xmit_data");
	struct counter_kind downed = pma("link_downed"), cnp = hw("np_cnp_sent");
	uint64_t growth = 99;

	(void)state;
	assert_false(counter_growth(&data, 123456789012, 7, &growth));
	assert_int_equal(growth, 0);
	assert_false(counter_growth(&downed, 3, 0, &growth));
	assert_false(counter_growth(&downed, 255, 0, &growth));
	assert_false(counter_growth(&q, 1000000, 0, &growth));
	assert_false(counter_growth(&cnp, 4294967290, 4, &growth));
	assert_int_equal(growth, 0);
}

static void test_growth_beyond_32_bits_of_a_name_of_unknown_width(void **state)
{
	struct counter_kind k = hw("brand_new_counter");
	uint64_t growth;

	(void)state;
	assert_true(counter_growth(&k, 4294967290, 4294967300, &growth));
	assert_int_equal(growth, 10);
	assert_false(counter_growth(&k, 8589934592, 1, &growth));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup_finds_every_entry_of_its_tables),
		cmocka_unit_test(test_congestion_counters_are_64_bit),
		cmocka_unit_test(test_vendor_gauges_are_gauges_by_name),
		cmocka_unit_test(test_lifespan_is_hidden_in_hw_counters_only),
		cmocka_unit_test(test_only_pma_data_counters_count_words),
		cmocka_unit_test(test_words_become_bytes_exactly),
		cmocka_unit_test(test_words_above_a_quarter_of_the_range_do_not_wrap),
		cmocka_unit_test(test_saturation_is_the_exact_maximum_of_the_width),
		cmocka_unit_test(test_plain_names),
		cmocka_unit_test(test_wide_form_of_counters_ext),
		cmocka_unit_test(test_growth_over_a_32_bit_wrap),
		cmocka_unit_test(test_backward_step_is_a_reset_and_never_growth),
		cmocka_unit_test(test_growth_beyond_32_bits_of_a_name_of_unknown_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
