#include "support.h"

#include "core/clock.h"
#include "health/hold.h"

#define SEC NSEC_PER_SEC
#define HELD (60 * SEC)

static struct hold hold;

static int forget(void **state)
{
	(void)state;
	hold = (struct hold){0};
	return 0;
}

static void say(uint64_t second, enum rule_state said, bool busy, enum rule_state then)
{
	enum rule_state before = hold.state;

	assert_int_equal(hold_next(&hold, said, busy, second * SEC, HELD), before != then);
	assert_int_equal(hold.state, then);
}

static void test_a_level_falls_when_it_was_not_reached_for_the_hold(void **state)
{
	(void)state;
	say(10, RULE_OK, true, RULE_OK);
	say(15, RULE_CRITICAL, true, RULE_CRITICAL);
	say(60, RULE_CRITICAL, true, RULE_CRITICAL);
	say(119, RULE_OK, true, RULE_CRITICAL);
	say(120, RULE_OK, true, RULE_OK);
}

static void test_below_a_level_that_has_fallen_the_lower_one_is_held(void **state)
{
	(void)state;
	say(10, RULE_CRITICAL, true, RULE_CRITICAL);
	say(40, RULE_WARNING, true, RULE_CRITICAL);
	say(70, RULE_OK, true, RULE_WARNING);
	say(99, RULE_OK, true, RULE_WARNING);
	say(100, RULE_NOT_APPLICABLE, true, RULE_NOT_APPLICABLE);
}

static void test_what_is_only_remembered_is_not_held_anew(void **state)
{
	(void)state;
	say(10, RULE_CRITICAL, true, RULE_CRITICAL);
	say(40, RULE_CRITICAL, false, RULE_CRITICAL);
	say(69, RULE_CRITICAL, false, RULE_CRITICAL);
	say(70, RULE_CRITICAL, false, RULE_OK);
}

/* A hold that is shorter than the memory of what is counted. */
static void test_what_is_only_remembered_does_not_come_back(void **state)
{
	(void)state;
	say(10, RULE_CRITICAL, true, RULE_CRITICAL);
	say(70, RULE_CRITICAL, false, RULE_OK);
	say(75, RULE_CRITICAL, false, RULE_OK);
	say(80, RULE_WARNING, false, RULE_OK);
	say(85, RULE_CRITICAL, true, RULE_CRITICAL);
	say(145, RULE_WARNING, false, RULE_OK);
	say(150, RULE_OK, false, RULE_OK);
}

static void test_what_is_over_does_not_come_back_with_a_longer_hold(void **state)
{
	(void)state;
	for (enum rule_state level = RULE_WARNING; level <= RULE_CRITICAL; level++) {
		hold = (struct hold){0};
		say(10, level, true, level);
		assert_true(hold_next(&hold, RULE_OK, true, 12 * SEC, SEC));
		assert_int_equal(hold.state, RULE_OK);
		say(15, RULE_OK, true, RULE_OK);
	}
}

/* A limit that a reload lowered is reached by what the window still knows. */
static void test_what_is_remembered_is_held_from_when_it_first_reaches_a_level(void **state)
{
	(void)state;
	say(10, RULE_WARNING, true, RULE_WARNING);
	say(40, RULE_CRITICAL, false, RULE_CRITICAL);
	say(99, RULE_CRITICAL, false, RULE_CRITICAL);
	say(100, RULE_OK, false, RULE_OK);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup(fn, forget)
	const struct CMUnitTest tests[] = {
		T(test_a_level_falls_when_it_was_not_reached_for_the_hold),
		T(test_below_a_level_that_has_fallen_the_lower_one_is_held),
		T(test_what_is_only_remembered_is_not_held_anew),
		T(test_what_is_only_remembered_does_not_come_back),
		T(test_what_is_over_does_not_come_back_with_a_longer_hold),
		T(test_what_is_remembered_is_held_from_when_it_first_reaches_a_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
