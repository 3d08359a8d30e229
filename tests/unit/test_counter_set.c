#include "support.h"

#include "probes/counter_set.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct counter_set));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void see_all(struct counter_set *set, const char *const *names, size_t n)
{
	counter_set_begin(set);
	for (size_t i = 0; i < n; i++)
		assert_true(counter_set_see(set, 1, SOURCE_COUNTERS, names[i]));
	counter_set_end(set);
}

static void test_files_are_kept_sorted_in_whatever_order_they_come(void **state)
{
	struct counter_set *set = *state;

	counter_set_begin(set);
	counter_set_see(set, 2, SOURCE_COUNTERS, "a");
	counter_set_see(set, 1, SOURCE_HW_COUNTERS, "a");
	counter_set_see(set, 1, SOURCE_COUNTERS, "b");
	counter_set_see(set, 1, SOURCE_COUNTERS, "a");
	counter_set_see(set, 0, SOURCE_HW_COUNTERS, "z");
	counter_set_end(set);
	assert_int_equal(set->n, 5);
	assert_string_equal(set->files[0].name, "z");
	assert_string_equal(set->files[1].name, "a");
	assert_int_equal(set->files[1].source, SOURCE_COUNTERS);
	assert_string_equal(set->files[2].name, "b");
	assert_int_equal(set->files[3].source, SOURCE_HW_COUNTERS);
	assert_int_equal(set->files[4].port, 2);
}

static void test_what_is_known_of_a_file_survives_while_it_is_there(void **state)
{
	static const char *const before[] = {"m", "c", "x"}, *const after[] = {"x", "a", "m"};
	struct counter_set *set = *state;

	see_all(set, before, 3);
	set->files[1].last = 77; /* m */
	set->files[1].has_last = true;
	see_all(set, after, 3);
	assert_int_equal(set->n, 3);
	assert_string_equal(set->files[0].name, "a");
	assert_string_equal(set->files[1].name, "m");
	assert_int_equal(set->files[1].last, 77);
	assert_true(set->files[1].has_last);
	assert_false(set->files[0].has_last);
}

static void test_file_that_left_and_came_back_is_new(void **state)
{
	static const char *const with[] = {"a", "b"}, *const without[] = {"a"};
	struct counter_set *set = *state;

	see_all(set, with, 2);
	set->files[1].has_last = true;
	see_all(set, without, 1);
	assert_int_equal(set->n, 1);
	see_all(set, with, 2);
	assert_false(set->files[1].has_last);
}

static void test_full_set_refuses_new_files_and_keeps_known_ones(void **state)
{
	struct counter_set *set = *state;
	char name[FACT_NAME];

	counter_set_begin(set);
	for (unsigned i = 0; i < COUNTER_MAX; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		assert_true(counter_set_see(set, 1, SOURCE_HW_COUNTERS, name));
	}
	assert_false(counter_set_see(set, 1, SOURCE_HW_COUNTERS, "one_more"));
	assert_true(counter_set_see(set, 1, SOURCE_HW_COUNTERS, "c4095"));
	counter_set_end(set);
	assert_int_equal(set->n, COUNTER_MAX);
}

static void test_retry_asks_all_files_again(void **state)
{
	static const char *const names[] = {"a", "b"};
	struct counter_set *set = *state;

	see_all(set, names, 2);
	set->files[0].skip = 5;
	set->files[1].skip = 11;
	counter_set_retry(set);
	assert_int_equal(set->files[0].skip, 0);
	assert_int_equal(set->files[1].skip, 0);
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SET_TEST(test_files_are_kept_sorted_in_whatever_order_they_come),
		SET_TEST(test_what_is_known_of_a_file_survives_while_it_is_there),
		SET_TEST(test_file_that_left_and_came_back_is_new),
		SET_TEST(test_full_set_refuses_new_files_and_keeps_known_ones),
		SET_TEST(test_retry_asks_all_files_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
