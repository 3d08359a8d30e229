/* Two workers measure each other: what each outcome of a probe does to the books. */
#include "support.h"

#include <errno.h>

#include "probes/ledger.h"
#include "probes/schedule.h"
#include "world.h"

#define SEND                                                                                       \
	{                                                                                          \
		WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, 64, 0                                        \
	}
#define SLOW                                                                                       \
	{                                                                                          \
		2 * NSEC_PER_SEC, NSEC_PER_SEC, 64, 0                                              \
	} /* judged by the QP, not by a deadline */
#define OFF                                                                                        \
	{                                                                                          \
		0, 0, 64, 0                                                                        \
	}

static const struct op_config send_only[OP_COUNT] = {SEND, OFF};
static const struct op_config read_only[OP_COUNT] = {OFF, SEND};
static const struct op_config slow_send[OP_COUNT] = {SLOW, OFF};
static const struct op_config slow_read[OP_COUNT] = {OFF, SLOW};

static void set_drop(struct host *from, struct host *to, bool drop)
{
	fabric_set_path(from->dev, to->dev, &(struct fabric_path){FABRIC_DELAY_NS, drop});
}

static void set_delay(struct host *from, struct host *to, uint64_t delay_ns)
{
	fabric_set_path(from->dev, to->dev, &(struct fabric_path){delay_ns, false});
}

static void heal(struct pair p)
{
	set_drop(p.a, p.b, false);
	set_drop(p.b, p.a, false);
}

/* --- success --- */

static void test_two_workers_connect_and_probe_with_success(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_in_range(send.ok, 24, 26);
	assert_in_range(read.ok, 24, 26);
	assert_int_equal(send.ok, send.sent);
	assert_int_equal(read.ok, read.sent);
	assert_int_equal(send.misses + read.misses, 0);
	assert_int_equal(send.self_delayed + read.self_delayed, 0);
	assert_int_equal(read.rtt_sum_ns / read.rtt_count, 2 * FABRIC_DELAY_NS);
	assert_receives_kept(p.a);
	assert_receives_kept(p.b);
	assert_true(host_stop(p.a) && host_stop(p.b));
}

static void test_both_sides_probe_over_sessions_of_their_own(void **state)
{
	struct pair p = world_pair();
	uint64_t active, passive;

	(void)state;
	host_session(p.b, 3, "host1", "10.0.0.1");
	assert_up(p.b, 3);
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_SEND).ok >= 9);
	assert_true(host_books(p.b, 3, OP_SEND).ok >= 9);
	assert_true(host_books(p.b, 3, OP_READ).ok >= 9);
	table_get_qps(p.a->table, &active, &passive);
	assert_int_equal(active, 1);
	assert_int_equal(passive, 1);
}

static void test_what_a_session_says_about_itself(void **state)
{
	struct pair p = world_pair();
	struct session_conn c = host_conn(p.a, 0);
	static const uint8_t local[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	static const uint8_t remote[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};

	(void)state;
	assert_int_equal(c.qpn, fabric_last_qpn(p.a->dev));
	assert_int_equal(c.remote_qpn, fabric_last_qpn(p.b->dev));
	assert_memory_equal(c.local_gid, local, 16);
	assert_memory_equal(c.remote_gid, remote, 16);
	/* The fake's first port of a connection. */
	assert_int_equal(c.udp_source_port, wire_udp_source_port(32768, RDMA_CM_PORT));
	assert_int_equal(c.attempts_in_row, 0);
	assert_string_equal(c.reason, "");
}

static void test_ipv6_works_as_well(void **state)
{
	struct host *a = host_up("host1", "2001:db8::1"), *b = host_up("host2", "2001:db8::2");

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "2001:db8::2");
	assert_up(a, 0);
	world_run(NSEC_PER_SEC);
	assert_true(host_books(a, 0, OP_SEND).ok >= 4);
	assert_int_equal(fabric_qps(b->dev), 1);
}

