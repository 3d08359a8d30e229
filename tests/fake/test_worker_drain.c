/* The one way in which connections end, whatever the cause and whatever the device does meanwhile.
 */
#include "support.h"

#include <errno.h>
#include <unistd.h>

#include "probes/control_priv.h"
#include "world.h"

static void knobs(struct host *h, struct fake_knobs k)
{
	fabric_set_knobs(h->dev, &k);
}

static bool no_qps(void *arg)
{
	return fabric_qps(((struct host *)arg)->dev) == 0;
}

/* Remove the session; how long until its QP was gone. */
static uint64_t drain_time(struct host *h)
{
	uint64_t from = world_now_ns();

	host_remove_session(h, 0, ABORT_RELOAD);
	assert_true(world_until(no_qps, h, 10 * NSEC_PER_SEC));
	return world_now_ns() - from;
}

static void assert_drains(const struct host *h, uint64_t last_wqe, uint64_t marker,
			  uint64_t timeout)
{
	struct rail_totals t = host_totals(h);

	assert_int_equal(t.drains[DRAIN_LAST_WQE], last_wqe);
	assert_int_equal(t.drains[DRAIN_MARKER], marker);
	assert_int_equal(t.drains[DRAIN_TIMEOUT], timeout);
}

/* --- outcomes --- */

static void test_last_wqe_ends_a_drain_at_once(void **state)
{
	struct pair p = world_pair();

	(void)state;
	assert_true(drain_time(p.a) < 5 * NSEC_PER_MSEC);
	assert_drains(p.a, 1, 0, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 0); /* the other side drained too */
	assert_drains(p.b, 1, 0, 0);
	assert_receives_kept(p.a);
	assert_receives_kept(p.b);
}

static void test_without_last_wqe_the_marker_ends_it(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.last_wqe = LAST_WQE_NEVER});
	assert_in_range(drain_time(p.a), LAST_WQE_NS, LAST_WQE_NS + 10 * NSEC_PER_MSEC);
	assert_drains(p.a, 0, 1, 0);
}

static void test_last_wqe_may_come_twice(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.last_wqe = LAST_WQE_TWICE});
	assert_true(drain_time(p.a) < 5 * NSEC_PER_MSEC);
	assert_drains(p.a, 1, 0, 0);
}

static void test_last_wqe_may_come_late(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.last_wqe = LAST_WQE_LATE,
				       .last_wqe_late_ns = 60 * NSEC_PER_MSEC});
	assert_in_range(drain_time(p.a), 60 * NSEC_PER_MSEC, 70 * NSEC_PER_MSEC);
	assert_drains(p.a, 1, 0, 0);
}

static void test_last_wqe_may_come_too_late(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.last_wqe = LAST_WQE_LATE,
				       .last_wqe_late_ns = 500 * NSEC_PER_MSEC});
	assert_in_range(drain_time(p.a), LAST_WQE_NS, LAST_WQE_NS + 10 * NSEC_PER_MSEC);
	assert_drains(p.a, 0, 1, 0);
	world_run(NSEC_PER_SEC);
}

static void test_a_marker_that_is_never_flushed_costs_a_second(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.lose_marker = true});
	assert_in_range(drain_time(p.a), MARKER_NS, MARKER_NS + 10 * NSEC_PER_MSEC);
	assert_drains(p.a, 0, 0, 1);
}

static void test_a_marker_that_cannot_be_posted_costs_a_second(void **state)
{
	struct pair p = world_pair();

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	fabric_fail(p.a->dev, CALL_POST_SEND, 1, 100, EINVAL);
	assert_in_range(drain_time(p.a), MARKER_NS, MARKER_NS + 10 * NSEC_PER_MSEC);
	assert_drains(p.a, 0, 0, 1);
}

static void test_a_qp_that_cannot_be_put_in_error_is_let_go_nevertheless(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_fail(p.a->dev, CALL_MODIFY_QP, 1, 100, EIO);
	fabric_fail(p.a->dev, CALL_DISCONNECT, 1, 100, EINVAL);
	assert_true(drain_time(p.a) < 2 * NSEC_PER_SEC);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 0);
	assert_receives_kept(p.a);
	assert_receives_kept(p.b);
}

