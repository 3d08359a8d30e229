/* The operations one by one: who serves them, what they take, where they land, and what happens
 * where a device or a peer cannot. */
#include "support.h"

#include "world.h"

#define TLV_SCRATCH 9 /* of probes/wire.c */

static const struct op_config all_ops[OP_COUNT] = {OP_ON(64), OP_ON(64), OP_ON(64), OP_ON(8)};
static const struct fake_knobs good;

static void assert_runs(struct host *h, enum op op)
{
	struct op_books b = host_books(h, 0, op);

	assert_int_equal(host_conn(h, 0).op_lack[op], OP_LACK_NONE);
	assert_int_equal(b.interval_ns, WORLD_INTERVAL_NS);
	assert_in_range(b.ok, 24, 26);
	assert_int_equal(b.scheduled, b.ok);
	assert_int_equal(b.rtt_sum_ns / b.rtt_count, 2 * FABRIC_DELAY_NS);
}

/* No schedule and no books: what was never possible is not lost. */
static void assert_lacks(struct host *h, enum op op, enum op_lack lack)
{
	struct op_books b = host_books(h, 0, op);

	assert_int_equal(host_conn(h, 0).op_lack[op], lack);
	assert_int_equal(b.interval_ns, 0);
	assert_int_equal(b.scheduled, 0);
	assert_int_equal(b.misses, 0);
}

static void test_all_four_operations_succeed_and_are_booked_exactly(void **state)
{
	struct pair p = world_pair_of(all_ops, &good, &good);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_runs(p.a, op);
	assert_int_equal(fabric_reads(p.b->dev), host_books(p.a, 0, OP_READ).sent);
	assert_int_equal(fabric_writes(p.b->dev), host_books(p.a, 0, OP_WRITE).sent);
	assert_int_equal(fabric_atomics(p.b->dev), host_books(p.a, 0, OP_ATOMIC).sent);
	/* Neither gave a READ something else to find. */
	assert_int_equal(host_books(p.a, 0, OP_READ).failed[FAIL_CORRUPT], 0);
	assert_true(host_stop(p.a) && host_stop(p.b));
}

static void test_read_write_and_atomic_take_no_srq_entry(void **state)
{
	static const struct op_config ops[OP_COUNT] = {OP_OFF, OP_ON(64), OP_ON(64), OP_ON(8)};
	struct pair p = world_pair_of(ops, &good, &good);
	uint64_t a = fabric_srq_taken(p.a->dev), b = fabric_srq_taken(p.b->dev);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = OP_READ; op < OP_COUNT; op++)
		assert_runs(p.a, op);
	assert_int_equal(fabric_srq_taken(p.a->dev), a);
	assert_int_equal(fabric_srq_taken(p.b->dev), b);
}

static void test_four_operations_never_stall_each_other(void **state)
{
	/* Whatever the intervals: what they have in common is shared out among them. */
	static const uint64_t ms[][OP_COUNT] = {
		{200, 200, 200, 200},
		{1000, 1000, 10000, 0},
		{200, 300, 500, 0},
		{100, 250, 400, 1000},
	};
	struct pair p = world_pair_of(all_ops, &good, &good);

	(void)state;
	for (unsigned i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct wish w = {.type = WISH_CONFIG, .config = p.a->cfg};

		for (unsigned op = 0; op < OP_COUNT; op++)
			w.config.op[op].interval_ns = ms[i][op] * NSEC_PER_MSEC;
		host_wish(p.a, &w);
		host_remove_session(p.a, 0, ABORT_RELOAD);
		world_run(NSEC_PER_SEC);
		host_session(p.a, 0, "host2", "10.0.0.2");
		assert_up(p.a, 0);
		world_run(60 * NSEC_PER_SEC);
		for (unsigned op = 0; op < OP_COUNT; op++) {
			struct op_books b = host_books(p.a, 0, op);

			assert_int_equal(op_books_not_attempted(&b), 0);
			assert_true(!ms[i][op] || b.ok >= 60000 / ms[i][op] - 1);
		}
	}
}

static const struct op_config patient[OP_COUNT] = {
	{WORLD_INTERVAL_NS, 500 * NSEC_PER_MSEC, 64, 0},
	{WORLD_INTERVAL_NS, 500 * NSEC_PER_MSEC, 64, 0},
	{WORLD_INTERVAL_NS, 500 * NSEC_PER_MSEC, 64, 0},
	{WORLD_INTERVAL_NS, 500 * NSEC_PER_MSEC, 8, 0},
};

static void test_a_slow_request_is_no_stall_for_what_comes_due_meanwhile(void **state)
{
	struct pair p = world_pair_of(patient, &good, &good);

	(void)state;
	world_run(NSEC_PER_SEC);
	for (unsigned i = 0; i < 20; i++) {
		/* For a moment a round trip takes longer than the next operation is away. */
		fabric_set_path(p.a->dev, p.b->dev,
				&(struct fabric_path){.delay_ns = 70 * NSEC_PER_MSEC});
		world_run(40 * NSEC_PER_MSEC);
		fabric_set_path(p.a->dev, p.b->dev,
				&(struct fabric_path){.delay_ns = FABRIC_DELAY_NS});
		world_run(370 * NSEC_PER_MSEC);
	}
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books b = host_books(p.a, 0, op);

		assert_int_equal(b.misses, 0);
		assert_int_equal(op_books_not_attempted(&b), 0);
		/* That it waited for the QP is not our own lateness. */
		assert_int_equal(b.self_delayed, 0);
	}
}