static void test_the_class_sets_the_traffic_class_from_the_first_connect(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	a->cfg.classes[0].tos = 104;
	host_start(a);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	assert_int_equal(fabric_tos(a->dev), 104);
}

static void test_large_probes_fit_what_the_peer_receives(void **state)
{
	static const struct op_config ops[OP_COUNT] = {
		{WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, 4096, 0},
		{WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, 4096, 0},
	};
	struct pair p = world_pair_with(ops);

	(void)state;
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_SEND).ok >= 9);
	assert_true(host_books(p.a, 0, OP_READ).ok >= 9);
	assert_int_equal(host_books(p.a, 0, OP_READ).misses, 0);
}

/* --- the SRQ --- */

static void test_read_takes_no_srq_entry(void **state)
{
	struct pair p = world_pair_with(read_only);
	uint64_t a = fabric_srq_taken(p.a->dev), b = fabric_srq_taken(p.b->dev);
	uint64_t ok = host_books(p.a, 0, OP_READ).ok;

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_READ).ok >= ok + 24);
	assert_int_equal(fabric_srq_taken(p.a->dev), a);
	assert_int_equal(fabric_srq_taken(p.b->dev), b);
}

static void test_send_takes_one_srq_entry_on_each_side(void **state)
{
	struct pair p = world_pair_with(send_only);
	uint64_t a, b, ok;

	(void)state;
	world_run(NSEC_PER_SEC);
	a = fabric_srq_taken(p.a->dev);
	b = fabric_srq_taken(p.b->dev);
	ok = host_books(p.a, 0, OP_SEND).ok;
	world_run(5 * NSEC_PER_SEC);
	ok = host_books(p.a, 0, OP_SEND).ok - ok;
	assert_in_range(ok, 24, 26);
	assert_int_equal(fabric_srq_taken(p.a->dev) - a, ok);
	assert_int_equal(fabric_srq_taken(p.b->dev) - b, ok);
	assert_receives_kept(p.b);
}

/* --- data --- */

static void test_a_flipped_bit_in_a_read_is_corrupt(void **state)
{
	struct pair p = world_pair();
	struct op_books read;

	(void)state;
	fabric_set_knobs(p.b->dev, &(struct fake_knobs){.corrupt_reads = true});
	world_run(2 * NSEC_PER_SEC);
	read = host_books(p.a, 0, OP_READ);
	assert_true(read.failed[FAIL_CORRUPT] >= 9);
	assert_int_equal(op_books_failed(&read), read.failed[FAIL_CORRUPT]);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	assert_true(p.a->told.facts[FACT_ATTENTION] >= 2);
	assert_string_equal(p.a->told.corrupt,
			    "a READ of 64 bytes brought 1 wrong ones, the first at "
			    "32: 0xfd, not 0xed");
	fabric_set_knobs(p.b->dev, &(struct fake_knobs){0});
	world_run(NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_READ).ok_streak >= 4);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

static void test_a_shifted_read_is_corrupt(void **state)
{
	struct pair p = world_pair_with(read_only);

	(void)state;
	fabric_set_knobs(p.b->dev, &(struct fake_knobs){.shift_reads = true});
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_READ).failed[FAIL_CORRUPT] >= 9);
}

static void test_a_read_that_succeeds_and_brings_nothing_is_corrupt_and_says_so(void **state)
{
	struct pair p = world_pair_with(read_only);

	(void)state;
	fabric_set_knobs(p.b->dev, &(struct fake_knobs){.empty_reads = true});
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_READ).failed[FAIL_CORRUPT] >= 9);
	assert_string_equal(p.a->told.corrupt, "a READ of 64 bytes succeeded, but brought nothing");
}

/* --- time --- */

