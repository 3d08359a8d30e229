/* What a device's queues are like: none that is shared, short ones, few places; and what is asked
 * of them: replies whose completions nobody waits for. */
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>

#include "probes/queue_sets.h"
#include "world.h"

static const struct op_config all_ops[OP_COUNT] = {OP_ON(64), OP_ON(64), OP_ON(64), OP_ON(8)};
static const struct op_config send_only[OP_COUNT] = {OP_ON(64), OP_OFF, OP_OFF, OP_OFF};
static const struct fake_knobs good;
static const struct fake_knobs no_srq = {.no_srq = true};

static void assert_all_run(struct host *h)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books before = host_books(h, 0, op), b;

		world_run(5 * NSEC_PER_SEC);
		b = host_books(h, 0, op);
		assert_in_range(b.ok - before.ok, 24, 26);
		assert_int_equal(b.misses, before.misses);
	}
}

/* --- no SRQ --- */

static void test_two_devices_without_srq_run_all_operations(void **state)
{
	struct pair p = world_pair_of(all_ops, &no_srq, &no_srq);

	(void)state;
	assert_int_equal(fabric_objects(OBJECT_SRQ), 0);
	assert_all_run(p.a);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_true(host_stop(p.a) && host_stop(p.b));
	/* No event is to come: none is waited for. */
	assert_int_equal(p.a->told.drains[DRAIN_MARKER], 1);
	assert_int_equal(p.b->told.drains[DRAIN_MARKER], 1);
}

static void test_a_device_without_srq_and_one_with_it_run_all_operations(void **state)
{
	struct pair p = world_pair_of(all_ops, &good, &no_srq);

	(void)state;
	host_session(p.b, 0, "host1", "10.0.0.1");
	assert_up(p.b, 0);
	assert_all_run(p.a);
	assert_all_run(p.b);
	assert_true(host_stop(p.a) && host_stop(p.b));
}

static void test_iwarp_opens_nothing_but_where_a_read_lands(void **state)
{
	/* The fake ends the test if that is not so. */
	struct fake_knobs iwarp = {.no_srq = true, .no_atomics = true, .iwarp = true};
	struct pair p = world_pair_of(all_ops, &iwarp, &iwarp);

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	assert_in_range(host_books(p.a, 0, OP_READ).ok, 24, 26);
	assert_in_range(host_books(p.a, 0, OP_SEND).ok, 24, 26);
	assert_in_range(host_books(p.a, 0, OP_WRITE).ok, 24, 26);
	assert_int_equal(host_conn(p.a, 0).op_lack[OP_ATOMIC], OP_LACK_DEVICE);
}

static void test_receives_that_never_come_back_hold_up_no_drain(void **state)
{
	struct fake_knobs e810 = {.no_srq = true, .lose_receives = true};
	struct pair p = world_pair_of(all_ops, &e810, &e810);
	uint64_t begin = world_now_ns();

	(void)state;
	assert_true(host_stop(p.a) && host_stop(p.b));
	assert_true(world_now_ns() - begin < NSEC_PER_SEC);
	assert_int_equal(p.a->told.drains[DRAIN_TIMEOUT], 0);
}

static void test_a_frozen_peer_without_srq_keeps_its_qp(void **state)
{
	struct pair p = world_pair_of(all_ops, &no_srq, &no_srq);

	(void)state;
	world_run(NSEC_PER_SEC);
	host_freeze(p.b, true);
	world_run(7 * NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_READ).misses, 0);
	assert_true(host_books(p.a, 0, OP_SEND).not_attempted[SKIP_PEER_UNRESPONSIVE] > 20);
	host_freeze(p.b, false);
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_true(host_books(p.a, 0, OP_SEND).ok_streak >= 3);
}