static void test_a_black_hole_with_a_send_under_way_drains_at_once(void **state)
{
	struct pair p = world_pair();
	struct op_books send;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_set_dark(p.b->dev, true);
	world_run(WORLD_INTERVAL_NS + 50 * NSEC_PER_MSEC);
	assert_true(drain_time(p.a) < 5 * NSEC_PER_MSEC);
	send = host_books(p.a, 0, OP_SEND);
	assert_int_equal(send.in_flight, 0);
	fabric_set_dark(p.b->dev, false);
}

static void test_what_was_in_flight_is_aborted_by_the_reason_of_the_removal(void **state)
{
	static const struct op_config slow[OP_COUNT] = {{NSEC_PER_SEC, 900 * NSEC_PER_MSEC, 64, 0},
							{0}};
	struct pair p = world_pair_with(slow);

	(void)state;
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){50 * NSEC_PER_MSEC, false});
	while (!host_books(p.a, 0, OP_SEND).in_flight)
		world_run(10 * NSEC_PER_MSEC);
	drain_time(p.a);
	assert_int_equal(p.a->last[0].op[OP_SEND].aborted[ABORT_RELOAD], 1);
	assert_int_equal(p.a->last[0].op[OP_SEND].in_flight, 0);
}

/* --- the other side's doing --- */

static void test_both_sides_drain_when_one_disconnects(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
	fabric_cm_event(p.b->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_string_equal(host_conn(p.a, 0).reason, "the peer closed the connection");
	assert_up(p.a, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.a->dev), 1);
	assert_int_equal(fabric_qps(p.b->dev), 1);
}

static void test_a_goodbye_is_no_failure(void **state)
{
	static const struct op_config slow[OP_COUNT] = {{NSEC_PER_SEC, 900 * NSEC_PER_MSEC, 64, 0},
							{0}};
	struct pair p = world_pair_with(slow);
	struct op_books b;

	(void)state;
	world_run(100 * NSEC_PER_MSEC);
	while (!host_books(p.a, 0, OP_SEND).in_flight)
		world_run(FABRIC_DELAY_NS);
	p.b->frozen_rail = true; /* the echo does not leave before the goodbye does */
	host_wish(p.b, &(struct wish){.type = WISH_STOP});
	world_run(10 * NSEC_PER_MSEC);
	p.b->frozen_rail = false;
	assert_true(world_until_state(p.a, 0, SESSION_BACKOFF, NSEC_PER_SEC));
	b = host_books(p.a, 0, OP_SEND);
	assert_int_equal(b.aborted[ABORT_PEER_LEAVING] + b.aborted[ABORT_FLUSHED] + b.ok, b.sent);
	assert_string_equal(host_conn(p.a, 0).reason, "peer said goodbye");
	assert_int_equal(b.misses, 0);
}

static void test_a_goodbye_is_remembered_until_the_peer_is_back(void **state)
{
	struct pair p = world_pair();

	(void)state;
	assert_true(host_stop(p.b));
	host_crash(p.b); /* what is left of its process ends */
	world_run(5 * NSEC_PER_SEC);
	assert_true(host_totals(p.a).failures[CONNECT_REJECTED] > 1);
	assert_string_equal(host_conn(p.a, 0).error.text, "peer said goodbye");
	host_start(p.b);
	host_accept(p.b, (const char *const[]){"10.0.0.1"}, 1);
	assert_up(p.a, 0);
	host_crash(p.b);
	world_run(5 * NSEC_PER_SEC);
	assert_string_equal(host_conn(p.a, 0).error.text,
			    "nothing listens on the peer's RDMA port");
}

static void test_a_goodbye_that_is_read_after_the_disconnect_still_counts(void **state)
{
	struct pair p = world_pair();

	(void)state;
	p.a->frozen_rail = true;
	assert_true(host_stop(p.b));
	host_crash(p.b);
	world_run(100 * NSEC_PER_MSEC);
	assert_int_not_equal(host_conn(p.a, 0).state, SESSION_UP);
	p.a->frozen_rail = false;
	world_run(5 * NSEC_PER_SEC);
	assert_true(host_totals(p.a).failures[CONNECT_REJECTED] > 1);
	assert_string_equal(host_conn(p.a, 0).error.text, "peer said goodbye");
}

static void test_both_say_goodbye_at_once(void **state)
{
	struct pair p = world_pair();

	(void)state;
	host_session(p.b, 0, "host1", "10.0.0.1");
	assert_up(p.b, 0);
	world_run(NSEC_PER_SEC);
	host_wish(p.a, &(struct wish){.type = WISH_STOP});
	assert_true(host_stop(p.b));
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_exit_code(p.a), 0);
	assert_int_equal(host_exit_code(p.b), 0);
	assert_int_equal(p.a->told.facts[FACT_BYE], 1);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, 0);
	assert_int_equal(fabric_qps(p.a->dev) + fabric_qps(p.b->dev), 0);
}

