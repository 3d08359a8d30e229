/* The wall clock is set while something is wrong: who is blamed does not depend on it. */
#include "judge_world.h"

static void one_rail(struct world *w, unsigned n)
{
	static const char *const names[] = {"host2", "host3", "host4", "host5", "host6"};
	static const char *const addresses[] = {"10.99.0.2", "10.99.0.3", "10.99.0.4", "10.99.0.5",
						"10.99.0.6"};

	world_init(w);
	add_rail(w, "rxe0");
	for (unsigned i = 0; i < n; i++)
		add_session(w, names[i], "rxe0", addresses[i]);
}

/* n peers, each with a session on rxe0 and one on rxe1. */
static void assert_session(const struct world *w, size_t i, enum verdict verdict, enum cause cause,
			   const char *words)
{
	const struct snap_session *s = &w->s->sessions[i];

	assert_string_equal(verdict_name(s->verdict), verdict_name(verdict));
	assert_string_equal(cause_name(s->cause), cause_name(cause));
	assert_says(s->reason, words);
}

static void assert_frozen_across_a_step(int64_t step)
{
	struct world w;

	one_rail(&w, 2);
	answer(&w, 0, OP_SEND);
	answer(&w, 0, OP_READ);
	look(&w);
	for (unsigned i = 0; i < 3; i++) {
		miss(&w, 0, OP_SEND);
		answer(&w, 0, OP_READ);
		look(&w);
	}
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "stopped answering");
	w.wall += (uint64_t)step;
	for (unsigned i = 0; i < 3; i++) {
		miss(&w, 0, OP_SEND);
		answer(&w, 0, OP_READ);
		look(&w);
		assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "stopped answering");
	}
	/* Now it is cut off for good, and what answered before the step does not answer any more.
	 */
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "host2 is silent");
	world_free(&w);
}

static void test_clock_step_in_an_outage_does_not_change_what_answers(void **state)
{
	(void)state;
	assert_frozen_across_a_step(-3600 * (int64_t)SEC);
	assert_frozen_across_a_step(3600 * (int64_t)SEC);
}

static void assert_refused_across_a_step(int64_t step)
{
	struct world w;

	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	look(&w);
	w.wall += (uint64_t)step;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "refuses connections");
	for (unsigned i = 0; i < 62; i++) /* no attempt since then: history */
		look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "host2 is silent");
	world_free(&w);
}

static void test_clock_step_makes_an_error_neither_older_nor_younger(void **state)
{
	(void)state;
	assert_refused_across_a_step(-3600 * (int64_t)SEC);
	assert_refused_across_a_step(3600 * (int64_t)SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_step_in_an_outage_does_not_change_what_answers),
		cmocka_unit_test(test_clock_step_makes_an_error_neither_older_nor_younger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
