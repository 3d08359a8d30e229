#include "support.h"

#include "health/when.h"

static void test_instant_is_written_in_utc(void **state)
{
	char buf[WHEN_LEN];

	(void)state;
	assert_string_equal(when_text(0, buf), "1970-01-01 00:00:00 UTC");
	assert_string_equal(when_text(1796000000999999999ULL, buf), "2026-11-30 00:53:20 UTC");
}

static void test_absurd_instant_still_gives_a_string(void **state)
{
	char buf[WHEN_LEN];

	(void)state;
	assert_non_null(when_text(UINT64_MAX, buf));
	assert_true(strlen(buf) < WHEN_LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instant_is_written_in_utc),
		cmocka_unit_test(test_absurd_instant_still_gives_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