/* Four round trips of 60 ms do not fit into 200 ms: they share what there is. */
static void test_where_round_trips_are_slow_no_operation_waits_for_ever(void **state)
{
	struct pair p = world_pair_of(patient, &good, &good);
	uint64_t most = 0, least = UINT64_MAX;

	(void)state;
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){.delay_ns = 60 * NSEC_PER_MSEC});
	world_run(20 * NSEC_PER_SEC);
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t ok = host_books(p.a, 0, op).ok;

		most = ok > most ? ok : most;
		least = ok < least ? ok : least;
	}
	assert_true(least > most / 2);
}

static void test_a_request_that_hangs_stalls_the_others(void **state)
{
	struct pair p = world_pair_of(patient, &good, &good);
	uint64_t stalled = 0, timeouts = 0;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){FABRIC_DELAY_NS, .drop = true});
	/* Less than the QP is patient: 7 x 67 ms. */
	world_run(400 * NSEC_PER_MSEC);
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){FABRIC_DELAY_NS});
	world_run(2 * NSEC_PER_SEC);
	for (unsigned op = 0; op < OP_COUNT; op++) {
		stalled += host_books(p.a, 0, op).not_attempted[SKIP_QP_STALLED];
		timeouts += host_books(p.a, 0, op).failed[FAIL_TIMEOUT];
	}
	/* Eight were due, one was out, and the last may have waited long enough. */
	assert_in_range(stalled, 4, 7);
	assert_true(timeouts <= 1);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

/* --- silence --- */

static const struct op_config send_only[OP_COUNT] = {OP_ON(64), OP_OFF, OP_OFF, OP_OFF};

/* All that may wait for an answer does, nothing one-sided is on: nothing would ever be posted. */
static void test_a_frozen_peer_that_loses_its_power_is_noticed_by_send_alone(void **state)
{
	struct pair p = world_pair_of(send_only, &good, &good);

	(void)state;
	world_run(NSEC_PER_SEC);
	host_freeze(p.b, true);
	world_run(30 * NSEC_PER_SEC);
	assert_int_equal(host_conn(p.a, 0).state, SESSION_UP);
	fabric_set_dark(p.b->dev, true);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, 15 * NSEC_PER_SEC));
	host_kill(p.b);
}

static void test_nudges_take_no_receive_and_are_in_no_books(void **state)
{
	static const struct op_config rare[OP_COUNT] = {
		OP_OFF, {60 * NSEC_PER_SEC, WORLD_DEADLINE_NS, 64, 0}, OP_OFF, OP_OFF};
	struct pair p = world_pair_of(rare, &good, &good);
	uint64_t taken = fabric_srq_taken(p.b->dev), done = fabric_send_completions(p.a->dev);

	(void)state;
	world_run(120 * NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_READ).ok, 2);
	assert_int_equal(host_books(p.a, 0, OP_WRITE).sent, 0);
	assert_int_equal(fabric_srq_taken(p.b->dev), taken);
	assert_in_range(fabric_send_completions(p.a->dev) - done, 11, 15);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

/* --- what a device lacks --- */

static void test_a_device_without_atomics_probes_the_rest(void **state)
{
	struct pair p = world_pair_of(all_ops, &(struct fake_knobs){.no_atomics = true}, &good);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = OP_SEND; op < OP_ATOMIC; op++)
		assert_runs(p.a, op);
	assert_lacks(p.a, OP_ATOMIC, OP_LACK_DEVICE);
}

static void test_a_peer_without_atomics_is_probed_with_the_rest(void **state)
{
	struct pair p = world_pair_of(all_ops, &good, &(struct fake_knobs){.no_atomics = true});

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = OP_SEND; op < OP_ATOMIC; op++)
		assert_runs(p.a, op);
	assert_lacks(p.a, OP_ATOMIC, OP_LACK_PEER);
}

static void test_a_device_that_begins_no_reads_probes_with_the_rest(void **state)
{
	struct pair p = world_pair_of(all_ops, &(struct fake_knobs){.no_reads_out = true}, &good);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	assert_runs(p.a, OP_SEND);
	assert_runs(p.a, OP_WRITE);
	assert_lacks(p.a, OP_READ, OP_LACK_DEVICE);
	assert_lacks(p.a, OP_ATOMIC, OP_LACK_DEVICE);
}

static void test_a_peer_that_serves_no_reads_is_probed_with_the_rest(void **state)
{
	struct pair p = world_pair_of(all_ops, &good, &(struct fake_knobs){.no_reads_in = true});

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	assert_runs(p.a, OP_SEND);
	assert_runs(p.a, OP_WRITE);
	assert_lacks(p.a, OP_READ, OP_LACK_PEER);
	assert_lacks(p.a, OP_ATOMIC, OP_LACK_PEER);
}

