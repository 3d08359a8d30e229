#include "support.h"

#include <string.h>

#include "health/verdict.h"

/* Two operations that are on, as the rail thread would count their outcomes. */
struct world {
	struct op_books prev[OP_COUNT], now[OP_COUNT];
	enum verdict verdict;
	struct verdict_limits limits;
};

static void miss(struct world *w, enum op op)
{
	struct op_books *b = &w->now[op];

	b->misses++;
	b->miss_streak++;
	b->ok_streak = 0;
}

static void good(struct world *w, enum op op)
{
	w->now[op].ok++;
	w->now[op].ok_streak++;
	w->now[op].miss_streak = 0;
}

static enum verdict look(struct world *w)
{
	w->verdict = verdict_next(w->verdict, &w->limits, w->prev, w->now);
	memcpy(w->prev, w->now, sizeof(w->now));
	return w->verdict;
}

static struct world fresh(void)
{
	struct world w = {.verdict = VERDICT_UNKNOWN, .limits = {2, 3}};

	w.now[OP_SEND].interval_ns = w.now[OP_READ].interval_ns = 1000000000;
	return w;
}

static struct world healthy(void)
{
	struct world w = fresh();

	for (unsigned i = 0; i < 5; i++) {
		good(&w, OP_SEND);
		good(&w, OP_READ);
	}
	assert_int_equal(look(&w), VERDICT_OK);
	return w;
}

static void test_nothing_measured_is_unknown(void **state)
{
	struct world w = fresh();

	(void)state;
	assert_int_equal(look(&w), VERDICT_UNKNOWN);
	assert_int_equal(verdict_next(VERDICT_UNKNOWN, &w.limits, NULL, w.now), VERDICT_UNKNOWN);
}

static void test_first_ok_needs_one_of_each_operation(void **state)
{
	struct world w = fresh();

	(void)state;
	good(&w, OP_SEND);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_UNKNOWN);
	good(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_operation_that_is_off_does_not_hold_back_ok(void **state)
{
	struct world w = fresh();

	(void)state;
	w.now[OP_READ].interval_ns = 0;
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_all_operations_off_is_unknown(void **state)
{
	struct world w = healthy();

	(void)state;
	w.now[OP_SEND].interval_ns = w.now[OP_READ].interval_ns = 0;
	assert_int_equal(look(&w), VERDICT_UNKNOWN);
}

static void test_first_miss_degrades_second_in_a_row_fails(void **state)
{
	struct world w = healthy();

	(void)state;
	miss(&w, OP_SEND);
	good(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	miss(&w, OP_SEND);
	good(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_FAILING);
}

static void test_misses_of_two_operations_are_not_in_a_row(void **state)
{
	struct world w = healthy();

	(void)state;
	miss(&w, OP_SEND);
	miss(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
}

static void test_ok_again_after_three_of_every_operation(void **state)
{
	struct world w = healthy();

	(void)state;
	miss(&w, OP_SEND);
	miss(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	for (unsigned i = 0; i < 3; i++)
		good(&w, OP_SEND);
	good(&w, OP_READ);
	good(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	good(&w, OP_READ);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_failing_heals_by_way_of_degraded(void **state)
{
	struct world w = healthy();

	(void)state;
	miss(&w, OP_SEND);
	miss(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_FAILING);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_silence_without_outcomes_changes_nothing(void **state)
{
	struct world w = healthy();

	(void)state;
	assert_int_equal(look(&w), VERDICT_OK);
	miss(&w, OP_SEND);
	miss(&w, OP_SEND);
	look(&w);
	assert_int_equal(look(&w), VERDICT_FAILING);
}

static void test_what_healed_between_two_looks_counts_as_far_as_it_stands(void **state)
{
	struct world w = healthy();

	(void)state;
	miss(&w, OP_SEND);
	miss(&w, OP_SEND);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_DEGRADED);
	for (unsigned i = 0; i < 3; i++)
		good(&w, OP_SEND);
	look(&w);
	miss(&w, OP_SEND);
	for (unsigned i = 0; i < 3; i++)
		good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_limits_are_those_that_are_given(void **state)
{
	struct world w = healthy();

	(void)state;
	w.limits = (struct verdict_limits){.failing_after = 4, .ok_after = 6};
	for (unsigned i = 0; i < 3; i++) {
		miss(&w, OP_SEND);
		assert_int_equal(look(&w), VERDICT_DEGRADED);
	}
	miss(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_FAILING);
	good(&w, OP_READ);
	for (unsigned i = 0; i < 5; i++) {
		good(&w, OP_SEND);
		assert_int_equal(look(&w), VERDICT_DEGRADED);
	}
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_OK);
	/* Those who want to hear of each: one is enough, either way. */
	w.limits = (struct verdict_limits){.failing_after = 1, .ok_after = 1};
	miss(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_FAILING);
	good(&w, OP_SEND);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_misses_before_the_first_look_count(void **state)
{
	struct world w = fresh();

	(void)state;
	miss(&w, OP_SEND);
	miss(&w, OP_SEND);
	assert_int_equal(verdict_next(VERDICT_UNKNOWN, &w.limits, NULL, w.now), VERDICT_FAILING);
	good(&w, OP_SEND);
	good(&w, OP_READ);
	assert_int_equal(verdict_next(VERDICT_UNKNOWN, &w.limits, NULL, w.now), VERDICT_DEGRADED);
}

static void test_operation_switched_on_does_not_degrade(void **state)
{
	struct world w = healthy();

	(void)state;
	w.now[OP_WRITE].interval_ns = 1000000000;
	assert_int_equal(look(&w), VERDICT_OK);
	good(&w, OP_WRITE);
	assert_int_equal(look(&w), VERDICT_OK);
}

static void test_names_are_the_contracts(void **state)
{
	static const char *const causes[CAUSE_COUNT] = {
		"none", "local_port", "local_nic",     "local_host", "remote_nic",   "remote_host",
		"path", "congestion", "configuration", "monitor",    "inconclusive",
	};

	(void)state;
	for (unsigned i = 0; i < CAUSE_COUNT; i++)
		assert_string_equal(cause_name((enum cause)i), causes[i]);
	assert_string_equal(verdict_name(VERDICT_OK), "ok");
	assert_string_equal(verdict_name(VERDICT_DEGRADED), "degraded");
	assert_string_equal(verdict_name(VERDICT_FAILING), "failing");
	assert_string_equal(verdict_name(VERDICT_UNKNOWN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_measured_is_unknown),
		cmocka_unit_test(test_first_ok_needs_one_of_each_operation),
		cmocka_unit_test(test_operation_that_is_off_does_not_hold_back_ok),
		cmocka_unit_test(test_all_operations_off_is_unknown),
		cmocka_unit_test(test_first_miss_degrades_second_in_a_row_fails),
		cmocka_unit_test(test_misses_of_two_operations_are_not_in_a_row),
		cmocka_unit_test(test_ok_again_after_three_of_every_operation),
		cmocka_unit_test(test_failing_heals_by_way_of_degraded),
		cmocka_unit_test(test_silence_without_outcomes_changes_nothing),
		cmocka_unit_test(test_what_healed_between_two_looks_counts_as_far_as_it_stands),
		cmocka_unit_test(test_limits_are_those_that_are_given),
		cmocka_unit_test(test_misses_before_the_first_look_count),
		cmocka_unit_test(test_operation_switched_on_does_not_degrade),
		cmocka_unit_test(test_names_are_the_contracts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
