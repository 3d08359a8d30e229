/* Rows, rate limit and totals of a device: the small plain parts of the daemon. */
#include "support.h"

#include <unistd.h>

#include "core/clock.h"
#include "daemon/device_totals.h"
#include "daemon/pace.h"
#include "daemon/ratelimit.h"
#include "daemon/rows.h"
#include "probes/table.h"

#define SECOND 1000000000ULL

static void test_rows_are_taken_in_turn_until_none_is_left(void **state)
{
	struct session *s = (struct session *)state; /* never looked into */
	struct rows *r = rows_new(3);

	assert_non_null(r);
	assert_int_equal(rows_take(r, s), 0);
	assert_int_equal(rows_take(r, s), 1);
	rows_release(r, 0);
	/* a row just freed rests */
	assert_int_equal(rows_take(r, s), 2);
	assert_int_equal(rows_take(r, s), 0);
	assert_int_equal(rows_take(r, s), ROW_NONE);
	assert_ptr_equal(rows_at(r, 1), s);
	rows_release_all(r);
	assert_null(rows_at(r, 1));
	rows_free(r);
}

static void test_coming_and_going_stays_in_few_rows(void **state)
{
	struct session *s = (struct session *)state; /* never looked into */
	struct rows *r = rows_new(1000);
	uint32_t row = ROW_NONE, last, highest = 0;

	(void)state;
	rows_take(r, s);
	for (unsigned i = 0; i < 2000; i++) {
		last = row;
		row = rows_take(r, s);
		assert_int_not_equal(row, last);
		highest = row > highest ? row : highest;
		rows_release(r, row);
	}
	assert_true(highest < 32);
	for (unsigned i = 1; i < 1000; i++)
		assert_int_not_equal(rows_take(r, s), ROW_NONE);
	assert_int_equal(rows_take(r, s), ROW_NONE);
	rows_free(r);
}

static void test_rows_that_do_not_exist_are_nobodys(void **state)
{
	struct rows *r = rows_new(2);

	(void)state;
	assert_null(rows_at(r, 2));
	assert_null(rows_at(r, ROW_NONE));
	rows_release(r, 77);
	rows_free(r);
}

static void test_lines_beyond_the_limit_are_counted_and_told_with_the_next(void **state)
{
	struct ratelimit r = {0};
	unsigned held_back;

	(void)state;
	assert_true(ratelimit_allow(&r, SECOND, 2, &held_back));
	assert_true(ratelimit_allow(&r, 2 * SECOND, 2, &held_back));
	for (unsigned i = 0; i < 7; i++)
		assert_false(ratelimit_allow(&r, 3 * SECOND, 2, &held_back));
	assert_int_equal(held_back, 0);
	assert_true(ratelimit_allow(&r, 61 * SECOND, 2, &held_back));
	assert_int_equal(held_back, 7);
	assert_true(ratelimit_allow(&r, 62 * SECOND, 2, &held_back));
	assert_int_equal(held_back, 0);
}

static void test_events_and_read_errors_go_on_over_workers_and_never_back(void **state)
{
	static const struct table_layout layout = {.sessions = 1,
						   .samples_per_stream = SAMPLES_MIN};
	static struct device_totals totals;
	static struct counter_round round;
	uint64_t async[PORT_MAX + 1][ASYNC_EVENT_COUNT];
	uint64_t errors[PORT_MAX + 1][READ_ERROR_COUNT];

	(void)state;
	for (unsigned life = 0; life < 3; life++) {
		int fd;
		struct table *t = table_create(&layout, &fd);

		assert_non_null(t);
		close(fd);
		table_count_async(t, 1, 4);
		round.read_errors[0][READ_EIO] = 2;
		round.resets_seen = 5;
		device_totals_read(&totals, t, &round);
		/* a round with less than before is a lie */
		round.read_errors[0][READ_EIO] = 1;
		round.resets_seen = 4;
		device_totals_read(&totals, t, &round);
		device_totals_read(&totals, t, NULL);
		device_totals_fold(&totals);
		table_unmap(t);
	}
	device_totals_async(&totals, async);
	device_totals_errors(&totals, errors);
	assert_int_equal(async[1][4], 3);
	assert_int_equal(async[0][4], 0);
	assert_int_equal(errors[0][READ_EIO], 6);
	assert_int_equal(device_totals_resets(&totals), 15);
}

static void test_the_last_success_follows_a_clock_that_was_set_back(void **state)
{
	static const struct table_layout layout = {.sessions = 1,
						   .samples_per_stream = SAMPLES_MIN};
	static struct device_totals totals;
	static struct counter_round round;
	int fd;
	struct table *t = table_create(&layout, &fd);

	(void)state;
	assert_non_null(t);
	close(fd);
	round.success_wall_ns = 4000 * SECOND;
	device_totals_read(&totals, t, &round);
	assert_int_equal(totals.success_wall_ns, 4000 * SECOND);
	round.success_wall_ns = 1000 * SECOND;
	device_totals_read(&totals, t, &round);
	assert_int_equal(totals.success_wall_ns, 1000 * SECOND);
	/* A successor that has read nothing yet: what is known stays. */
	round.success_wall_ns = 0;
	device_totals_read(&totals, t, &round);
	assert_int_equal(totals.success_wall_ns, 1000 * SECOND);
	table_unmap(t);
}

static void test_looks_that_take_long_leave_main_time_for_all_else(void **state)
{
	const uint64_t s = NSEC_PER_SEC, ms = NSEC_PER_MSEC;

	(void)state;
	assert_int_equal(pace_next(10 * s, 0, 0), 10 * s + 50 * ms);
	assert_int_equal(pace_next(10 * s, 10 * s - ms, 10 * ms), 10 * s + 50 * ms);
	assert_int_equal(pace_next(10 * s, 10 * s - ms, 300 * ms), 11 * s + 199 * ms);
	assert_int_equal(pace_next(20 * s, 10 * s, 300 * ms), 20 * s + 50 * ms);
}

static void test_who_asks_gets_a_new_look_once_a_second_or_less_often(void **state)
{
	const uint64_t s = NSEC_PER_SEC, ms = NSEC_PER_MSEC;

	(void)state;
	assert_false(pace_renew(11 * s - 1, 10 * s, ms));
	assert_true(pace_renew(11 * s, 10 * s, ms));
	/* where looks take long, main has the time for all else */
	assert_false(pace_renew(12 * s - 1, 10 * s, 500 * ms));
	assert_true(pace_renew(12 * s, 10 * s, 500 * ms));
	assert_true(pace_renew(s, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_taken_in_turn_until_none_is_left),
		cmocka_unit_test(test_coming_and_going_stays_in_few_rows),
		cmocka_unit_test(test_rows_that_do_not_exist_are_nobodys),
		cmocka_unit_test(test_looks_that_take_long_leave_main_time_for_all_else),
		cmocka_unit_test(test_who_asks_gets_a_new_look_once_a_second_or_less_often),
		cmocka_unit_test(test_lines_beyond_the_limit_are_counted_and_told_with_the_next),
		cmocka_unit_test(test_events_and_read_errors_go_on_over_workers_and_never_back),
		cmocka_unit_test(test_the_last_success_follows_a_clock_that_was_set_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
