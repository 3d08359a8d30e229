#include "chance.h"
#include "support.h"

#include "probes/counter_delta.h"

#define ROUNDS 200000

static const enum counter_width sticking[] = {
	WIDTH_STICKS_4, WIDTH_STICKS_8, WIDTH_STICKS_16, WIDTH_STICKS_32, WIDTH_64_OR_STICKS_32,
};

static void check(enum counter_width width, uint64_t before, uint64_t now, enum counter_step step,
		  uint64_t growth)
{
	struct counter_delta d = counter_delta(width, before, now);

	if (d.step != step || d.growth != growth)
		fail_msg("%s: %llu -> %llu is step %d by %llu", counter_width_name(width),
			 (unsigned long long)before, (unsigned long long)now, (int)d.step,
			 (unsigned long long)d.growth);
}

static void test_what_rises_grew_whatever_the_width(void **state)
{
	(void)state;
	for (unsigned width = 0; width < COUNTER_WIDTH_COUNT; width++) {
		check(width, 0, 0, STEP_GREW, 0);
		check(width, 3, 14, STEP_GREW, 11);
		check(width, 14, 14, STEP_GREW, 0);
	}
	check(WIDTH_64, 0, UINT64_MAX, STEP_GREW, UINT64_MAX);
}

static void test_32_bits_wrap_when_more_than_half_of_the_range_is_lost(void **state)
{
	(void)state;
	check(WIDTH_32, 4294967290, 4, STEP_WRAPPED, 10);
	check(WIDTH_32, UINT32_MAX, 0, STEP_WRAPPED, 1);
	check(WIDTH_32, 2147483649, 0, STEP_WRAPPED, 2147483647);
	check(WIDTH_32, 2147483648, 0, STEP_RESET, 0);
	check(WIDTH_32, 1000000, 0, STEP_RESET, 0);
	check(WIDTH_32, UINT32_MAX, UINT32_MAX - 1, STEP_RESET, 0);
}

static void test_64_bits_do_not_wrap(void **state)
{
	(void)state;
	check(WIDTH_64, 4294967290, 4, STEP_RESET, 0);
	check(WIDTH_64, 123456789012, 7, STEP_RESET, 0);
	check(WIDTH_64, UINT64_MAX, 0, STEP_RESET, 0);
}

static void test_an_unknown_width_may_be_either(void **state)
{
	(void)state;
	check(WIDTH_EITHER, 4294967290, 4, STEP_WRAPPED, 10);
	check(WIDTH_EITHER, 4294967290, 4294967300, STEP_GREW, 10);
	/* Past 32 bits it is known not to end there. */
	check(WIDTH_EITHER, 8589934592, 1, STEP_RESET, 0);
	check(WIDTH_32, 8589934592, 1, STEP_RESET, 0);
}

static void test_what_sticks_at_its_end_is_saturated(void **state)
{
	(void)state;
	check(WIDTH_STICKS_4, 3, 15, STEP_SATURATED, 12);
	check(WIDTH_STICKS_8, 255, 255, STEP_SATURATED, 0);
	check(WIDTH_STICKS_16, 65534, 65535, STEP_SATURATED, 1);
	check(WIDTH_STICKS_32, 0, 4294967295, STEP_SATURATED, 4294967295);
	check(WIDTH_64_OR_STICKS_32, 4294967290, 4294967295, STEP_SATURATED, 5);
	check(WIDTH_64_OR_STICKS_32, 4294967295, 4294967296, STEP_GREW, 1);
	check(WIDTH_32, 7, 4294967295, STEP_GREW, 4294967288);
}

static void test_what_sticks_never_wraps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sticking); i++) {
		check(sticking[i], 3, 0, STEP_RESET, 0);
		check(sticking[i], 15, 2, STEP_RESET, 0);
	}
	check(WIDTH_STICKS_8, 255, 0, STEP_RESET, 0);
	check(WIDTH_STICKS_32, UINT32_MAX, 0, STEP_RESET, 0);
	check(WIDTH_64_OR_STICKS_32, UINT32_MAX, 0, STEP_RESET, 0);
}

