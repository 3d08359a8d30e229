#include "support.h"

#include "exporters/exposition.h"

static struct strbuf out;

static int setup(void **state)
{
	(void)state;
	strbuf_free(&out);
	return 0;
}

static void put_counter(struct exposition *e, uint64_t value)
{
	exposition_sample(e, "");
	exposition_label(e, "op", "send");
	exposition_u64(e, value);
}

static void test_a_counter_is_named_as_each_format_wants_it(void **state)
{
	struct exposition e;

	(void)state;
	exposition_begin(&e, &out, EXPOSITION_TEXT, 0);
	exposition_family(&e, "rdma_probe_ok", FAMILY_COUNTER, "Probes.");
	put_counter(&e, 1);
	exposition_end(&e);
	assert_string_equal(out.data, "# HELP rdma_probe_ok_total Probes.\n"
				      "# TYPE rdma_probe_ok_total counter\n"
				      "rdma_probe_ok_total{op=\"send\"} 1\n");
	strbuf_reset(&out);
	exposition_begin(&e, &out, EXPOSITION_OPENMETRICS, 0);
	exposition_family(&e, "rdma_probe_ok", FAMILY_COUNTER, "Probes.");
	put_counter(&e, 1);
	exposition_end(&e);
	assert_string_equal(out.data, "# HELP rdma_probe_ok Probes.\n"
				      "# TYPE rdma_probe_ok counter\n"
				      "rdma_probe_ok_total{op=\"send\"} 1\n"
				      "# EOF\n");
}

static void test_a_family_without_samples_is_not_announced(void **state)
{
	struct exposition e;

	(void)state;
	exposition_begin(&e, &out, EXPOSITION_TEXT, 0);
	exposition_family(&e, "rdma_nothing", FAMILY_GAUGE, "Nothing.");
	exposition_family(&e, "rdma_one", FAMILY_GAUGE, "One.");
	exposition_sample(&e, "");
	exposition_u64(&e, 1);
	exposition_sample(&e, "");
	exposition_u64(&e, 2);
	assert_string_equal(
		out.data, "# HELP rdma_one One.\n# TYPE rdma_one gauge\nrdma_one 1\nrdma_one 2\n");
}

static void test_label_values_are_escaped_and_valid(void **state)
{
	struct exposition e;

	(void)state;
	exposition_begin(&e, &out, EXPOSITION_TEXT, 0);
	exposition_family(&e, "g", FAMILY_GAUGE, "G.");
	exposition_sample(&e, "");
	exposition_label(&e, "a", "back\\slash \"quote\" new\nline \xc3\xa9 \xff <unknown>");
	exposition_label_u64(&e, "n", UINT64_MAX);
	exposition_u64(&e, 0);
	assert_non_null(strstr(out.data,
			       "g{a=\"back\\\\slash \\\"quote\\\" new\\nline \xc3\xa9 \xef\xbf\xbd "
			       "<unknown>\",n=\"18446744073709551615\"} 0\n"));
}

static void test_big_numbers_keep_all_digits(void **state)
{
	struct exposition e;

	(void)state;
	exposition_begin(&e, &out, EXPOSITION_TEXT, 0);
	exposition_family(&e, "g", FAMILY_GAUGE, "G.");
	exposition_sample(&e, "");
	exposition_u64(&e, 922159499729932);
	exposition_sample(&e, "");
	exposition_u64(&e, UINT64_MAX);
	assert_non_null(strstr(out.data, "\ng 922159499729932\ng 18446744073709551615\n"));
}

static void test_rendered_labels_come_before_further_ones(void **state)
{
	struct strbuf block = {0};
	struct exposition e;

	(void)state;
	exposition_render_label(&block, 0, "peer", "a\"b");
	exposition_render_label(&block, 0, "rail", "r");
	exposition_begin(&e, &out, EXPOSITION_TEXT, 0);
	exposition_family(&e, "g", FAMILY_SUMMARY, "G.");
	exposition_sample(&e, "_sum");
	exposition_labels(&e, block.data, block.len);
	exposition_label(&e, "op", "read");
	exposition_seconds(&e, 1500);
	assert_non_null(
		strstr(out.data, "\ng_sum{peer=\"a\\\"b\",rail=\"r\",op=\"read\"} 0.0000015\n"));
	strbuf_free(&block);
}

static void test_groups_beyond_the_limit_are_left_out_whole_and_counted(void **state)
{
	struct exposition e;

	(void)state;
	exposition_begin(&e, &out, EXPOSITION_TEXT, 30);
	assert_true(exposition_admit(&e, 28));
	assert_false(exposition_admit(&e, 28));
	assert_true(exposition_admit(&e, 2));
	assert_false(exposition_admit(&e, 1));
	assert_int_equal(e.series, 30);
	assert_int_equal(e.dropped, 29);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_counter_is_named_as_each_format_wants_it, setup),
		cmocka_unit_test_setup(test_a_family_without_samples_is_not_announced, setup),
		cmocka_unit_test_setup(test_label_values_are_escaped_and_valid, setup),
		cmocka_unit_test_setup(test_big_numbers_keep_all_digits, setup),
		cmocka_unit_test_setup(test_rendered_labels_come_before_further_ones, setup),
		cmocka_unit_test_setup(test_groups_beyond_the_limit_are_left_out_whole_and_counted,
				       setup),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	strbuf_free(&out);
	return r;
}