static void test_a_receive_that_cannot_be_posted_is_posted_later(void **state)
{
	struct pair p = world_pair_of(send_only, &no_srq, &no_srq);

	(void)state;
	fabric_fail(p.b->dev, CALL_POST_RECV, 1, 6, ENOMEM);
	world_run(5 * NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

static void test_a_qp_without_receives_is_not_connected(void **state)
{
	struct pair p = world_hosts_of(send_only, &no_srq, &no_srq);

	(void)state;
	fabric_fail(p.a->dev, CALL_POST_RECV, 1, 1, ENOMEM);
	host_session(p.a, 0, "host2", "10.0.0.2");
	world_run(NSEC_PER_SEC / 10);
	assert_int_equal(host_totals(p.a).failures[CONNECT_NO_RESOURCES], 1);
	assert_up(p.a, 0);
	fabric_fail(p.b->dev, CALL_POST_RECV, 1, 1, ENOMEM);
	host_session(p.a, 1, "host2", "10.0.0.2");
	assert_up(p.a, 1);
}

static void test_without_srq_a_connection_that_breaks_comes_back(void **state)
{
	struct pair p = world_pair_of(all_ops, &no_srq, &no_srq);

	(void)state;
	for (unsigned i = 0; i < 30; i++) {
		fabric_break_qp(i % 2 ? p.a->dev : p.b->dev,
				fabric_last_qpn(i % 2 ? p.a->dev : p.b->dev));
		assert_true(world_until_state(p.a, 0, SESSION_DRAINING, 10 * NSEC_PER_SEC));
		assert_up(p.a, 0);
	}
	assert_all_run(p.a);
}

/* --- short queues --- */

static void test_no_more_qps_are_made_than_the_completion_queue_holds(void **state)
{
	/* One queue with room for two QPs and what is spare. */
	struct fake_knobs few = {.max_cqe = 16 + 2 * (TX_DEPTH + 1 + RX_PER_PLACE) + 5,
				 .max_cq = 1};
	struct pair p = world_hosts_of(send_only, &few, &good);

	(void)state;
	host_up("host3", "10.0.0.3");
	host_up("host4", "10.0.0.4");
	host_session(p.a, 0, "host2", "10.0.0.2");
	host_session(p.a, 1, "host3", "10.0.0.3");
	world_run(NSEC_PER_SEC);
	host_session(p.a, 2, "host4", "10.0.0.4");
	world_run(5 * NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.a->dev), 2);
	for (uint32_t row = 0; row < 2; row++) {
		assert_int_equal(host_conn(p.a, row).state, SESSION_UP);
		assert_int_equal(host_books(p.a, row, OP_SEND).misses, 0);
	}
	assert_true(host_totals(p.a).failures[CONNECT_NO_RESOURCES] >= 1);
	assert_non_null(strstr(p.a->told.device, "2 connections"));
	/* A place that comes free is taken. */
	host_remove_session(p.a, 0, ABORT_RELOAD);
	assert_up(p.a, 2);
	assert_string_equal(p.a->told.device, "");
}

/* --- queues that are made when they are needed --- */

/* Two hosts whose queues have room for two QPs each; host1 may have that many. */
static struct pair small_queues(const struct fake_knobs *more, uint32_t qps)
{
	struct fake_knobs small = *more;
	struct pair p = {host_new("host1", "10.0.0.1"), host_new("host2", "10.0.0.2")};

	small.max_cqe = 16 + 2 * (TX_DEPTH + 1 + (small.no_srq ? RX_PER_QP : RX_PER_PLACE));
	memcpy(p.a->cfg.op, all_ops, sizeof(all_ops));
	memcpy(p.b->cfg.op, all_ops, sizeof(all_ops));
	p.a->cfg.qps_per_device = qps;
	fabric_set_knobs(p.a->dev, &small);
	fabric_set_knobs(p.b->dev, more);
	host_start(p.a);
	host_start(p.b);
	world_run(10 * NSEC_PER_MSEC);
	return p;
}

/* Sessions to rails of their own of host2: else the next would take the place of the one before. */
static void add_sessions(struct host *h, uint32_t from, uint32_t to)
{
	for (uint32_t row = from; row < to; row++) {
		static uint64_t id;
		struct wish w = {.type = WISH_SESSION_ADD,
				 .session = {.id = ++id + 100, .row = row}};

		snprintf(w.session.peer, sizeof(w.session.peer), "host2");
		snprintf(w.session.peer_rail, sizeof(w.session.peer_rail), "rail%u", row);
		w.session.address.in.sin_family = AF_INET;
		inet_pton(AF_INET, "10.0.0.2", &w.session.address.in.sin_addr);
		host_wish(h, &w);
	}
}

static void assert_rows_run(struct host *h, uint32_t rows)
{
	for (uint32_t row = 0; row < rows; row++)
		assert_up(h, row);
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t before[WORLD_ROWS];

		for (uint32_t row = 0; row < rows; row++)
			before[row] = host_books(h, row, op).ok;
		world_run(2 * NSEC_PER_SEC);
		for (uint32_t row = 0; row < rows; row++) {
			assert_in_range(host_books(h, row, op).ok - before[row], 9, 11);
			assert_int_equal(host_books(h, row, op).misses, 0);
		}
	}
}