/* --- removing a session, in whatever state it is --- */

static void assert_removed_and_back(struct host *a)
{
	struct session_conn conn;

	host_remove_session(a, 0, ABORT_RELOAD);
	world_run(3 * NSEC_PER_SEC);
	assert_int_equal(a->told.facts[FACT_REMOVED], 1);
	assert_int_equal(fabric_qps(a->dev), 0);
	conn = host_conn(a, 0);
	assert_true(conn.session_id == 0);
	knobs(&world.host[1], (struct fake_knobs){0});
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(NSEC_PER_SEC);
	assert_true(host_books(a, 0, OP_SEND).ok >= 4);
	assert_true(host_books(a, 0, OP_SEND).scheduled <= 6); /* from 0 again */
}

static struct host *alone(void)
{
	struct host *a = host_up("host1", "10.0.0.1");

	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	return a;
}

static void test_removal_while_resolving(void **state)
{
	struct host *a = alone();

	(void)state;
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_RESOLVING, NSEC_PER_SEC));
	assert_removed_and_back(a);
}

static void test_removal_while_connecting(void **state)
{
	struct host *a = alone();

	(void)state;
	knobs(&world.host[1], (struct fake_knobs){.deaf_cm = true});
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_CONNECTING, NSEC_PER_SEC));
	assert_removed_and_back(a);
}

static void test_removal_while_up(void **state)
{
	(void)state;
	assert_removed_and_back(world_pair().a);
}

static void test_removal_while_draining(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.last_wqe = LAST_WQE_NEVER});
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_removed_and_back(p.a);
}

static void test_removal_while_in_back_off(void **state)
{
	struct host *a = alone();

	(void)state;
	fabric_answer(a->dev, RDMA_CM_EVENT_REJECTED, 8, 1, NULL, 0);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_removed_and_back(a);
}

static void test_removal_before_its_turn(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");
	struct told *t = &a->told;

	(void)state;
	a->cfg.connects = 1;
	host_start(a);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 1, "host9", "10.0.0.9"); /* holds the one turn for two seconds */
	host_session(a, 0, "host2", "10.0.0.2");
	world_run(100 * NSEC_PER_MSEC);
	assert_int_equal(host_conn(a, 0).state, SESSION_IDLE);
	host_remove_session(a, 0, ABORT_RELOAD);
	world_run(100 * NSEC_PER_MSEC);
	assert_int_equal(t->facts[FACT_REMOVED], 1);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
}

static void test_a_session_that_is_not_there_is_told_to_be_gone(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");
	struct wish w = {.type = WISH_SESSION_REMOVE, .session = {.id = 77, .row = 3}};

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	host_wish(a, &w);
	world_run(10 * NSEC_PER_MSEC);
	assert_int_equal(a->told.facts[FACT_REMOVED], 1);
	assert_int_equal(host_conn(a, 3).gone_id, 77);
	/* One that cannot be added, for its rail is not there (yet). */
	w = (struct wish){.type = WISH_SESSION_ADD, .session = {.id = 78, .row = 3, .rail = 5}};
	w.session.address.sa.sa_family = AF_UNSPEC;
	host_wish(a, &w);
	world_run(10 * NSEC_PER_MSEC);
	assert_int_equal(a->told.facts[FACT_REMOVED], 2);
	assert_int_equal(host_conn(a, 3).gone_id, 78);
}

/* An answer that comes to a connection which is on its way out concerns nobody any more. */
static void test_an_answer_after_the_removal_does_not_bring_the_session_back(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");

	(void)state;
	host_new("host2", "10.0.0.2"); /* nobody listens there */
	world_run(10 * NSEC_PER_MSEC);
	knobs(a, (struct fake_knobs){.last_wqe = LAST_WQE_NEVER});
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_RESOLVING, NSEC_PER_SEC));
	fabric_set_path(a->dev, world.host[1].dev,
			&(struct fabric_path){30 * NSEC_PER_MSEC, false});
	fabric_set_path(world.host[1].dev, a->dev,
			&(struct fabric_path){30 * NSEC_PER_MSEC, false});
	assert_true(world_until_state(a, 0, SESSION_CONNECTING, NSEC_PER_SEC));
	host_remove_session(a, 0, ABORT_RELOAD);
	world_run(3 * NSEC_PER_SEC);
	assert_int_equal(a->told.facts[FACT_REMOVED], 1);
	assert_int_equal(host_totals(a).failures[CONNECT_REJECTED], 0);
	assert_int_equal(fabric_qps(a->dev), 0);
}

