#include "support.h"

#include "cli/text.h"

static void assert_clean(const char *text, const char *expected)
{
	struct strbuf sb = {0};

	text_add_clean(&sb, text);
	strbuf_putc(&sb, '|');
	assert_int_equal(sb.len, strlen(expected) + 1);
	assert_memory_equal(sb.data, expected, strlen(expected));
	strbuf_free(&sb);
}

static void test_names_pass_as_they_are(void **state)
{
	(void)state;
	assert_clean("", "");
	assert_clean("host-2.example/mlx5_0", "host-2.example/mlx5_0");
	assert_clean("Köln 東京", "Köln 東京");
}

static void test_control_characters_cannot_reach_a_terminal(void **state)
{
	(void)state;
	assert_clean("a\x1b[2Jb", "a?[2Jb");
	assert_clean("a\nb\tc\rd", "a?b?c?d");
	assert_clean("a\x7f"
		     "b",
		     "a?b");
	assert_clean("a\xc2\x9b"
		     "2Jb",
		     "a?2Jb");		      /* C1 CSI */
	assert_clean("\xc2\xa0", "\xc2\xa0"); /* a no-break space is not C1 */
}

static void test_direction_overrides_are_replaced(void **state)
{
	(void)state;
	assert_clean("a\xe2\x80\xae"
		     "b",
		     "a?b");
	assert_clean("a\xe2\x81\xa6"
		     "b",
		     "a?b");
	assert_clean("a\xe2\x80\x93"
		     "b",
		     "a\xe2\x80\x93"
		     "b"); /* a dash */
}

static void test_width_counts_characters_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(text_width("Köln"), 4);
	assert_int_equal(text_width(""), 0);
}

static void test_latency_has_three_figures_or_so(void **state)
{
	char buf[TEXT_SHORT];

	(void)state;
	assert_string_equal(text_latency(870e-9, buf), "870ns");
	assert_string_equal(text_latency(2.34e-6, buf), "2.3us");
	assert_string_equal(text_latency(312e-6, buf), "312us");
	assert_string_equal(text_latency(3.12e-3, buf), "3.12ms");
	assert_string_equal(text_latency(1.2, buf), "1.20s");
	assert_string_equal(text_latency(-1, buf), "?");
	assert_string_equal(text_latency(1e300, buf), "?");
}

static void test_duration_shows_two_units(void **state)
{
	char buf[TEXT_SHORT];

	(void)state;
	assert_string_equal(text_duration(12.9, buf), "12s");
	assert_string_equal(text_duration(312, buf), "5m12s");
	assert_string_equal(text_duration(3 * 3600 + 300, buf), "3h05m");
	assert_string_equal(text_duration(12 * 86400 + 3 * 3600, buf), "12d03h");
	assert_string_equal(text_duration(-5, buf), "0s");
	assert_string_equal(text_duration(1e300, buf), "?");
}

static void test_absurd_dates_are_a_dash(void **state)
{
	char buf[TEXT_SHORT];

	(void)state;
	assert_string_equal(text_date(0, buf), "-");
	assert_string_equal(text_date(-1, buf), "-");
	assert_string_equal(text_date(1e300, buf), "-");
	assert_string_equal(text_date(1796000000.5, buf), "2026-11-30 00:53:20Z");
}

static void test_rate_is_in_bits(void **state)
{
	char buf[TEXT_SHORT];

	(void)state;
	assert_string_equal(text_rate(312500000, 0, buf), "2.5 Gb/s");
	assert_string_equal(text_rate(50000000000ULL, 50000000000ULL, buf), "400 Gb/s");
	assert_string_equal(text_rate(3125000000, 12500000000ULL, buf), "25 of 100 Gb/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_pass_as_they_are),
		cmocka_unit_test(test_control_characters_cannot_reach_a_terminal),
		cmocka_unit_test(test_direction_overrides_are_replaced),
		cmocka_unit_test(test_width_counts_characters_not_bytes),
		cmocka_unit_test(test_latency_has_three_figures_or_so),
		cmocka_unit_test(test_duration_shows_two_units),
		cmocka_unit_test(test_absurd_dates_are_a_dash),
		cmocka_unit_test(test_rate_is_in_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
