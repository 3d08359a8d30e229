#include "support.h"

#include "daemon/heartbeat.h"

#define SECOND 1000000000ULL
#define NOW (1000 * SECOND)

static struct heartbeat_input healthy(void)
{
	struct heartbeat_input in = {
		.now_ns = NOW,
		.started_ns = NOW - 100 * SECOND,
		.ready = true,
		.counters_interval_ns = 5 * SECOND,
	};

	for (unsigned i = 0; i < WORKER_LOOPS; i++)
		in.beat.mono_ns[i] = NOW - SECOND / 2;
	return in;
}

static void test_loops_that_beat_are_not_stuck(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	assert_int_equal(heartbeat_stuck_since(&in), 0);
	assert_int_equal(heartbeat_counters_stuck_since(&in), 0);
}

static void test_rail_or_control_silent_for_two_seconds_is_stuck_since_its_last_beat(void **state)
{
	(void)state;
	for (unsigned loop = WORKER_RAIL; loop <= WORKER_CONTROL; loop++) {
		struct heartbeat_input in = healthy();

		in.beat.mono_ns[loop] = NOW - 2 * SECOND;
		assert_int_equal(heartbeat_stuck_since(&in), 0);
		in.beat.mono_ns[loop] = NOW - 2 * SECOND - 1;
		assert_int_equal(heartbeat_stuck_since(&in), NOW - 2 * SECOND - 1);
	}
}

static void test_the_longer_silence_of_both_counts(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	in.beat.mono_ns[WORKER_RAIL] = NOW - 5 * SECOND;
	in.beat.mono_ns[WORKER_CONTROL] = NOW - 9 * SECOND;
	assert_int_equal(heartbeat_stuck_since(&in), NOW - 9 * SECOND);
}

static void test_counter_loop_alone_does_not_make_the_worker_stuck(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	in.beat.mono_ns[WORKER_COUNTER] = NOW - 90 * SECOND;
	assert_int_equal(heartbeat_stuck_since(&in), 0);
	assert_int_not_equal(heartbeat_counters_stuck_since(&in), 0);
}

static void test_counter_loop_may_be_silent_for_three_intervals_or_ten_seconds(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	in.beat.mono_ns[WORKER_COUNTER] = NOW - 14 * SECOND;
	assert_int_equal(heartbeat_counters_stuck_since(&in), 0);
	in.counters_interval_ns = SECOND;
	assert_int_equal(heartbeat_counters_stuck_since(&in), in.beat.mono_ns[WORKER_COUNTER]);
	in.beat.mono_ns[WORKER_COUNTER] = NOW - 9 * SECOND;
	assert_int_equal(heartbeat_counters_stuck_since(&in), 0);
}

static void test_worker_that_opens_its_device_has_ten_seconds(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	memset(&in.beat, 0, sizeof(in.beat));
	in.ready = false;
	in.started_ns = NOW - 9 * SECOND;
	assert_int_equal(heartbeat_stuck_since(&in), 0);
	in.started_ns = NOW - 11 * SECOND;
	assert_int_equal(heartbeat_stuck_since(&in), NOW - 11 * SECOND);
}

static void test_beats_from_before_the_start_or_from_the_future_prove_nothing(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	in.beat.mono_ns[WORKER_RAIL] = NOW + 50 * SECOND;
	assert_int_equal(heartbeat_stuck_since(&in), 0);
	in.beat.mono_ns[WORKER_RAIL] = 1;
	assert_int_equal(heartbeat_stuck_since(&in), in.started_ns);
}

static void test_worker_for_counters_only_needs_no_other_loops(void **state)
{
	struct heartbeat_input in = healthy();

	(void)state;
	in.counters_only = true;
	in.beat.mono_ns[WORKER_RAIL] = in.beat.mono_ns[WORKER_CONTROL] = 0;
	assert_int_equal(heartbeat_stuck_since(&in), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_that_beat_are_not_stuck),
		cmocka_unit_test(
			test_rail_or_control_silent_for_two_seconds_is_stuck_since_its_last_beat),
		cmocka_unit_test(test_the_longer_silence_of_both_counts),
		cmocka_unit_test(test_counter_loop_alone_does_not_make_the_worker_stuck),
		cmocka_unit_test(
			test_counter_loop_may_be_silent_for_three_intervals_or_ten_seconds),
		cmocka_unit_test(test_worker_that_opens_its_device_has_ten_seconds),
		cmocka_unit_test(test_beats_from_before_the_start_or_from_the_future_prove_nothing),
		cmocka_unit_test(test_worker_for_counters_only_needs_no_other_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