/* The same for one that failed already: it is not counted a second time. */
static void test_an_answer_after_the_time_out_is_not_counted(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");
	struct fabric_path slow = {ATTEMPT_NS / 2 + 10 * NSEC_PER_MSEC, false};
	struct rail_totals t;

	(void)state;
	host_new("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	knobs(a, (struct fake_knobs){.last_wqe = LAST_WQE_NEVER});
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_RESOLVING, NSEC_PER_SEC));
	fabric_set_path(a->dev, world.host[1].dev, &slow);
	fabric_set_path(world.host[1].dev, a->dev, &slow);
	world_run(8 * NSEC_PER_SEC + 50 * NSEC_PER_MSEC);
	t = host_totals(a);
	assert_int_equal(t.failures[CONNECT_TIMEOUT], 1);
	assert_int_equal(t.failures[CONNECT_REJECTED], 0);
}

static void test_removal_gives_the_turn_back(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	a->cfg.connects = 2;
	host_start(a);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	knobs(&world.host[1], (struct fake_knobs){.deaf_cm = true});
	for (unsigned i = 0; i < 4; i++) {
		host_session(a, 1, "host2", "10.0.0.2");
		assert_true(world_until_state(a, 1, SESSION_CONNECTING, NSEC_PER_SEC));
		host_remove_session(a, 1, ABORT_RELOAD);
		world_run(500 * NSEC_PER_MSEC);
	}
	knobs(&world.host[1], (struct fake_knobs){0});
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
}

static void test_a_wish_for_what_is_not_there_is_ignored(void **state)
{
	struct pair p = world_pair();
	struct wish w = {.type = WISH_SESSION_REMOVE, .session = {.id = 999, .row = 0}};

	(void)state;
	w.session.address.in.sin_family = AF_INET;
	host_wish(p.a, &w); /* another session's row */
	w.session.row = 5;
	host_wish(p.a, &w);
	w.session.row = 100000;
	wish_send(p.a->socket[0], &w);
	w.type = WISH_SESSION_ADD;
	wish_send(p.a->socket[0], &w);
	w.session.row = 1;
	w.session.rail = 3;
	host_wish(p.a, &w);
	w.session.rail = 0;
	w.session.class_index = 5;
	host_wish(p.a, &w);
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_conn(p.a, 0).state, SESSION_UP);
	assert_int_equal(fabric_qps(p.a->dev), 1);
}

static void test_many_reconnects_leave_everything_flat(void **state)
{
	struct pair p = world_pair();
	unsigned mrs, ids;

	(void)state;
	world_run(NSEC_PER_SEC);
	mrs = fabric_objects(OBJECT_MR);
	ids = fabric_objects(OBJECT_ID);
	for (unsigned i = 0; i < 120; i++) { /* more than there is room for at once */
		fabric_cm_event((i & 1 ? p.a : p.b)->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
		assert_true(world_until_state(p.a, 0, SESSION_BACKOFF, 2 * NSEC_PER_SEC));
		assert_up(p.a, 0);
	}
	world_run(2 * NSEC_PER_SEC);
	assert_int_equal(fabric_objects(OBJECT_MR), mrs);
	assert_int_equal(fabric_objects(OBJECT_ID), ids);
	assert_int_equal(fabric_objects(OBJECT_QP), 2);
	assert_receives_kept(p.a);
	assert_receives_kept(p.b);
}

/* --- stopping --- */

static void assert_stops(struct host *h)
{
	uint64_t from = world_now_ns();

	assert_true(host_stop(h));
	assert_true(world_now_ns() - from <= STOP_NS + 50 * NSEC_PER_MSEC);
	assert_int_equal(host_exit_code(h), 0);
	world_run(NSEC_PER_MSEC);
	assert_int_equal(h->told.facts[FACT_BYE], 1);
}

static void test_stop_without_sessions(void **state)
{
	(void)state;
	assert_stops(host_up("host1", "10.0.0.1"));
}

static void test_stop_while_connecting_to_a_peer_that_is_silent(void **state)
{
	struct host *a = alone();

	(void)state;
	knobs(&world.host[1], (struct fake_knobs){.deaf_cm = true});
	host_session(a, 0, "host2", "10.0.0.2");
	host_session(a, 1, "host9", "10.0.0.9");
	world_run(500 * NSEC_PER_MSEC);
	assert_stops(a);
}

static void test_stop_with_a_peer_that_is_dark(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_set_dark(p.b->dev, true);
	world_run(NSEC_PER_SEC);
	assert_stops(p.a);
	assert_int_equal(fabric_qps(p.a->dev), 0);
	fabric_set_dark(p.b->dev, false);
}

static void test_stop_with_a_peer_that_is_frozen(void **state)
{
	struct pair p = world_pair();

	(void)state;
	host_freeze(p.b, true);
	world_run(3 * NSEC_PER_SEC);
	assert_stops(p.a);
	assert_int_equal(fabric_qps(p.a->dev), 0);
}

static void test_stop_with_markers_that_are_lost(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.lose_marker = true, .last_wqe = LAST_WQE_NEVER});
	assert_stops(p.a);
}

