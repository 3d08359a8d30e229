#include "support.h"

#include <locale.h>

#include "exporters/number.h"

static void assert_seconds(uint64_t ns, const char *expected)
{
	struct strbuf sb = {0};

	number_put_seconds(&sb, ns);
	assert_string_equal(sb.data, expected);
	strbuf_free(&sb);
}

static void assert_double(double v, const char *expected)
{
	struct strbuf sb = {0};

	number_put_double(&sb, v);
	assert_string_equal(sb.data, expected);
	strbuf_free(&sb);
}

static void test_nanoseconds_are_told_exactly(void **state)
{
	(void)state;
	assert_seconds(0, "0");
	assert_seconds(241, "0.000000241");
	assert_seconds(1500000000, "1.5");
	assert_seconds(60000000000, "60");
	assert_seconds(1767225599750000000, "1767225599.75");
	assert_seconds(UINT64_MAX, "18446744073.709551615");
}

static void test_doubles_are_as_short_as_they_read_back(void **state)
{
	(void)state;
	assert_double(0, "0");
	assert_double(60, "60");
	assert_double(-3, "-3");
	assert_double(0.25, "0.25");
	assert_double(0.1, "0.1");
	assert_double(1.0 / 3.0, "0.3333333333333333");
	assert_double(922159499729932.0, "922159499729932");
	assert_double(1e300, "1e+300");
}

static void test_random_doubles_read_back_the_same(void **state)
{
	uint64_t bits = 88172645463325252ULL;
	struct strbuf sb = {0};
	double v;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&v, &bits, sizeof(v));
		if (!__builtin_isfinite(v))
			continue;
		strbuf_reset(&sb);
		number_put_double(&sb, v);
		assert_true(strtod(sb.data, NULL) == v);
	}
	strbuf_free(&sb);
}

static void test_a_locale_changes_nothing(void **state)
{
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		skip();
	assert_double(0.25, "0.25");
	assert_seconds(1500000000, "1.5");
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nanoseconds_are_told_exactly),
		cmocka_unit_test(test_doubles_are_as_short_as_they_read_back),
		cmocka_unit_test(test_random_doubles_read_back_the_same),
		cmocka_unit_test(test_a_locale_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
