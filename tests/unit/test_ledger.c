#include "support.h"

#include "chance.h"
#include "probes/ledger.h"

static void test_a_success_enters_latency_and_ends_the_streak(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_skip(&b, SKIP_NOT_CONNECTED, 3);
	ledger_sent(&b, 100);
	ledger_ok(&b, 7000, false, 50, 200);
	assert_int_equal(b.ok, 1);
	assert_int_equal(b.rtt_sum_ns, 7000);
	assert_int_equal(b.rtt_count, 1);
	assert_int_equal(b.miss_streak, 0);
	assert_int_equal(b.ok_streak, 1);
	assert_int_equal(b.last_attempt_wall_ns, 100);
	assert_int_equal(b.last_success_wall_ns, 200);
	assert_int_equal(b.last_success_ns, 50);
	assert_true(op_books_balanced(&b));
}

static void test_self_delayed_is_ok_but_no_latency(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_sent(&b, 1);
	ledger_ok(&b, 99000000, true, 2, 2);
	assert_int_equal(b.ok, 1);
	assert_int_equal(b.self_delayed, 1);
	assert_int_equal(b.rtt_count, 0);
	assert_int_equal(b.rtt_sum_ns, 0);
	assert_true(op_books_balanced(&b));
}

static void test_late_is_a_subset_of_failed_and_enters_latency(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_sent(&b, 1);
	ledger_fail(&b, FAIL_TIMEOUT);
	assert_int_equal(b.in_flight, 0);
	ledger_late(&b, 600000000, 4, 3);
	assert_int_equal(b.failed[FAIL_TIMEOUT], 1);
	assert_int_equal(b.late, 1);
	assert_int_equal(b.ok, 0);
	assert_int_equal(b.rtt_count, 1);
	assert_int_equal(b.rtt_sum_ns, 600000000);
	assert_int_equal(b.last_success_wall_ns, 3);
	assert_int_equal(b.last_success_ns, 4);
	assert_true(op_books_balanced(&b));
}

static void test_misses_are_failures_and_three_kinds_of_skips(void **state)
{
	const bool is_miss[SKIP_COUNT] = {
		[SKIP_NOT_CONNECTED] = true,
		[SKIP_QP_STALLED] = true,
		[SKIP_PEER_UNRESPONSIVE] = true,
	};

	(void)state;
	for (unsigned i = 0; i < SKIP_COUNT; i++) {
		struct op_books b = {0};

		assert_int_equal(ledger_skip_is_miss((enum skip_reason)i), is_miss[i]);
		ledger_skip(&b, (enum skip_reason)i, 1);
		assert_int_equal(b.misses, is_miss[i]);
	}
	for (unsigned i = 0; i < FAIL_COUNT; i++) {
		struct op_books b = {0};

		ledger_sent(&b, 1);
		ledger_fail(&b, (enum fail_reason)i);
		assert_int_equal(b.misses, 1);
	}
	for (unsigned i = 0; i < ABORT_COUNT; i++) {
		struct op_books b = {0};

		ledger_sent(&b, 1);
		ledger_abort(&b, (enum abort_reason)i);
		assert_int_equal(b.misses, 0);
	}
}

static void test_double_misses_count_each_that_follows_a_miss(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_skip(&b, SKIP_QP_STALLED, 1);
	assert_int_equal(b.double_misses, 0);
	ledger_skip(&b, SKIP_QP_STALLED, 1);
	assert_int_equal(b.double_misses, 1);
	ledger_skip(&b, SKIP_NOT_CONNECTED, 5); /* at once is the same as one by one */
	assert_int_equal(b.double_misses, 6);
	assert_int_equal(b.miss_streak, 7);
	ledger_sent(&b, 1);
	ledger_ok(&b, 1, false, 1, 1);
	ledger_skip(&b, SKIP_NOT_CONNECTED, 5);
	assert_int_equal(b.double_misses, 10);
}

