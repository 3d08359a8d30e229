#include "support.h"

#include <errno.h>

#include "core/clock.h"
#include "core/conf.h"

static void test_durations_need_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"1s", NSEC_PER_SEC},
		{"500ms", 500 * NSEC_PER_MSEC},
		{"10us", 10 * NSEC_PER_USEC},
		{"7ns", 7},
		{"2m", 120 * NSEC_PER_SEC},
		{"1h", 3600 * NSEC_PER_SEC},
		{"0s", 0},
	};
	static const char *const bad[] = {"",	  "1",	  "s",	 "1 s",	 "-1s", "+1s",
					  "1.5s", "1sec", "1S",	 "1s ",	 " 1s", "0x1s",
					  "off",  "1e3s", "1ss", "1m30s"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(conf_parse_duration(good[i].text, &ns), 0);
		assert_true(ns == good[i].ns);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(conf_parse_duration(bad[i], &ns), -EINVAL);
}

static void test_numbers_that_overflow_are_out_of_range(void **state)
{
	uint64_t v = 5;

	(void)state;
	assert_int_equal(conf_parse_duration("99999999999999999999s", &v), -ERANGE);
	assert_int_equal(conf_parse_duration("18446744073709551615s", &v), -ERANGE);
	assert_int_equal(conf_parse_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(conf_parse_size("18446744073709551615k", &v), -ERANGE);
	assert_int_equal(v, 5);
	assert_int_equal(conf_parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
}

static void test_whole_numbers_take_no_sign_and_no_blank(void **state)
{
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x10", "1a", "1.0"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(conf_parse_u64(bad[i], &v), -EINVAL);
	assert_int_equal(conf_parse_u64("007", &v), 0);
	assert_int_equal(v, 7);
}

static void test_sizes_know_binary_units(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(conf_parse_size("64", &v), 0);
	assert_int_equal(v, 64);
	assert_int_equal(conf_parse_size("4k", &v), 0);
	assert_int_equal(v, 4096);
	assert_int_equal(conf_parse_size("1M", &v), 0);
	assert_int_equal(v, 1 << 20);
	assert_int_equal(conf_parse_size("1kB", &v), -EINVAL);
}

static void test_booleans_have_their_usual_words(void **state)
{
	static const char *const yes[] = {"yes", "true", "on", "1", "Yes"};
	static const char *const no[] = {"no", "false", "off", "0", "NO"};
	bool v;

	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++) {
		assert_int_equal(conf_parse_bool(yes[i], &v), 0);
		assert_true(v);
		assert_int_equal(conf_parse_bool(no[i], &v), 0);
		assert_false(v);
	}
	assert_int_equal(conf_parse_bool("", &v), -EINVAL);
	assert_int_equal(conf_parse_bool("2", &v), -EINVAL);
}

static void test_a_formatted_duration_parses_to_itself(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  999,
					  NSEC_PER_USEC,
					  1500 * NSEC_PER_USEC,
					  500 * NSEC_PER_MSEC,
					  90 * NSEC_PER_SEC,
					  3600 * NSEC_PER_SEC,
					  UINT64_MAX};
	char text[32];
	uint64_t back;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		conf_format_duration(values[i], text, sizeof(text));
		assert_int_equal(conf_parse_duration(text, &back), 0);
		assert_true(back == values[i]);
	}
	conf_format_duration(500 * NSEC_PER_MSEC, text, sizeof(text));
	assert_string_equal(text, "500ms");
	conf_format_duration(60 * NSEC_PER_SEC, text, sizeof(text));
	assert_string_equal(text, "1m");
}

static void test_a_formatted_size_parses_to_itself(void **state)
{
	static const uint64_t values[] = {0, 64, 1023, 4096, 1 << 20, UINT64_MAX};
	char text[32];
	uint64_t back;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		conf_format_size(values[i], text, sizeof(text));
		assert_int_equal(conf_parse_size(text, &back), 0);
		assert_true(back == values[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations_need_a_unit),
		cmocka_unit_test(test_numbers_that_overflow_are_out_of_range),
		cmocka_unit_test(test_whole_numbers_take_no_sign_and_no_blank),
		cmocka_unit_test(test_sizes_know_binary_units),
		cmocka_unit_test(test_booleans_have_their_usual_words),
		cmocka_unit_test(test_a_formatted_duration_parses_to_itself),
		cmocka_unit_test(test_a_formatted_size_parses_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
