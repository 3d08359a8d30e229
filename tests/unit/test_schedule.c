#include "support.h"

#include "chance.h"
#include "core/clock.h"
#include "probes/schedule.h"

static void test_next_is_strictly_after(void **state)
{
	(void)state;
	assert_int_equal(schedule_next(30, 100, 0), 30);
	assert_int_equal(schedule_next(30, 100, 29), 30);
	assert_int_equal(schedule_next(30, 100, 30), 130);
	assert_int_equal(schedule_next(30, 100, 31), 130);
	assert_int_equal(schedule_next(0, 100, 0), 100);
	assert_int_equal(schedule_next(0, 100, 99), 100);
}

static void test_count_is_of_the_half_open_span(void **state)
{
	(void)state;
	assert_int_equal(schedule_count(30, 100, 0, 29), 0);
	assert_int_equal(schedule_count(30, 100, 0, 30), 1);
	assert_int_equal(schedule_count(30, 100, 30, 129), 0);
	assert_int_equal(schedule_count(30, 100, 30, 130), 1);
	assert_int_equal(schedule_count(30, 100, 0, 1029), 10);
	assert_int_equal(schedule_count(30, 100, 0, 1030), 11);
	assert_int_equal(schedule_count(30, 100, 130, 130), 0);
	assert_int_equal(schedule_count(30, 100, 131, 130), 0);
	assert_int_equal(schedule_count(30, 0, 0, 1000), 0);
}

/* Whatever the steps, adding up spans gives what one long span gives: nothing lost, nothing
 * doubled; and stepping by next visits as many. */
static void test_no_instant_is_lost_or_doubled_over_random_walks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct chance chance = {seed};
		uint64_t interval = 1 + chance_below(&chance, 2000000);
		uint64_t phase = chance_u64(&chance) % interval;
		uint64_t start = chance_u64(&chance) % (100 * interval), t = start, counted = 0;
		uint64_t visited = 0;

		for (unsigned i = 0; i < 300; i++) {
			uint64_t to = t + chance_u64(&chance) % (3 * interval);

			counted += schedule_count(phase, interval, t, to);
			t = to;
		}
		for (uint64_t at = schedule_next(phase, interval, start); at <= t;
		     at = schedule_next(phase, interval, at)) {
			assert_int_equal(at % interval, phase);
			visited++;
		}
		assert_int_equal(counted, schedule_count(phase, interval, start, t));
		assert_int_equal(visited, counted);
	}
}

static void test_phase_is_stable_and_below_the_interval(void **state)
{
	struct chance chance = {5};

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t hash = chance_u64(&chance);
		unsigned index = chance_below(&chance, OP_COUNT);
		uint64_t phase = schedule_phase(hash, index, NSEC_PER_SEC / 4, NSEC_PER_SEC);

		assert_true(phase < NSEC_PER_SEC);
		assert_int_equal(phase,
				 schedule_phase(hash, index, NSEC_PER_SEC / 4, NSEC_PER_SEC));
	}
}

/* The ops of one session share one QP: with equal intervals they are a stagger apart for ever. */
static void test_ops_of_a_session_are_apart(void **state)
{
	struct chance chance = {6};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t hash = chance_u64(&chance);
		uint64_t a = schedule_phase(hash, 0, NSEC_PER_SEC / 2, NSEC_PER_SEC);
		uint64_t b = schedule_phase(hash, 1, NSEC_PER_SEC / 2, NSEC_PER_SEC);

		assert_int_equal((b + NSEC_PER_SEC - a) % NSEC_PER_SEC, NSEC_PER_SEC / 2);
	}
}

/* An interval that is a multiple of the other never meets it: both are k * shortest + offset. */
static void test_ops_with_multiples_of_an_interval_never_meet(void **state)
{
	uint64_t shortest = NSEC_PER_SEC, longer = 10 * NSEC_PER_SEC;
	struct chance chance = {7};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t hash = chance_u64(&chance);
		uint64_t a = schedule_phase(hash, 0, shortest / 3, shortest);
		uint64_t b = schedule_phase(hash, 2, shortest / 3, longer);

		assert_int_not_equal(b % shortest, a);
	}
}

static void test_common_is_the_greatest_divisor(void **state)
{
	(void)state;
	assert_int_equal(schedule_common(0, 0), 0);
	assert_int_equal(schedule_common(0, 7), 7);
	assert_int_equal(schedule_common(7, 0), 7);
	assert_int_equal(schedule_common(200, 300), 100);
	assert_int_equal(schedule_common(10 * NSEC_PER_SEC, NSEC_PER_SEC), NSEC_PER_SEC);
}

/* 200 and 300 ms shifted by half of the shorter would meet every 600 ms, for ever. */
static void test_ops_with_other_intervals_never_meet(void **state)
{
	uint64_t a = 200 * NSEC_PER_MSEC, b = 300 * NSEC_PER_MSEC;
	uint64_t stagger = schedule_common(a, b) / 2;

	(void)state;
	for (uint64_t key = 0; key < 1000; key++) {
		uint64_t pa = schedule_phase(key * 7919 * 104729, 0, stagger, a);
		uint64_t pb = schedule_phase(key * 7919 * 104729, 1, stagger, b);

		for (uint64_t t = pa; t < 2 * NSEC_PER_SEC; t += a) {
			uint64_t next = schedule_next(pb, b, t), before = next - b;

			assert_true(next - t >= stagger);
			assert_true(t < pb || t - before >= stagger);
		}
	}
}

static void test_sessions_are_spread_over_the_interval(void **state)
{
	struct chance chance = {8};
	unsigned tenth[10] = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		tenth[schedule_phase(chance_u64(&chance), 0, 0, NSEC_PER_SEC) /
		      (NSEC_PER_SEC / 10)]++;
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(tenth[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_is_strictly_after),
		cmocka_unit_test(test_count_is_of_the_half_open_span),
		cmocka_unit_test(test_no_instant_is_lost_or_doubled_over_random_walks),
		cmocka_unit_test(test_phase_is_stable_and_below_the_interval),
		cmocka_unit_test(test_ops_of_a_session_are_apart),
		cmocka_unit_test(test_ops_with_multiples_of_an_interval_never_meet),
		cmocka_unit_test(test_common_is_the_greatest_divisor),
		cmocka_unit_test(test_ops_with_other_intervals_never_meet),
		cmocka_unit_test(test_sessions_are_spread_over_the_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