static void grow_and_end(const struct fake_knobs *knobs)
{
	unsigned srq = !knobs->no_srq;
	struct pair p = small_queues(knobs, 64);

	/* host2's first set holds all of it. */
	assert_int_equal(fabric_objects(OBJECT_CQ), 2);
	add_sessions(p.a, 0, 2);
	assert_rows_run(p.a, 2);
	assert_int_equal(fabric_objects(OBJECT_CQ), 2);
	add_sessions(p.a, 2, 7);
	assert_rows_run(p.a, 7);
	assert_int_equal(fabric_objects(OBJECT_CQ), 1 + 4);
	assert_int_equal(fabric_objects(OBJECT_SRQ), srq * (1 + 4));
	/* What comes free is used again. */
	for (unsigned i = 0; i < 10; i++) {
		host_remove_session(p.a, i % 7, ABORT_RELOAD);
		world_run(NSEC_PER_SEC);
		add_sessions(p.a, i % 7, i % 7 + 1);
		assert_up(p.a, i % 7);
	}
	assert_int_equal(fabric_objects(OBJECT_CQ), 1 + 4);
	if (srq)
		assert_receives_kept(p.a);
	assert_true(host_stop(p.a) && host_stop(p.b));
	assert_int_equal(p.a->told.drains[DRAIN_TIMEOUT], 0);
	/* Nothing is left: the fake ends the test if that is not so. */
}

static void test_queues_are_made_as_sessions_come(void **state)
{
	(void)state;
	grow_and_end(&good);
}

static void test_queues_without_srq_are_made_as_sessions_come(void **state)
{
	(void)state;
	grow_and_end(&no_srq);
}

static void test_queues_that_cannot_be_made_cost_only_who_needs_them(void **state)
{
	static const enum fabric_call calls[] = {CALL_CREATE_CQ, CALL_CREATE_SRQ};
	struct pair p = small_queues(&good, 64);
	uint32_t rows = 2;

	(void)state;
	add_sessions(p.a, 0, 2);
	assert_rows_run(p.a, 2);
	for (unsigned i = 0; i < 2; i++, rows++) {
		unsigned cqs = fabric_objects(OBJECT_CQ);

		if (i) /* the place that the set before still has */
			add_sessions(p.a, rows, rows + 1), rows++;
		world_run(NSEC_PER_SEC);
		cqs = fabric_objects(OBJECT_CQ);
		fabric_fail(p.a->dev, calls[i], 1, 1000, ENOMEM);
		add_sessions(p.a, rows, rows + 1);
		world_run(5 * NSEC_PER_SEC);
		assert_true(host_conn(p.a, rows).state != SESSION_UP);
		assert_true(host_totals(p.a).failures[CONNECT_NO_RESOURCES] >= 1);
		assert_non_null(strstr(p.a->told.device, "Cannot allocate memory"));
		assert_int_equal(fabric_objects(OBJECT_CQ), cqs);
		assert_int_equal(host_exit_code(p.a), -1);
		for (uint32_t row = 0; row < 2; row++) {
			assert_int_equal(host_conn(p.a, row).state, SESSION_UP);
			assert_int_equal(host_books(p.a, row, OP_READ).misses, 0);
		}
		fabric_fail(p.a->dev, calls[i], 1, 0, 0);
		assert_up(p.a, rows);
		assert_string_equal(p.a->told.device, "");
	}
	assert_true(host_stop(p.a) && host_stop(p.b));
}

static void test_a_peer_is_refused_when_its_queues_cannot_be_made(void **state)
{
	struct pair p = small_queues(&good, 64);

	(void)state;
	add_sessions(p.a, 0, 2);
	assert_rows_run(p.a, 2);
	fabric_fail(p.a->dev, CALL_CREATE_CQ, 1, 1000, ENOMEM);
	host_session(p.b, 0, "host1", "10.0.0.1");
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_totals(p.b).failures[CONNECT_NO_RESOURCES] >= 1);
	assert_int_equal(p.a->told.refused, WIRE_REJECT_NO_RESOURCES);
	fabric_fail(p.a->dev, CALL_CREATE_CQ, 1, 0, 0);
	assert_up(p.b, 0);
	assert_rows_run(p.a, 2);
}

