#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "health/quantile.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_single_sample_is_every_quantile(void **state)
{
	uint64_t v[] = {7};

	(void)state;
	assert_int_equal(quantile_nearest_rank(v, 1, 1), 7);
	assert_int_equal(quantile_nearest_rank(v, 1, 50), 7);
	assert_int_equal(quantile_nearest_rank(v, 1, 100), 7);
}

static void test_rank_is_nearest_not_interpolated(void **state)
{
	uint64_t even[] = {40, 10, 30, 20};
	uint64_t odd[] = {5, 1, 3};

	(void)state;
	assert_int_equal(quantile_nearest_rank(even, 4, 50), 20);
	assert_int_equal(quantile_nearest_rank(even, 4, 51), 30);
	assert_int_equal(quantile_nearest_rank(even, 4, 99), 40);
	assert_int_equal(quantile_nearest_rank(odd, 3, 50), 3);
}

static void test_p99_of_a_hundred_leaves_one_out(void **state)
{
	uint64_t v[101];

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		v[i] = 100 - i;
	assert_int_equal(quantile_nearest_rank(v, 100, 99), 99);
	for (unsigned i = 0; i < 101; i++)
		v[i] = i + 1;
	assert_int_equal(quantile_nearest_rank(v, 101, 99), 100);
}

static void test_constant_and_sorted_input_is_selected(void **state)
{
	uint64_t same[1024], rising[1024];

	(void)state;
	for (unsigned i = 0; i < 1024; i++) {
		same[i] = 9;
		rising[i] = i;
	}
	assert_int_equal(quantile_nearest_rank(same, 1024, 99), 9);
	assert_int_equal(quantile_nearest_rank(rising, 1024, 50), 511);
}

static void test_selection_agrees_with_sorting(void **state)
{
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	printf("seed %u\n", seed);
	srand(seed);
	for (unsigned round = 0; round < 20000; round++) {
		size_t n = 1 + (size_t)rand() % 40;
		unsigned percent = 1 + (unsigned)rand() % 100;
		uint64_t v[40], sorted[40];
		size_t rank;

		for (size_t i = 0; i < n; i++)
			v[i] = sorted[i] = (uint64_t)rand() % (1 + (unsigned)rand() % 50);
		qsort(sorted, n, sizeof(*sorted), by_value);
		for (rank = 1; rank * 100 < percent * n; rank++)
			;
		assert_int_equal(quantile_nearest_rank(v, n, percent), sorted[rank - 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_sample_is_every_quantile),
		cmocka_unit_test(test_rank_is_nearest_not_interpolated),
		cmocka_unit_test(test_p99_of_a_hundred_leaves_one_out),
		cmocka_unit_test(test_constant_and_sorted_input_is_selected),
		cmocka_unit_test(test_selection_agrees_with_sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