static void test_what_is_nobodys_loss_leaves_the_streaks_alone(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_skip(&b, SKIP_QP_STALLED, 1);
	ledger_skip(&b, SKIP_LOCAL_PORT_DOWN, 4);
	ledger_sent(&b, 1);
	ledger_abort(&b, ABORT_DRAIN);
	assert_int_equal(b.miss_streak, 1);
	ledger_skip(&b, SKIP_QP_STALLED, 1);
	assert_int_equal(b.double_misses, 1);
}

/* What was in flight and has failed may still come late, so the walk keeps both counts itself. */
struct walk {
	struct op_books b;
	uint64_t in_flight, overdue, instants, misses;
};

static void fail_one(struct walk *w, struct chance *chance)
{
	enum fail_reason reason = (enum fail_reason)chance_below(chance, FAIL_COUNT);

	ledger_fail(&w->b, reason);
	w->in_flight--;
	w->misses++;
	w->overdue += reason == FAIL_TIMEOUT;
}

static void one_event(struct walk *w, struct chance *chance)
{
	enum skip_reason skip = (enum skip_reason)chance_below(chance, SKIP_COUNT);
	uint64_t n = chance_below(chance, 4);

	switch (chance_below(chance, 6)) {
	case 0:
		ledger_skip(&w->b, skip, n);
		w->instants += n;
		w->misses += ledger_skip_is_miss(skip) ? n : 0;
		break;
	case 1:
		ledger_sent(&w->b, 1);
		w->instants++;
		w->in_flight++;
		break;
	case 2:
		if (w->in_flight) {
			ledger_ok(&w->b, 10, chance_below(chance, 2), 2, 2);
			w->in_flight--;
		}
		break;
	case 3:
		if (w->in_flight)
			fail_one(w, chance);
		break;
	case 4:
		if (w->in_flight) {
			ledger_abort(&w->b, (enum abort_reason)chance_below(chance, ABORT_COUNT));
			w->in_flight--;
		}
		break;
	default:
		if (w->overdue) {
			ledger_late(&w->b, 10, 3, 3);
			w->overdue--;
		}
		break;
	}
}

static void test_random_lives_keep_the_books_balanced(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct chance chance = {seed};
		struct walk w = {0};

		for (unsigned i = 0; i < 2000; i++) {
			struct op_books before = w.b;

			one_event(&w, &chance);
			assert_true(op_books_balanced(&w.b));
			assert_int_equal(w.b.scheduled, w.instants);
			assert_int_equal(w.b.in_flight, w.in_flight);
			assert_int_equal(w.b.misses, w.misses);
			assert_true(w.b.double_misses <= w.b.misses);
			assert_int_equal(w.b.rtt_count, w.b.ok + w.b.late - w.b.self_delayed);
			assert_int_equal(w.b.rtt_sum_ns, 10 * w.b.rtt_count);
			assert_true(w.b.late <= op_books_failed(&w.b));
			assert_true(w.b.ok >= before.ok && w.b.sent >= before.sent);
			assert_true(op_books_failed(&w.b) >= op_books_failed(&before));
			assert_true(op_books_aborted(&w.b) >= op_books_aborted(&before));
		}
	}
}

static void test_imbalance_is_seen(void **state)
{
	struct op_books b = {0};

	(void)state;
	ledger_sent(&b, 1);
	b.in_flight = 0;
	assert_false(op_books_balanced(&b));
	b.in_flight = 1;
	b.scheduled++;
	assert_false(op_books_balanced(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_success_enters_latency_and_ends_the_streak),
		cmocka_unit_test(test_self_delayed_is_ok_but_no_latency),
		cmocka_unit_test(test_late_is_a_subset_of_failed_and_enters_latency),
		cmocka_unit_test(test_misses_are_failures_and_three_kinds_of_skips),
		cmocka_unit_test(test_double_misses_count_each_that_follows_a_miss),
		cmocka_unit_test(test_what_is_nobodys_loss_leaves_the_streaks_alone),
		cmocka_unit_test(test_random_lives_keep_the_books_balanced),
		cmocka_unit_test(test_imbalance_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