static void test_past_its_deadline_a_probe_is_failed_then_late(void **state)
{
	struct pair p = world_pair_with(send_only);
	struct op_books b;

	(void)state;
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	set_delay(p.a, p.b, 150 * NSEC_PER_MSEC);
	world_run(2 * NSEC_PER_SEC);
	b = host_books(p.a, 0, OP_SEND);
	assert_in_range(b.failed[FAIL_TIMEOUT], 9, 11);
	assert_int_equal(op_books_failed(&b), b.failed[FAIL_TIMEOUT]);
	assert_true(b.late >= b.failed[FAIL_TIMEOUT] - 1);
	assert_true(b.late <= b.failed[FAIL_TIMEOUT]);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	heal(p);
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_SEND).late, host_books(p.a, 0, OP_SEND).failed[0]);
}

static void test_a_short_black_hole_is_survived_and_the_probe_is_late(void **state)
{
	struct pair p = world_pair_with(read_only);
	struct op_books b;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_drop(p.a, p.b, true);
	world_run(400 * NSEC_PER_MSEC); /* less than 7 x 67 ms after the first probe in it */
	heal(p);
	world_run(NSEC_PER_SEC);
	b = host_books(p.a, 0, OP_READ);
	assert_true(b.failed[FAIL_TIMEOUT] >= 1);
	assert_int_equal(b.late, b.failed[FAIL_TIMEOUT]);
	assert_true(b.retransmits_suspected >= 1);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

static void test_a_lost_ack_is_no_second_delivery(void **state)
{
	struct pair p = world_pair_with(send_only);
	uint64_t before;

	(void)state;
	world_run(NSEC_PER_SEC);
	before = fabric_srq_taken(p.b->dev);
	set_drop(p.b, p.a, true);
	world_run(250 * NSEC_PER_MSEC);
	heal(p);
	world_run(500 * NSEC_PER_MSEC);
	assert_in_range(fabric_srq_taken(p.b->dev) - before, 3, 4); /* one a probe that was sent */
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

static void test_what_comes_due_behind_a_slow_request_is_qp_stalled(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p.a, p.b, 150 * NSEC_PER_MSEC); /* the ops are 100 ms apart */
	world_run(2 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_true(send.not_attempted[SKIP_QP_STALLED] + read.not_attempted[SKIP_QP_STALLED] >= 8);
	/* Never two requests at once: each took its 150 ms, no more. */
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

/* --- a peer that is there and does not answer --- */

static void test_frozen_peer_is_unresponsive_after_four_and_read_goes_on(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;
	uint64_t posted;

	(void)state;
	world_run(NSEC_PER_SEC);
	host_freeze(p.b, true);
	posted = fabric_srq_posted(p.b->dev);
	world_run(4 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_int_equal(send.failed[FAIL_TIMEOUT], ECHO_BOUND);
	assert_in_range(send.not_attempted[SKIP_PEER_UNRESPONSIVE], 15, 16);
	assert_int_equal(send.in_flight, 0);
	assert_int_equal(read.misses, 0);
	assert_true(read.ok_streak >= 24);
	assert_int_equal(fabric_srq_posted(p.b->dev), posted - ECHO_BOUND);
	host_freeze(p.b, false);
	world_run(2 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	assert_int_equal(send.late, ECHO_BOUND);
	assert_true(send.ok_streak >= 8);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_receives_kept(p.b);
}

static void test_four_unanswered_of_each_session_never_dry_out_the_srq(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1"), *b = host_up("host2", "10.0.0.2");

	(void)state;
	for (unsigned i = 3; i < 9; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.0.0.%u", i);
		fabric_add_address(b->dev, address, IBV_GID_TYPE_ROCE_V2);
	}
	world_run(500 * NSEC_PER_MSEC);
	for (unsigned i = 2; i < 9; i++) {
		char peer[16], address[32];

		snprintf(peer, sizeof(peer), "host%u", i);
		snprintf(address, sizeof(address), "10.0.0.%u", i);
		host_session(a, i - 2, peer, address);
	}
	for (uint32_t row = 0; row < 7; row++)
		assert_up(a, row);
	host_freeze(b, true);
	world_run(5 * NSEC_PER_SEC);
	assert_true(fabric_srq_posted(b->dev) > 0);
	for (uint32_t row = 0; row < 7; row++) {
		assert_int_equal(host_conn(a, row).state, SESSION_UP);
		assert_int_equal(host_books(a, row, OP_READ).misses, 0);
	}
}

/* --- the QP's own verdicts --- */

static void assert_error(const struct host *h, enum ibv_wc_status status, enum op op)
{
	struct session_error e = host_conn(h, 0).error;

	assert_int_equal(e.connect_failure, -1);
	assert_int_equal(e.code, status);
	assert_int_equal(e.vendor_err, 0x80 + status);
	assert_int_equal(e.op, op);
	assert_true(e.wall_ns > 0);
}

/* Until the QP has broken and the rail knows why. */
static void until_broken(struct host *h)
{
	assert_true(world_until_state(h, 0, SESSION_DRAINING, 4 * NSEC_PER_SEC));
	world_run(NSEC_PER_MSEC);
}

static void test_retries_exceeded(void **state)
{
	struct pair p = world_pair_with(slow_read);
	struct op_books b;

	(void)state;
	world_run(NSEC_PER_MSEC);
	set_drop(p.a, p.b, true);
	until_broken(p.a);
	b = host_books(p.a, 0, OP_READ);
	assert_int_equal(b.failed[FAIL_RETRY_EXCEEDED], 1);
	assert_error(p.a, IBV_WC_RETRY_EXC_ERR, OP_READ);
	heal(p);
	assert_up(p.a, 0);
	world_run(3 * NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_READ).ok_streak >= 1);
	assert_int_equal(fabric_qps(p.a->dev), 1);
	assert_int_equal(fabric_qps(p.b->dev), 1);
}

static void test_receiver_not_ready_exceeded(void **state)
{
	struct pair p = world_pair_with(slow_send);
	uint8_t reply[64] = {0};

	(void)state;
	wire_put_header(&(struct wire_header){WIRE_REPLY, sizeof(reply), 99, 0}, reply);
	host_freeze(p.b, true);
	while (fabric_deliver(p.b->dev, fabric_last_qpn(p.b->dev), reply, sizeof(reply)))
		;
	assert_int_equal(fabric_srq_posted(p.b->dev), 0);
	until_broken(p.a);
	assert_int_equal(host_books(p.a, 0, OP_SEND).failed[FAIL_RNR_RETRY_EXCEEDED], 1);
	assert_error(p.a, IBV_WC_RNR_RETRY_EXC_ERR, OP_SEND);
	host_freeze(p.b, false);
	assert_up(p.a, 0);
	world_run(NSEC_PER_SEC);
	assert_receives_kept(p.b);
}

static void test_a_qp_that_broke_by_itself_aborts_and_is_made_anew(void **state)
{
	struct pair p = world_pair_with(slow_send);
	uint32_t qpn = fabric_last_qpn(p.a->dev);
	struct op_books b;

	(void)state;
	fabric_break_qp(p.a->dev, qpn);
	until_broken(p.a);
	assert_up(p.a, 0);
	b = host_books(p.a, 0, OP_SEND);
	assert_int_equal(b.aborted[ABORT_FLUSHED], 1);
	assert_int_equal(op_books_failed(&b), 0);
	assert_int_not_equal(fabric_last_qpn(p.a->dev), qpn);
}

static void test_a_post_that_is_refused_is_a_local_failure(void **state)
{
	struct pair p = world_pair_with(slow_send);

	(void)state;
	fabric_fail(p.a->dev, CALL_POST_SEND, 1, 1, ENOMEM);
	until_broken(p.a);
	assert_int_equal(host_books(p.a, 0, OP_SEND).failed[FAIL_LOCAL_QP_ERROR], 1);
	assert_up(p.a, 0);
}

static void test_an_rkey_that_is_refused_is_remote_access(void **state)
{
	struct pair p = world_pair_with(slow_read);

	(void)state;
	fabric_set_knobs(p.b->dev, &(struct fake_knobs){.refuse_reads = true});
	until_broken(p.a);
	assert_int_equal(host_books(p.a, 0, OP_READ).failed[FAIL_REMOTE_ACCESS], 1);
	assert_error(p.a, IBV_WC_REM_ACCESS_ERR, OP_READ);
}

/* --- completions that should not be --- */

static void test_completions_that_come_twice_are_counted_once(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_set_knobs(p.a->dev, &(struct fake_knobs){.double_completions = true});
	world_run(2 * NSEC_PER_SEC);
	assert_in_range(host_books(p.a, 0, OP_SEND).ok, 9, 11);
	assert_in_range(host_books(p.a, 0, OP_READ).ok, 9, 11);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	host_remove_session(p.a, 0, ABORT_RELOAD);
	world_run(NSEC_PER_SEC);
	assert_int_equal(p.a->told.facts[FACT_REMOVED], 1);
	assert_int_equal(fabric_qps(p.a->dev), 0);
}

static void test_completions_of_unknown_queue_pairs_are_ignored(void **state)
{
	struct pair p = world_pair();

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		fabric_complete(p.a->dev, &(struct ibv_wc){.wr_id = i, .qp_num = 0xabcdef});
		fabric_complete(p.a->dev, &(struct ibv_wc){.wr_id = MARKER_WR_ID,
							   .qp_num = 0xabcdef,
							   .status = IBV_WC_WR_FLUSH_ERR});
	}
	world_run(2 * NSEC_PER_SEC);
	assert_in_range(host_books(p.a, 0, OP_SEND).ok, 9, 11);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

static void until_in_flight(struct host *h, enum op op)
{
	while (!host_books(h, 0, op).in_flight)
		world_run(NSEC_PER_MSEC);
}

static void test_completions_of_another_generation_are_ignored(void **state)
{
	struct pair p = world_pair_with(read_only);
	struct op_books read;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p.a, p.b, 50 * NSEC_PER_MSEC);
	until_in_flight(p.a, OP_READ);
	fabric_complete(p.a->dev, &(struct ibv_wc){.wr_id = 3, .qp_num = host_conn(p.a, 0).qpn});
	world_run(10 * NSEC_PER_MSEC);
	assert_int_equal(host_books(p.a, 0, OP_READ).in_flight, 1);
	world_run(50 * NSEC_PER_MSEC);
	read = host_books(p.a, 0, OP_READ);
	assert_int_equal(read.in_flight, 0);
	assert_int_equal(read.ok, read.sent);
}

/* The rail's stack of free buffers has room for each of them once; and a buffer that the SRQ still
 * has must not be handed to it a second time. */
static void test_receives_that_complete_twice_do_no_harm(void **state)
{
	struct pair p = world_pair();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		fabric_complete(p.a->dev, &(struct ibv_wc){.wr_id = RX_TAG | i % 40,
							   .opcode = IBV_WC_RECV,
							   .status = IBV_WC_WR_FLUSH_ERR,
							   .qp_num = 0xabcdef});
		if (i % 100 == 0)
			world_run(NSEC_PER_MSEC);
	}
	world_run(NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_SEND).ok >= 4);
}

/* --- our own sleep --- */

static void test_a_frozen_worker_books_what_it_slept_through_once(void **state)
{
	struct pair p = world_pair();
	struct op_books before[2], now;
	uint64_t from, due;

	(void)state;
	world_run(NSEC_PER_SEC);
	from = world_now_ns();
	before[OP_SEND] = host_books(p.a, 0, OP_SEND);
	before[OP_READ] = host_books(p.a, 0, OP_READ);
	host_freeze(p.a, true);
	world_run(5 * NSEC_PER_SEC);
	host_freeze(p.a, false);
	world_run(2 * NSEC_PER_SEC);
	for (unsigned op = OP_SEND; op <= OP_READ; op++) {
		now = host_books(p.a, 0, (enum op)op);
		due = schedule_count(now.phase_ns, now.interval_ns, from, world_now_ns());
		assert_in_range(now.scheduled - before[op].scheduled, due - 1, due);
		assert_in_range(now.not_attempted[SKIP_WORKER_STUCK], 23, 25);
		assert_int_equal(now.misses, 0);
		assert_int_equal(op_books_failed(&now), 0);
		/* What was under way when we fell asleep came back: its time is not the fabric's.
		 */
		assert_true(now.self_delayed <= 2);
		assert_true(now.rtt_sum_ns / now.rtt_count < NSEC_PER_MSEC);
	}
}

static void test_nothing_is_booked_twice_when_a_wake_up_is_followed_by_another(void **state)
{
	struct pair p = world_pair_with(send_only);
	struct op_books before, now;
	uint64_t from, due;

	(void)state;
	world_run(NSEC_PER_SEC);
	from = world_now_ns();
	before = host_books(p.a, 0, OP_SEND);
	for (unsigned i = 0; i < 5; i++) {
		host_freeze(p.a, true);
		world_run((1100 + 37 * i) * NSEC_PER_MSEC);
		host_freeze(p.a, false);
		world_run(3 * NSEC_PER_MSEC);
	}
	now = host_books(p.a, 0, OP_SEND);
	due = schedule_count(now.phase_ns, now.interval_ns, from, world_now_ns());
	assert_in_range(now.scheduled - before.scheduled, due - 1, due);
	assert_true(now.booked_until_ns <= world_now_ns());
}

static void test_a_round_trip_that_we_looked_at_too_late_is_no_latency(void **state)
{
	struct pair p = world_pair_with(read_only);
	struct op_books before, now;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p.a, p.b, 20 * NSEC_PER_MSEC);
	until_in_flight(p.a, OP_READ);
	before = host_books(p.a, 0, OP_READ);
	p.a->frozen_rail = true;
	world_run(60 * NSEC_PER_MSEC); /* within the deadline */
	p.a->frozen_rail = false;
	world_run(NSEC_PER_MSEC);
	now = host_books(p.a, 0, OP_READ);
	assert_int_equal(now.ok, before.ok + 1);
	assert_int_equal(now.self_delayed, 1);
	assert_int_equal(now.rtt_count, before.rtt_count);
}

