#include "support.h"

#include "exporters/metric_name.h"

static void test_names_of_counters_that_operators_know_stay_names(void **state)
{
	static const char *const good[] = {
		"np_cnp_sent",	  "np_ecn_marked_roce_packets",
		"port_xmit_wait", "link_downed",
		"symbol_error",	  "port_rcv_data",
		"rx_bytes",	  "oos_drop_count",
		"out_of_buffer",  "rq_num_dup",
		"to_retransmits", "multicast_rcv_packets",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(metric_name_usable(METRIC_PORT, good[i], false));
}

static void test_names_that_are_no_metric_names_are_refused(void **state)
{
	static const char *const bad[] = {
		"VL15_dropped", "RxECNMrkd", "SDMAIdInt1,32", "",     "9lives",
		"ip4InOctets",	"_x",	     "a b",	      "a\"b", "caf\xc3\xa9"};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(metric_name_usable(METRIC_PORT, bad[i], false));
}

static void test_names_that_promtool_complains_of_are_refused(void **state)
{
	static const char *const bad[] = {"pfc_pri0_rx_duration_us",
					  "rx_corrected_bits",
					  "a_counter_b",
					  "histogram_x",
					  "idle_ms",
					  "up_hours",
					  "wait_milliseconds",
					  "s_rx",
					  "x_gauge"};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(metric_name_usable(METRIC_PORT, bad[i], false));
}

static void test_endings_that_the_formats_use_are_refused(void **state)
{
	(void)state;
	assert_false(metric_name_usable(METRIC_PORT, "sent_total", false));
	assert_false(metric_name_usable(METRIC_PORT, "rx_created", false));
	assert_true(metric_name_usable(METRIC_PORT, "drop_count", false));
	assert_false(metric_name_usable(METRIC_PORT, "drop_count", true));
	assert_false(metric_name_usable(METRIC_PORT, "rx_sum", true));
}

static void test_our_own_name_space_is_never_entered(void **state)
{
	static const char *const ours[] = {"probe_ok",	"rail_up",    "device_x",
					   "hw_stat",	"finding",    "port_info",
					   "worker_up", "pingmesh_x", "port_xmit_data_bytes"};

	(void)state;
	for (size_t i = 0; i < COUNT(ours); i++)
		assert_false(metric_name_usable(METRIC_PORT, ours[i], false));
	/* rdma_device_probe_ok is nobody's. */
	assert_true(metric_name_usable(METRIC_DEVICE, "probe_ok", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_counters_that_operators_know_stay_names),
		cmocka_unit_test(test_names_that_are_no_metric_names_are_refused),
		cmocka_unit_test(test_names_that_promtool_complains_of_are_refused),
		cmocka_unit_test(test_endings_that_the_formats_use_are_refused),
		cmocka_unit_test(test_our_own_name_space_is_never_entered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
