#include "support.h"

#include "probes/counter_name.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names),
		cmocka_unit_test(test_wide_form_of_counters_ext),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