/* Completed before its deadline, seen after it: the fabric was in time. */
static void test_a_deadline_that_passed_while_we_slept_is_not_held_against_the_fabric(void **state)
{
	struct pair p = world_pair_with(read_only);
	struct op_books now;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p.a, p.b, 20 * NSEC_PER_MSEC);
	until_in_flight(p.a, OP_READ);
	p.a->frozen_rail = true;
	world_run(150 * NSEC_PER_MSEC);
	p.a->frozen_rail = false;
	world_run(NSEC_PER_MSEC);
	now = host_books(p.a, 0, OP_READ);
	assert_int_equal(op_books_failed(&now), 0);
	assert_int_equal(now.self_delayed, 1);
}

/* --- budget --- */

static void test_more_probes_than_the_budget_are_not_attempted(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");
	struct op_books send, read;

	(void)state;
	a->cfg.probes_per_second = 2; /* 10 are due */
	host_start(a);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(10 * NSEC_PER_SEC);
	send = host_books(a, 0, OP_SEND);
	read = host_books(a, 0, OP_READ);
	assert_in_range(send.sent + read.sent, 18, 22);
	assert_true(send.not_attempted[SKIP_BUDGET] + read.not_attempted[SKIP_BUDGET] > 70);
	assert_int_equal(send.misses + read.misses, 0);
}

