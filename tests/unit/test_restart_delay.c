#include "support.h"

#include "daemon/backoff.h"

#define SECOND 1000000000ULL

static void test_delay_doubles_up_to_half_a_minute(void **state)
{
	static const uint64_t base[] = {1, 2, 4, 8, 16, 30, 30, 30};
	struct backoff b = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(base); i++) {
		uint64_t ns = backoff_next(&b, 0);

		assert_int_equal(ns, base[i] * SECOND * 3 / 4);
	}
}

static void test_jitter_stays_within_a_quarter_of_the_delay(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	srandom(4);
	for (unsigned i = 0; i < 10000; i++) {
		struct backoff b = {.failures = 3};
		uint64_t ns = backoff_next(&b, ((uint64_t)random() << 31) ^ (uint64_t)random());

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_in_range(least, 6 * SECOND, 6 * SECOND + SECOND / 10);
	assert_in_range(most, 10 * SECOND - SECOND / 10, 10 * SECOND);
}

static void test_endless_failures_do_not_wrap(void **state)
{
	struct backoff b = {.failures = UINT32_MAX};

	(void)state;
	assert_int_equal(backoff_next(&b, 0), BACKOFF_MAX_NS * 3 / 4);
	assert_int_equal(b.failures, UINT32_MAX);
}

static void test_a_minute_of_life_forgets_failures_and_less_does_not(void **state)
{
	struct backoff b = {.failures = 7};

	(void)state;
	backoff_lived(&b, 59 * SECOND);
	assert_int_equal(b.failures, 7);
	backoff_lived(&b, 60 * SECOND);
	assert_int_equal(b.failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_doubles_up_to_half_a_minute),
		cmocka_unit_test(test_jitter_stays_within_a_quarter_of_the_delay),
		cmocka_unit_test(test_endless_failures_do_not_wrap),
		cmocka_unit_test(test_a_minute_of_life_forgets_failures_and_less_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