static void test_stop_while_draining(void **state)
{
	struct pair p = world_pair();

	(void)state;
	knobs(p.a, (struct fake_knobs){.lose_marker = true});
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_stops(p.a);
}

static void test_stop_while_the_rail_is_stuck(void **state)
{
	struct pair p = world_pair();

	(void)state;
	p.a->frozen_rail = true;
	assert_stops(p.a);
}

static void test_stop_with_a_port_that_is_down(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_set_port(p.a->dev, false);
	world_run(5 * NSEC_PER_SEC);
	assert_stops(p.a);
}

static void test_a_worker_whose_main_is_gone_stops(void **state)
{
	struct pair p = world_pair();

	(void)state;
	close(p.a->socket[0]);
	p.a->socket[0] = dup(STDERR_FILENO); /* something to close in the end */
	world_run(3 * NSEC_PER_SEC);
	assert_int_equal(host_exit_code(p.a), 0);
	assert_int_equal(fabric_qps(p.a->dev), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_last_wqe_ends_a_drain_at_once),
		TEST(test_without_last_wqe_the_marker_ends_it),
		TEST(test_last_wqe_may_come_twice),
		TEST(test_last_wqe_may_come_late),
		TEST(test_last_wqe_may_come_too_late),
		TEST(test_a_marker_that_is_never_flushed_costs_a_second),
		TEST(test_a_marker_that_cannot_be_posted_costs_a_second),
		TEST(test_a_qp_that_cannot_be_put_in_error_is_let_go_nevertheless),
		TEST(test_a_black_hole_with_a_send_under_way_drains_at_once),
		TEST(test_what_was_in_flight_is_aborted_by_the_reason_of_the_removal),
		TEST(test_both_sides_drain_when_one_disconnects),
		TEST(test_a_goodbye_is_no_failure),
		TEST(test_a_goodbye_is_remembered_until_the_peer_is_back),
		TEST(test_a_goodbye_that_is_read_after_the_disconnect_still_counts),
		TEST(test_both_say_goodbye_at_once),
		TEST(test_removal_while_resolving),
		TEST(test_removal_while_connecting),
		TEST(test_removal_while_up),
		TEST(test_removal_while_draining),
		TEST(test_removal_while_in_back_off),
		TEST(test_removal_before_its_turn),
		TEST(test_a_session_that_is_not_there_is_told_to_be_gone),
		TEST(test_an_answer_after_the_removal_does_not_bring_the_session_back),
		TEST(test_an_answer_after_the_time_out_is_not_counted),
		TEST(test_removal_gives_the_turn_back),
		TEST(test_a_wish_for_what_is_not_there_is_ignored),
		TEST(test_many_reconnects_leave_everything_flat),
		TEST(test_stop_without_sessions),
		TEST(test_stop_while_connecting_to_a_peer_that_is_silent),
		TEST(test_stop_with_a_peer_that_is_dark),
		TEST(test_stop_with_a_peer_that_is_frozen),
		TEST(test_stop_with_markers_that_are_lost),
		TEST(test_stop_while_draining),
		TEST(test_stop_while_the_rail_is_stuck),
		TEST(test_stop_with_a_port_that_is_down),
		TEST(test_a_worker_whose_main_is_gone_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