/* Instants recur: whoever was refused once must not be refused for ever. */
static void test_a_budget_below_the_demand_is_shared_by_all(void **state)
{
	static const char *const peers[] = {"host2", "host3", "host4"};
	static const char *const addresses[] = {"10.0.0.2", "10.0.0.3", "10.0.0.4"};
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	a->cfg.probes_per_second = 8; /* 30 are due */
	host_start(a);
	for (uint32_t row = 0; row < 3; row++)
		host_up(peers[row], addresses[row]);
	world_run(10 * NSEC_PER_MSEC);
	for (uint32_t row = 0; row < 3; row++)
		host_session(a, row, peers[row], addresses[row]);
	for (uint32_t row = 0; row < 3; row++)
		assert_up(a, row);
	world_run(30 * NSEC_PER_SEC);
	for (uint32_t row = 0; row < 3; row++) {
		assert_in_range(host_books(a, row, OP_SEND).sent, 37, 43);
		assert_in_range(host_books(a, row, OP_READ).sent, 37, 43);
	}
}

static void test_a_session_that_is_down_takes_nothing_of_the_budget(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1"), *c;

	(void)state;
	a->cfg.probes_per_second = 10; /* 20 are due, and 10 when one of two sessions is down */
	host_start(a);
	host_up("host2", "10.0.0.2");
	c = host_up("host3", "10.0.0.3");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	host_session(a, 1, "host3", "10.0.0.3");
	assert_up(a, 0);
	assert_up(a, 1);
	world_run(10 * NSEC_PER_SEC);
	assert_in_range(host_books(a, 0, OP_SEND).not_attempted[SKIP_BUDGET], 23, 27);
	host_kill(c);
	assert_true(world_until_state(a, 1, SESSION_DRAINING, 10 * NSEC_PER_SEC));
	for (uint64_t skipped = host_books(a, 0, OP_SEND).not_attempted[SKIP_BUDGET], i = 0; i < 2;
	     i++) {
		world_run(10 * NSEC_PER_SEC);
		assert_int_equal(host_books(a, 0, OP_SEND).not_attempted[SKIP_BUDGET], skipped);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_two_workers_connect_and_probe_with_success),
		TEST(test_both_sides_probe_over_sessions_of_their_own),
		TEST(test_what_a_session_says_about_itself),
		TEST(test_ipv6_works_as_well),
		TEST(test_the_class_sets_the_traffic_class_from_the_first_connect),
		TEST(test_large_probes_fit_what_the_peer_receives),
		TEST(test_read_takes_no_srq_entry),
		TEST(test_send_takes_one_srq_entry_on_each_side),
		TEST(test_a_flipped_bit_in_a_read_is_corrupt),
		TEST(test_a_shifted_read_is_corrupt),
		TEST(test_a_read_that_succeeds_and_brings_nothing_is_corrupt_and_says_so),
		TEST(test_past_its_deadline_a_probe_is_failed_then_late),
		TEST(test_a_short_black_hole_is_survived_and_the_probe_is_late),
		TEST(test_a_lost_ack_is_no_second_delivery),
		TEST(test_what_comes_due_behind_a_slow_request_is_qp_stalled),
		TEST(test_frozen_peer_is_unresponsive_after_four_and_read_goes_on),
		TEST(test_four_unanswered_of_each_session_never_dry_out_the_srq),
		TEST(test_retries_exceeded),
		TEST(test_receiver_not_ready_exceeded),
		TEST(test_a_qp_that_broke_by_itself_aborts_and_is_made_anew),
		TEST(test_a_post_that_is_refused_is_a_local_failure),
		TEST(test_an_rkey_that_is_refused_is_remote_access),
		TEST(test_completions_that_come_twice_are_counted_once),
		TEST(test_completions_of_unknown_queue_pairs_are_ignored),
		TEST(test_completions_of_another_generation_are_ignored),
		TEST(test_receives_that_complete_twice_do_no_harm),
		TEST(test_a_frozen_worker_books_what_it_slept_through_once),
		TEST(test_nothing_is_booked_twice_when_a_wake_up_is_followed_by_another),
		TEST(test_a_round_trip_that_we_looked_at_too_late_is_no_latency),
		TEST(test_a_deadline_that_passed_while_we_slept_is_not_held_against_the_fabric),
		TEST(test_more_probes_than_the_budget_are_not_attempted),
		TEST(test_a_budget_below_the_demand_is_shared_by_all),
		TEST(test_a_session_that_is_down_takes_nothing_of_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