/* --- what a peer lacks --- */

static void test_an_older_peer_offers_no_scratch_and_loses_nothing(void **state)
{
	struct pair p =
		world_pair_of(all_ops, &good, &(struct fake_knobs){.hello_without = TLV_SCRATCH});

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	assert_runs(p.a, OP_SEND);
	assert_runs(p.a, OP_READ);
	assert_lacks(p.a, OP_WRITE, OP_LACK_PEER);
	assert_lacks(p.a, OP_ATOMIC, OP_LACK_PEER);
}

static void test_a_peer_that_was_upgraded_is_probed_with_all(void **state)
{
	struct pair p =
		world_pair_of(all_ops, &good, &(struct fake_knobs){.hello_without = TLV_SCRATCH});
	struct op_books write;

	(void)state;
	world_run(NSEC_PER_SEC);
	host_crash(p.b);
	fabric_set_knobs(p.b->dev, &good);
	world_run(500 * NSEC_PER_MSEC);
	host_start(p.b);
	assert_true(world_until_state(p.a, 0, SESSION_UP, 20 * NSEC_PER_SEC));
	world_run(NSEC_PER_SEC);
	write = host_books(p.a, 0, OP_WRITE);
	assert_int_equal(host_conn(p.a, 0).op_lack[OP_WRITE], OP_LACK_NONE);
	/* From then on, and not for the time before. */
	assert_in_range(write.ok, 4, 6);
	assert_int_equal(write.scheduled, write.ok);
}

static void test_a_peer_with_smaller_sizes_is_probed_with_what_it_takes(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	memcpy(a->cfg.op, all_ops, sizeof(a->cfg.op));
	a->cfg.op[OP_SEND].size = 4096;
	host_start(a);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(5 * NSEC_PER_SEC);
	assert_lacks(a, OP_SEND, OP_LACK_PEER_SIZE);
	assert_runs(a, OP_READ);
	assert_runs(a, OP_WRITE);
}

/* Main holds a row whose time goes back for a lie, and reads it no more. */
static void test_an_operation_that_comes_later_never_takes_the_books_back(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1"), *b;
	uint64_t before;

	(void)state;
	memcpy(a->cfg.op, all_ops, sizeof(a->cfg.op));
	a->cfg.op[OP_SEND].size = 4096;
	host_start(a);
	b = host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(NSEC_PER_SEC);
	assert_lacks(a, OP_SEND, OP_LACK_PEER_SIZE);
	before = host_books(a, 0, OP_SEND).booked_until_ns;
	host_crash(b);
	b->cfg.op[OP_SEND].size = 4096;
	world_run(500 * NSEC_PER_MSEC);
	host_start(b);
	assert_true(world_until_state(a, 0, SESSION_UP, 20 * NSEC_PER_SEC));
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_conn(a, 0).op_lack[OP_SEND], OP_LACK_NONE);
	assert_in_range(host_books(a, 0, OP_SEND).ok, 4, 6);
	assert_true(host_books(a, 0, OP_SEND).booked_until_ns >= before);
}

/* --- sizes --- */

static void test_the_largest_sizes_work(void **state)
{
	static const struct op_config ops[OP_COUNT] = {OP_ON(16384), OP_ON(65536), OP_ON(65536),
						       OP_ON(8)};
	struct pair p = world_pair_of(ops, &good, &good);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_runs(p.a, op);
}

static void test_a_device_without_inline_room_runs_all(void **state)
{
	struct fake_knobs small = {.max_inline = 16};
	struct pair p = world_pair_of(all_ops, &small, &small);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_runs(p.a, op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_four_operations_succeed_and_are_booked_exactly),
		TEST(test_read_write_and_atomic_take_no_srq_entry),
		TEST(test_four_operations_never_stall_each_other),
		TEST(test_a_slow_request_is_no_stall_for_what_comes_due_meanwhile),
		TEST(test_where_round_trips_are_slow_no_operation_waits_for_ever),
		TEST(test_a_request_that_hangs_stalls_the_others),
		TEST(test_a_frozen_peer_that_loses_its_power_is_noticed_by_send_alone),
		TEST(test_nudges_take_no_receive_and_are_in_no_books),
		TEST(test_a_device_without_atomics_probes_the_rest),
		TEST(test_a_peer_without_atomics_is_probed_with_the_rest),
		TEST(test_a_device_that_begins_no_reads_probes_with_the_rest),
		TEST(test_a_peer_that_serves_no_reads_is_probed_with_the_rest),
		TEST(test_an_older_peer_offers_no_scratch_and_loses_nothing),
		TEST(test_a_peer_that_was_upgraded_is_probed_with_all),
		TEST(test_a_peer_with_smaller_sizes_is_probed_with_what_it_takes),
		TEST(test_an_operation_that_comes_later_never_takes_the_books_back),
		TEST(test_the_largest_sizes_work),
		TEST(test_a_device_without_inline_room_runs_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
