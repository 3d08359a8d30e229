#include "support.h"

#include "probes/session_fsm.h"

#define EVENT_COUNT (SEV_DISABLE + 1)

/* The whole table: where nothing stands the state stays. */
static const struct {
	enum session_state from;
	enum session_event event;
	enum session_state to;
} moves[] = {
	{SESSION_IDLE, SEV_START, SESSION_RESOLVING},
	{SESSION_RESOLVING, SEV_RESOLVED, SESSION_CONNECTING},
	{SESSION_RESOLVING, SEV_BROKEN, SESSION_DRAINING},
	{SESSION_RESOLVING, SEV_REFUSED, SESSION_BACKOFF},
	{SESSION_CONNECTING, SEV_HELLO, SESSION_UP},
	{SESSION_CONNECTING, SEV_BROKEN, SESSION_DRAINING},
	{SESSION_CONNECTING, SEV_REFUSED, SESSION_BACKOFF},
	{SESSION_UP, SEV_BROKEN, SESSION_DRAINING},
	{SESSION_DRAINING, SEV_DRAINED, SESSION_BACKOFF},
	{SESSION_BACKOFF, SEV_RETRY, SESSION_IDLE},
	{SESSION_DISABLED, SEV_RETRY, SESSION_IDLE},
	{SESSION_IDLE, SEV_DISABLE, SESSION_DISABLED},
	{SESSION_RESOLVING, SEV_DISABLE, SESSION_DISABLED},
	{SESSION_CONNECTING, SEV_DISABLE, SESSION_DISABLED},
	{SESSION_UP, SEV_DISABLE, SESSION_DISABLED},
	{SESSION_DRAINING, SEV_DISABLE, SESSION_DISABLED},
	{SESSION_BACKOFF, SEV_DISABLE, SESSION_DISABLED},
};

static enum session_state expected(enum session_state from, enum session_event event)
{
	for (size_t i = 0; i < COUNT(moves); i++)
		if (moves[i].from == from && moves[i].event == event)
			return moves[i].to;
	return from;
}

static void test_every_state_answers_every_event_as_the_table_says(void **state)
{
	(void)state;
	for (unsigned s = 0; s < SESSION_STATE_COUNT; s++)
		for (unsigned e = 0; e < EVENT_COUNT; e++)
			assert_int_equal(
				session_next_state((enum session_state)s, (enum session_event)e),
				expected((enum session_state)s, (enum session_event)e));
}

static void test_up_is_reached_by_a_hello_only(void **state)
{
	(void)state;
	for (unsigned s = 0; s < SESSION_STATE_COUNT; s++)
		for (unsigned e = 0; e < EVENT_COUNT; e++)
			if (s != SESSION_UP &&
			    session_next_state((enum session_state)s, (enum session_event)e) ==
				    SESSION_UP) {
				assert_int_equal(s, SESSION_CONNECTING);
				assert_int_equal(e, SEV_HELLO);
			}
}

/* A QP that exists is drained before the next attempt: UP never falls straight into back-off. */
static void test_up_leaves_over_draining(void **state)
{
	(void)state;
	for (unsigned e = 0; e < SEV_DISABLE; e++) {
		enum session_state to = session_next_state(SESSION_UP, (enum session_event)e);

		assert_true(to == SESSION_UP || to == SESSION_DRAINING);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_state_answers_every_event_as_the_table_says),
		cmocka_unit_test(test_up_is_reached_by_a_hello_only),
		cmocka_unit_test(test_up_leaves_over_draining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