static void test_saturation_is_of_sticking_widths_at_their_end(void **state)
{
	(void)state;
	assert_true(counter_saturated(WIDTH_STICKS_8, 255));
	assert_false(counter_saturated(WIDTH_STICKS_8, 254));
	assert_true(counter_saturated(WIDTH_STICKS_16, 65535));
	assert_false(counter_saturated(WIDTH_STICKS_16, 255));
	assert_true(counter_saturated(WIDTH_STICKS_4, 15));
	assert_true(counter_saturated(WIDTH_STICKS_32, UINT32_MAX));
	assert_false(counter_saturated(WIDTH_32, UINT32_MAX));
	assert_false(counter_saturated(WIDTH_64, UINT64_MAX));
	assert_false(counter_saturated(WIDTH_EITHER, 255));
}

/* Of 64 bits some, so that small values and edges come as often as big ones. */
static uint64_t any_value(struct chance *seed)
{
	return chance_u64(seed) >> chance_below(seed, 64);
}

static void test_any_two_values_are_one_step_that_adds_up(void **state)
{
	struct chance seed = {4711};

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		enum counter_width width = chance_below(&seed, COUNTER_WIDTH_COUNT);
		uint64_t before = any_value(&seed), now = any_value(&seed);
		struct counter_delta d = counter_delta(width, before, now);

		switch (d.step) {
		case STEP_GREW:
		case STEP_SATURATED:
			assert_true(now >= before);
			assert_true(before + d.growth == now);
			assert_int_equal(d.step == STEP_SATURATED, counter_saturated(width, now));
			break;
		case STEP_WRAPPED:
			assert_true(now < before && before <= UINT32_MAX);
			assert_true(d.growth > 0 && d.growth < 1ULL << 31);
			assert_true((uint32_t)(before + d.growth) == now);
			break;
		case STEP_RESET:
			assert_true(now < before && d.growth == 0);
			break;
		}
	}
}

/* A counter of 32 bits that is read often enough tells all that happened, however it began. */
static void test_growth_over_wraps_is_the_true_sum(void **state)
{
	struct chance seed = {17};
	uint64_t truth = 0, told = 0;
	uint32_t value = (uint32_t)chance_u64(&seed);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t more = (uint32_t)chance_u64(&seed) >> 1;
		uint32_t next = value + more;

		told += counter_delta(WIDTH_32, value, next).growth;
		truth += more;
		value = next;
	}
	assert_true(truth > UINT32_MAX);
	assert_true(told == truth);
}

static void test_words_become_bytes_exactly(void **state)
{
	(void)state;
	assert_true(counter_bytes(345091702026) == 1380366808104);
	assert_true(counter_bytes(230539874932483) == 922159499729932);
	assert_true(counter_bytes(UINT64_MAX / 4) == UINT64_MAX - 3);
}

static void test_words_beyond_62_bits_stay_at_the_end(void **state)
{
	(void)state;
	assert_true(counter_bytes(UINT64_MAX / 4 + 1) == UINT64_MAX);
	assert_true(counter_bytes(UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_rises_grew_whatever_the_width),
		cmocka_unit_test(test_32_bits_wrap_when_more_than_half_of_the_range_is_lost),
		cmocka_unit_test(test_64_bits_do_not_wrap),
		cmocka_unit_test(test_an_unknown_width_may_be_either),
		cmocka_unit_test(test_what_sticks_at_its_end_is_saturated),
		cmocka_unit_test(test_what_sticks_never_wraps),
		cmocka_unit_test(test_saturation_is_of_sticking_widths_at_their_end),
		cmocka_unit_test(test_any_two_values_are_one_step_that_adds_up),
		cmocka_unit_test(test_growth_over_wraps_is_the_true_sum),
		cmocka_unit_test(test_words_become_bytes_exactly),
		cmocka_unit_test(test_words_beyond_62_bits_stay_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