static void test_the_cap_of_queue_pairs_is_exact_over_several_queues(void **state)
{
	struct pair p = small_queues(&good, 5);

	(void)state;
	add_sessions(p.a, 0, 7);
	for (unsigned i = 0; i < 100; i++) {
		world_run(100 * NSEC_PER_MSEC);
		assert_true(fabric_qps(p.a->dev) <= 5);
	}
	assert_int_equal(fabric_qps(p.a->dev), 5);
	assert_int_equal(fabric_objects(OBJECT_CQ), 1 + 3);
}

static void test_a_device_with_two_queues_uses_them_whole(void **state)
{
	struct pair p = small_queues(&(struct fake_knobs){.max_cq = 2}, 64);

	(void)state;
	add_sessions(p.a, 0, 7);
	world_run(10 * NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.a->dev), 4);
	assert_non_null(strstr(p.a->told.device, "4 connections"));
}

static void test_a_device_with_few_places_in_a_queue_runs_all(void **state)
{
	struct fake_knobs few = {.max_qp_wr = 4, .no_srq = true};
	struct pair p = world_pair_of(all_ops, &few, &few);

	(void)state;
	assert_all_run(p.a);
	assert_true(host_stop(p.a) && host_stop(p.b));
}

/* --- replies --- */

static void test_an_answered_send_wakes_the_responder_once(void **state)
{
	struct pair p = world_pair_of(send_only, &good, &good);
	uint64_t before, ok;

	(void)state;
	world_run(NSEC_PER_SEC);
	before = fabric_send_completions(p.b->dev);
	ok = host_books(p.a, 0, OP_SEND).ok;
	world_run(30 * NSEC_PER_SEC);
	ok = host_books(p.a, 0, OP_SEND).ok - ok;
	assert_in_range(ok, 149, 151);
	/* Every third is signalled, so that the send queue never fills. */
	assert_in_range(fabric_send_completions(p.b->dev) - before, ok / 3 - 1, ok / 3 + 1);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	assert_true(host_stop(p.a) && host_stop(p.b));
	assert_int_equal(p.b->told.drains[DRAIN_TIMEOUT], 0);
}

static void test_a_burst_of_probes_is_answered_whole(void **state)
{
	struct pair p = world_pair_of(send_only, &good, &good);
	struct op_books b;

	(void)state;
	/* As many wait as may, whatever replies are not accounted for yet. */
	for (unsigned i = 0; i < 7; i++) {
		world_run(NSEC_PER_SEC / 5 * i);
		host_freeze(p.b, true);
		world_run(3 * NSEC_PER_SEC);
		host_freeze(p.b, false);
		world_run(2 * NSEC_PER_SEC);
	}
	b = host_books(p.a, 0, OP_SEND);
	assert_int_equal(b.late, b.failed[FAIL_TIMEOUT]);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_two_devices_without_srq_run_all_operations),
		TEST(test_a_device_without_srq_and_one_with_it_run_all_operations),
		TEST(test_iwarp_opens_nothing_but_where_a_read_lands),
		TEST(test_receives_that_never_come_back_hold_up_no_drain),
		TEST(test_a_frozen_peer_without_srq_keeps_its_qp),
		TEST(test_a_receive_that_cannot_be_posted_is_posted_later),
		TEST(test_a_qp_without_receives_is_not_connected),
		TEST(test_without_srq_a_connection_that_breaks_comes_back),
		TEST(test_no_more_qps_are_made_than_the_completion_queue_holds),
		TEST(test_queues_are_made_as_sessions_come),
		TEST(test_queues_without_srq_are_made_as_sessions_come),
		TEST(test_queues_that_cannot_be_made_cost_only_who_needs_them),
		TEST(test_a_peer_is_refused_when_its_queues_cannot_be_made),
		TEST(test_the_cap_of_queue_pairs_is_exact_over_several_queues),
		TEST(test_a_device_with_two_queues_uses_them_whole),
		TEST(test_a_device_with_few_places_in_a_queue_runs_all),
		TEST(test_an_answered_send_wakes_the_responder_once),
		TEST(test_a_burst_of_probes_is_answered_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
