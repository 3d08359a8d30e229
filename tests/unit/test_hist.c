#include "support.h"

#include "core/clock.h"
#include "core/hist.h"

static void test_a_value_equal_to_a_bound_is_below_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < HIST_BOUNDS; i++) {
		assert_int_equal(hist_bucket_of(hist_bounds_ns[i]), i);
		assert_int_equal(hist_bucket_of(hist_bounds_ns[i] + 1), i + 1);
	}
	assert_int_equal(hist_bucket_of(0), 0);
	assert_int_equal(hist_bucket_of(UINT64_MAX), HIST_BOUNDS);
}

static void test_printed_bounds_are_the_bounds_in_shortest_form(void **state)
{
	char shortest[32];

	(void)state;
	for (size_t i = 0; i < HIST_BOUNDS; i++) {
		snprintf(shortest, sizeof(shortest), "%.3g", (double)hist_bounds_ns[i] / 1e9);
		assert_string_equal(hist_bounds_le[i], shortest);
	}
}

static void test_bounds_rise(void **state)
{
	(void)state;
	for (size_t i = 1; i < HIST_BOUNDS; i++)
		assert_true(hist_bounds_ns[i] > hist_bounds_ns[i - 1]);
}

static void test_count_is_the_sum_of_the_buckets(void **state)
{
	static const uint64_t rtts[] = {5 * NSEC_PER_USEC, 15 * NSEC_PER_USEC, 75 * NSEC_PER_USEC,
					10 * NSEC_PER_SEC};
	struct hist h = {0};
	uint64_t total = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rtts); i++)
		hist_add(&h, rtts[i]);
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		total += h.bucket[i];
	assert_int_equal(h.count, 4);
	assert_int_equal(total, 4);
	assert_int_equal(h.sum_ns, 95 * NSEC_PER_USEC + 10 * NSEC_PER_SEC);
	assert_int_equal(h.bucket[HIST_BOUNDS], 1);
}

static void test_merge_adds_everything(void **state)
{
	struct hist a = {0}, b = {0};

	(void)state;
	hist_add(&a, 1);
	hist_add(&b, 1);
	hist_add(&b, NSEC_PER_SEC);
	hist_merge(&a, &b);
	assert_int_equal(a.bucket[0], 2);
	assert_int_equal(a.bucket[HIST_BOUNDS], 1);
	assert_int_equal(a.count, 3);
	assert_int_equal(a.sum_ns, NSEC_PER_SEC + 2);
	assert_int_equal(b.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_value_equal_to_a_bound_is_below_it),
		cmocka_unit_test(test_printed_bounds_are_the_bounds_in_shortest_form),
		cmocka_unit_test(test_bounds_rise),
		cmocka_unit_test(test_count_is_the_sum_of_the_buckets),
		cmocka_unit_test(test_merge_adds_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
