#include "support.h"

#include "health/window.h"

#define SEC 1000000000ULL

struct world {
	struct window window;
	struct op_books op[OP_COUNT];
	uint64_t now;
};

static void sample(struct world *w)
{
	window_add(&w->window, w->now, w->op);
}

static double loss(struct world *w)
{
	struct window_sums sums;
	double ratio;

	window_since(&w->window, w->now, w->op, &sums);
	return window_loss(&sums, &ratio) ? ratio : -1.0;
}

static void test_nothing_due_has_no_ratio(void **state)
{
	struct world w = {.now = 100 * SEC};

	(void)state;
	assert_true(loss(&w) < 0);
	sample(&w);
	w.now += SEC;
	w.op[OP_SEND].scheduled += 5;
	w.op[OP_SEND].not_attempted[SKIP_WORKER_STUCK] += 5;
	assert_true(loss(&w) < 0);
}

static void test_misses_are_loss_and_nobodys_skips_are_not(void **state)
{
	struct world w = {.now = 100 * SEC};
	struct op_books *b = &w.op[OP_SEND];

	(void)state;
	sample(&w);
	w.now += 10 * SEC;
	b->ok += 6;
	b->failed[FAIL_TIMEOUT] += 1;
	b->not_attempted[SKIP_QP_STALLED] += 1;
	b->not_attempted[SKIP_NOT_CONNECTED] += 1;
	b->not_attempted[SKIP_PEER_UNRESPONSIVE] += 1;
	b->not_attempted[SKIP_LOCAL_PORT_DOWN] += 50;
	b->not_attempted[SKIP_BUDGET] += 50;
	b->not_attempted[SKIP_DEVICE_ABSENT] += 50;
	b->aborted[ABORT_DRAIN] += 50;
	b->in_flight = 3;
	assert_true(loss(&w) > 0.399 && loss(&w) < 0.401);
}

static void test_late_is_not_loss(void **state)
{
	struct world w = {.now = 100 * SEC};

	(void)state;
	sample(&w);
	w.now += SEC;
	w.op[OP_READ].ok = 3;
	w.op[OP_READ].failed[FAIL_TIMEOUT] = 1;
	w.op[OP_READ].late = 1;
	assert_true(loss(&w) == 0.0);
}

static void test_late_from_before_the_window_does_not_go_below_zero(void **state)
{
	struct world w = {.now = 100 * SEC};

	(void)state;
	w.op[OP_SEND].failed[FAIL_TIMEOUT] = 4;
	sample(&w);
	w.now += SEC;
	w.op[OP_SEND].late = 4;
	w.op[OP_SEND].ok = 1;
	assert_true(loss(&w) == 0.0);
}

static void test_loss_older_than_a_minute_is_forgotten(void **state)
{
	struct world w = {.now = 100 * SEC};

	(void)state;
	sample(&w);
	w.op[OP_SEND].failed[FAIL_TIMEOUT] += 1;
	for (unsigned i = 0; i < 59; i++) {
		w.now += SEC;
		w.op[OP_SEND].ok += 1;
		sample(&w);
	}
	assert_true(loss(&w) > 0.0);
	for (unsigned i = 0; i < 3; i++) {
		w.now += SEC;
		w.op[OP_SEND].ok += 1;
		sample(&w);
	}
	assert_true(loss(&w) == 0.0);
}

static void test_length_is_what_the_samples_cover(void **state)
{
	struct world w = {.now = 100 * SEC};
	struct window_sums sums;

	(void)state;
	assert_int_equal(window_since(&w.window, w.now, w.op, &sums), 0);
	sample(&w);
	w.now += 5 * SEC;
	assert_int_equal(window_since(&w.window, w.now, w.op, &sums), 5 * SEC);
	for (unsigned i = 0; i < 200; i++) {
		sample(&w);
		w.now += SEC;
	}
	assert_true(window_since(&w.window, w.now, w.op, &sums) <= WINDOW_NS);
	assert_true(window_since(&w.window, w.now, w.op, &sums) >= WINDOW_NS - 2 * SEC);
}

static void test_many_looks_in_a_second_do_not_shorten_the_window(void **state)
{
	struct world w = {.now = 100 * SEC};
	struct window_sums sums;

	(void)state;
	for (unsigned i = 0; i < 700; i++) {
		sample(&w);
		w.now += SEC / 10;
	}
	assert_true(window_since(&w.window, w.now, w.op, &sums) > 55 * SEC);
}

static void test_old_samples_after_a_pause_are_not_used(void **state)
{
	struct world w = {.now = 100 * SEC};
	struct window_sums sums;

	(void)state;
	sample(&w);
	w.op[OP_SEND].ok = 10;
	w.now += 120 * SEC;
	assert_int_equal(window_since(&w.window, w.now, w.op, &sums), 0);
	assert_int_equal(sums.due, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_due_has_no_ratio),
		cmocka_unit_test(test_misses_are_loss_and_nobodys_skips_are_not),
		cmocka_unit_test(test_late_is_not_loss),
		cmocka_unit_test(test_late_from_before_the_window_does_not_go_below_zero),
		cmocka_unit_test(test_loss_older_than_a_minute_is_forgotten),
		cmocka_unit_test(test_length_is_what_the_samples_cover),
		cmocka_unit_test(test_many_looks_in_a_second_do_not_shorten_the_window),
		cmocka_unit_test(test_old_samples_after_a_pause_are_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
