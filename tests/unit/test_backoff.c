#include "support.h"

#include "chance.h"
#include "core/clock.h"
#include "probes/backoff.h"

#define BASE (500 * NSEC_PER_MSEC)
#define CAP (10 * NSEC_PER_SEC)
#define FLOOR (20 * NSEC_PER_MSEC)

static void test_every_draw_lies_between_floor_and_cap(void **state)
{
	struct chance chance = {1};

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		unsigned attempt = chance_below(&chance, 100);
		uint64_t ns = backoff_ns(attempt, BASE, CAP, FLOOR, chance_u64(&chance));

		assert_true(ns >= FLOOR);
		assert_true(ns < CAP);
		if (attempt < 4)
			assert_true(ns < BASE << attempt);
	}
}

static void test_the_span_doubles_until_the_cap(void **state)
{
	(void)state;
	/* The largest draw of a span is span - 1. */
	assert_int_equal(backoff_ns(0, BASE, CAP, FLOOR, BASE - 1), BASE - 1);
	assert_int_equal(backoff_ns(1, BASE, CAP, FLOOR, 2 * BASE - 1), 2 * BASE - 1);
	assert_int_equal(backoff_ns(4, BASE, CAP, FLOOR, 16 * BASE - 1), 16 * BASE - 1);
	assert_int_equal(backoff_ns(5, BASE, CAP, FLOOR, CAP - 1), CAP - 1);
	assert_int_equal(backoff_ns(5, BASE, CAP, FLOOR, CAP), FLOOR);
}

static void test_jitter_is_full(void **state)
{
	struct chance chance = {2};
	unsigned tenth[10] = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		tenth[backoff_ns(20, BASE, CAP, 0, chance_u64(&chance)) / (CAP / 10)]++;
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(tenth[i], 850, 1150);
}

static void test_thousands_of_attempts_do_not_overflow(void **state)
{
	(void)state;
	assert_int_equal(backoff_ns(UINT32_MAX, BASE, CAP, FLOOR, CAP - 1), CAP - 1);
	assert_int_equal(backoff_ns(1000, BASE, CAP, FLOOR, 0), FLOOR);
}

static void test_an_empty_span_is_the_floor(void **state)
{
	(void)state;
	assert_int_equal(backoff_ns(3, 0, 0, FLOOR, 12345), FLOOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_draw_lies_between_floor_and_cap),
		cmocka_unit_test(test_the_span_doubles_until_the_cap),
		cmocka_unit_test(test_jitter_is_full),
		cmocka_unit_test(test_thousands_of_attempts_do_not_overflow),
		cmocka_unit_test(test_an_empty_span_is_the_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
