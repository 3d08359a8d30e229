#include "support.h"

#include "chance.h"
#include "core/clock.h"
#include "probes/budget.h"

static void test_what_fits_is_never_refused(void **state)
{
	struct budget b = {.per_second = 10, .demand = 4 * budget_rate(NSEC_PER_SEC)};
	uint64_t turn = 12345;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_true(budget_take(&b, &turn));
	b = (struct budget){.per_second = 0, .demand = UINT64_MAX};
	assert_true(budget_take(&b, &turn));
}

static void test_everyone_gets_the_same_part_of_its_instants(void **state)
{
	enum { SESSIONS = 300, ROUNDS = 1000 };
	struct budget b = {.per_second = 70, .demand = SESSIONS * budget_rate(NSEC_PER_SEC)};
	struct chance chance = {7};
	unsigned total = 0;

	(void)state;
	for (unsigned s = 0; s < SESSIONS; s++) {
		uint64_t turn = chance_u64(&chance);
		unsigned n = 0;

		for (unsigned i = 0; i < ROUNDS; i++)
			n += budget_take(&b, &turn);
		assert_in_range(n, ROUNDS * 70 / SESSIONS, ROUNDS * 70 / SESSIONS + 1);
		total += n;
	}
	assert_in_range(total, 70 * ROUNDS - SESSIONS, 70 * ROUNDS + SESSIONS);
}

/* Beginnings that differ keep them apart: no second sees all of them at once. */
static void test_turns_are_spread(void **state)
{
	enum { SESSIONS = 1000 };
	struct budget b = {.per_second = 100, .demand = SESSIONS * budget_rate(NSEC_PER_SEC)};
	struct chance chance = {3};
	uint64_t turn[SESSIONS];

	(void)state;
	for (unsigned s = 0; s < SESSIONS; s++)
		turn[s] = chance_u64(&chance);
	for (unsigned second = 0; second < 50; second++) {
		unsigned n = 0;

		for (unsigned s = 0; s < SESSIONS; s++)
			n += budget_take(&b, &turn[s]);
		assert_in_range(n, 60, 140);
	}
}

static void test_a_demand_that_changes_owes_nobody_a_burst(void **state)
{
	struct budget b = {.per_second = 1};
	uint64_t turn = UINT64_MAX;
	struct chance chance = {5};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		unsigned n = 0;

		b.demand = budget_rate(NSEC_PER_SEC) * (4 + chance_below(&chance, 1000));
		for (unsigned k = 0; k < 4; k++)
			n += budget_take(&b, &turn);
		assert_in_range(n, 0, 2);
	}
}

static void test_slow_and_fast_operations_have_rates(void **state)
{
	(void)state;
	assert_int_equal(budget_rate(0), 0);
	assert_int_equal(budget_rate(NSEC_PER_SEC), 1000000);
	assert_int_equal(budget_rate(NSEC_PER_MSEC), 1000000000);
	assert_int_equal(budget_rate(3600 * NSEC_PER_SEC), 277);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_is_never_refused),
		cmocka_unit_test(test_everyone_gets_the_same_part_of_its_instants),
		cmocka_unit_test(test_turns_are_spread),
		cmocka_unit_test(test_a_demand_that_changes_owes_nobody_a_burst),
		cmocka_unit_test(test_slow_and_fast_operations_have_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
