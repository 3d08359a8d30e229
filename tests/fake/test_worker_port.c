/* Ports, addresses and devices that go and come, and every asynchronous event. */
#include "support.h"

#include <errno.h>

#include "probes/async.h"
#include "probes/control_priv.h"
#include "probes/ledger.h"
#include "probes/worker.h"
#include "world.h"

static uint64_t counted(const struct host *h, uint32_t port, enum ibv_event_type event)
{
	return table_get_async(h->table, port, async_event_index(event));
}

static bool has_ended(void *arg)
{
	return host_exit_code(arg) >= 0;
}

static void assert_ends_with(struct host *h, int code)
{
	assert_true(world_until(has_ended, h, NSEC_PER_SEC));
	assert_int_equal(host_exit_code(h), code);
}

/* --- the own port --- */

static void test_a_port_that_is_down_is_no_loss(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_set_port(p.a->dev, false);
	world_run(10 * NSEC_PER_SEC);
	assert_false(host_rail(p.a).up);
	assert_string_equal(host_rail(p.a).reason, "port 1 of fake0 is not active");
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_int_equal(op_books_failed(&send) + op_books_failed(&read), 0);
	assert_int_equal(send.misses + read.misses, 0);
	assert_true(send.not_attempted[SKIP_LOCAL_PORT_DOWN] >= 48);
	assert_int_equal(counted(p.a, 1, IBV_EVENT_PORT_ERR), 1);
	fabric_set_port(p.a->dev, true);
	assert_true(world_until_state(p.a, 0, SESSION_UP, NSEC_PER_SEC));
	world_run(NSEC_PER_SEC);
	assert_true(host_rail(p.a).up);
	assert_true(host_books(p.a, 0, OP_SEND).ok_streak >= 4);
	assert_int_equal(counted(p.a, 1, IBV_EVENT_PORT_ACTIVE), 1);
}

static void test_what_the_dead_port_broke_is_aborted_not_failed(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(NSEC_PER_SEC);
	p.a->frozen_control = true; /* has not heard of the port yet */
	fabric_set_port(p.a->dev, false);
	world_run(300 * NSEC_PER_MSEC);
	p.a->frozen_control = false;
	world_run(NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_int_equal(op_books_failed(&send) + op_books_failed(&read), 0);
	assert_int_equal(send.aborted[ABORT_LOCAL_PORT_DOWN] + read.aborted[ABORT_LOCAL_PORT_DOWN],
			 1);
	fabric_set_port(p.a->dev, true);
	assert_up(p.a, 0);
	assert_int_equal(fabric_qps(p.a->dev), 1);
}

/* Hardware queue pairs survive short flaps: nothing that works is torn down. */
static void test_a_short_flap_does_not_rebuild_what_works(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_set_knobs(p.a->dev, &(struct fake_knobs){.hardware = true});
	world_run(NSEC_PER_SEC);
	fabric_set_port(p.a->dev, false);
	world_run(150 * NSEC_PER_MSEC);
	fabric_set_port(p.a->dev, true);
	world_run(2 * NSEC_PER_SEC);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_true(host_books(p.a, 0, OP_SEND).ok_streak >= 8);
}

static void test_the_peers_port_down_is_a_loss_and_heals(void **state)
{
	struct pair p = world_pair();
	struct op_books send;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_set_port(p.b->dev, false);
	world_run(5 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	assert_int_equal(send.failed[FAIL_TIMEOUT], 1); /* before its QP had given up */
	assert_true(send.not_attempted[SKIP_NOT_CONNECTED] > 10);
	assert_int_equal(op_books_aborted(&send), 0);
	fabric_set_port(p.b->dev, true);
	assert_up(p.a, 0);
}

static void test_a_rail_that_is_down_from_the_start_books_local_port_down(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	fabric_set_port(a->dev, false);
	host_start(a);
	world_run(NSEC_PER_SEC);
	host_session(a, 0, "host2", "10.0.0.2");
	world_run(2 * NSEC_PER_SEC);
	assert_int_equal(host_conn(a, 0).state, SESSION_IDLE);
	assert_in_range(host_books(a, 0, OP_SEND).not_attempted[SKIP_LOCAL_PORT_DOWN], 9, 11);
	assert_int_equal(host_totals(a).attempts, 0);
}

/* --- addresses --- */

static void test_a_gid_that_is_gone_tears_its_sessions_down_without_blame(void **state)
{
	struct pair p = world_pair();
	struct op_books send;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_remove_address(p.a->dev, "10.0.0.1");
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_string_equal(host_conn(p.a, 0).reason, "the local address is gone");
	world_run(2 * NSEC_PER_SEC);
	assert_false(host_rail(p.a).up);
	send = host_books(p.a, 0, OP_SEND);
	assert_int_equal(send.misses, 0);
	assert_true(send.not_attempted[SKIP_LOCAL_PORT_DOWN] >= 9);
	fabric_add_address(p.a->dev, "10.0.0.1", IBV_GID_TYPE_ROCE_V2);
	assert_up(p.a, 0);
	assert_int_equal(fabric_qps(p.a->dev), 1);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 1);
}

static void test_another_gid_that_changes_leaves_sessions_alone(void **state)
{
	struct pair p = world_pair();

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		fabric_add_address(p.a->dev, "10.0.7.1", IBV_GID_TYPE_ROCE_V2);
		world_run(5 * NSEC_PER_MSEC);
		fabric_remove_address(p.a->dev, "10.0.7.1");
	}
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_int_equal(counted(p.a, 1, IBV_EVENT_GID_CHANGE), 24);
}

static void test_a_burst_of_gid_changes_is_one_scan(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");
	unsigned before;

	(void)state;
	world_run(NSEC_PER_SEC);
	before = fabric_calls(a->dev, CALL_QUERY_GID_TABLE);
	for (unsigned i = 0; i < 50; i++) {
		fabric_async_event(a->dev, IBV_EVENT_GID_CHANGE, 0);
		world_run(NSEC_PER_MSEC);
	}
	world_run(200 * NSEC_PER_MSEC);
	assert_in_range(fabric_calls(a->dev, CALL_QUERY_GID_TABLE) - before, 1, 2);
	assert_int_equal(counted(a, 1, IBV_EVENT_GID_CHANGE), 50);
}

/* What verbs does not answer is unknown, not gone. */
static void test_a_session_whose_gids_could_not_be_asked_for_stays_up(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");

	(void)state;
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	fabric_fail(a->dev, CALL_QUERY_QP, 1, 1000, EINVAL);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(20 * NSEC_PER_SEC);
	assert_int_equal(host_entered(a, 0, SESSION_UP), 1);
}

/* --- events --- */

static void test_every_event_is_counted_and_acknowledged(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1");

	(void)state;
	world_run(100 * NSEC_PER_MSEC);
	for (unsigned e = 0; e < 40; e++) {
		switch (e) {
		case IBV_EVENT_CQ_ERR:
		case IBV_EVENT_SRQ_ERR:
		case IBV_EVENT_DEVICE_FATAL: /* these end the worker */
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
		case IBV_EVENT_COMM_EST:
		case IBV_EVENT_SQ_DRAINED:
		case IBV_EVENT_PATH_MIG:
		case IBV_EVENT_PATH_MIG_ERR:
		case IBV_EVENT_QP_LAST_WQE_REACHED: /* these have a QP */
		case IBV_EVENT_SRQ_LIMIT_REACHED:
			continue;
		default:
			fabric_async_event(a->dev, (enum ibv_event_type)e, 0);
		}
	}
	world_run(NSEC_PER_SEC);
	assert_int_equal(counted(a, 1, IBV_EVENT_LID_CHANGE), 1);
	assert_int_equal(counted(a, 1, IBV_EVENT_PKEY_CHANGE), 1);
	assert_int_equal(counted(a, 1, IBV_EVENT_SM_CHANGE), 1);
	assert_int_equal(counted(a, 1, IBV_EVENT_CLIENT_REREGISTER), 1);
	assert_int_equal(counted(a, 0, (enum ibv_event_type)20), 1); /* device_speed_change */
	assert_int_equal(table_get_async(a->table, 0, ASYNC_EVENT_COUNT - 1), 19); /* other */
	assert_int_equal(host_exit_code(a), -1);
}

static void test_events_of_a_qp_rebuild_it_or_leave_it(void **state)
{
	static const enum ibv_event_type fatal[] = {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR,
						    IBV_EVENT_QP_ACCESS_ERR};
	static const enum ibv_event_type harmless[] = {IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED,
						       IBV_EVENT_PATH_MIG, IBV_EVENT_PATH_MIG_ERR,
						       IBV_EVENT_QP_LAST_WQE_REACHED};
	struct pair p = world_pair();

	(void)state;
	for (size_t i = 0; i < COUNT(harmless); i++) {
		fabric_async_event(p.a->dev, harmless[i], host_conn(p.a, 0).qpn);
		world_run(NSEC_PER_SEC);
		assert_int_equal(counted(p.a, 0, harmless[i]), 1);
	}
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	for (size_t i = 0; i < COUNT(fatal); i++) {
		fabric_async_event(p.a->dev, fatal[i], host_conn(p.a, 0).qpn);
		assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
		assert_up(p.a, 0);
		assert_int_equal(counted(p.a, 0, fatal[i]), 1);
	}
}

static void test_the_srq_limit_is_counted_and_armed_again(void **state)
{
	struct pair p = world_pair();
	uint8_t reply[64] = {0};

	(void)state;
	world_run(2 * NSEC_PER_SEC); /* armed by now */
	wire_put_header(&(struct wire_header){WIRE_REPLY, sizeof(reply), 99, 0}, reply);
	for (unsigned round = 1; round <= 3; round++) {
		host_freeze(p.b, true);
		while (fabric_deliver(p.b->dev, fabric_last_qpn(p.b->dev), reply, sizeof(reply)))
			;
		host_freeze(p.b, false);
		world_run(2 * NSEC_PER_SEC);
		assert_int_equal(counted(p.b, 0, IBV_EVENT_SRQ_LIMIT_REACHED), round);
		assert_receives_kept(p.b);
	}
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
}

/* --- rdma_cm's late events --- */

static void test_a_neighbour_whose_mac_changed_is_one_reconnect(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_UNREACHABLE, -EINVAL);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_string_equal(host_conn(p.a, 0).reason, "the peer's link address changed");
	assert_up(p.a, 0);
	assert_int_equal(host_totals(p.a).failures[CONNECT_UNREACHABLE], 0);
}

static void test_a_bond_that_failed_over_is_one_reconnect(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_up(p.a, 0);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 2);
}

static void test_events_that_mean_nothing_change_nothing(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	fabric_cm_event(p.b->dev, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	fabric_cm_event(p.a->dev, RDMA_CM_EVENT_MULTICAST_ERROR, 0);
	fabric_cm_event(p.a->dev, (enum rdma_cm_event_type)99, 0);
	fabric_cm_event(p.b->dev, (enum rdma_cm_event_type)99, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	assert_int_equal(host_conn(p.a, 0).state, SESSION_UP);
}

/* --- the end of a device --- */

static void test_a_removed_device_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_remove_device(p.a->dev, true);
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
}

static void test_a_device_that_goes_without_a_word_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_remove_device(p.a->dev, false);
	assert_true(world_until(has_ended, p.a, 6 * NSEC_PER_SEC)); /* by the next scan */
	assert_int_equal(host_exit_code(p.a), WORKER_EXIT_DEVICE);
}

static void test_device_fatal_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_async_event(p.a->dev, IBV_EVENT_DEVICE_FATAL, 0);
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
	assert_int_equal(counted(p.a, 0, IBV_EVENT_DEVICE_FATAL), 1);
}

static void test_a_broken_cq_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_async_event(p.a->dev, IBV_EVENT_CQ_ERR, 0);
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
}

static void test_a_broken_srq_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_async_event(p.a->dev, IBV_EVENT_SRQ_ERR, 0);
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
}

static void test_a_cq_that_cannot_be_polled_ends_the_worker(void **state)
{
	struct pair p = world_pair();

	(void)state;
	p.a->frozen_control = true; /* the rail must not fill its queue meanwhile */
	fabric_fail(p.a->dev, CALL_POLL_CQ, 1, 1000000, EIO);
	world_run(2 * NSEC_PER_SEC);
	p.a->frozen_control = false;
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
}

static void test_the_peer_of_a_removed_device_sees_it_and_recovers(void **state)
{
	struct pair p = world_pair();

	(void)state;
	host_session(p.b, 0, "host1", "10.0.0.1");
	assert_up(p.b, 0);
	fabric_remove_device(p.a->dev, true);
	assert_ends_with(p.a, WORKER_EXIT_DEVICE);
	assert_true(world_until_state(p.b, 0, SESSION_BACKOFF, 5 * NSEC_PER_SEC));
	assert_true(host_stop(p.b));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_port_that_is_down_is_no_loss),
		TEST(test_what_the_dead_port_broke_is_aborted_not_failed),
		TEST(test_a_short_flap_does_not_rebuild_what_works),
		TEST(test_the_peers_port_down_is_a_loss_and_heals),
		TEST(test_a_rail_that_is_down_from_the_start_books_local_port_down),
		TEST(test_a_gid_that_is_gone_tears_its_sessions_down_without_blame),
		TEST(test_another_gid_that_changes_leaves_sessions_alone),
		TEST(test_a_burst_of_gid_changes_is_one_scan),
		TEST(test_a_session_whose_gids_could_not_be_asked_for_stays_up),
		TEST(test_every_event_is_counted_and_acknowledged),
		TEST(test_events_of_a_qp_rebuild_it_or_leave_it),
		TEST(test_the_srq_limit_is_counted_and_armed_again),
		TEST(test_a_neighbour_whose_mac_changed_is_one_reconnect),
		TEST(test_a_bond_that_failed_over_is_one_reconnect),
		TEST(test_events_that_mean_nothing_change_nothing),
		TEST(test_a_removed_device_ends_the_worker),
		TEST(test_a_device_that_goes_without_a_word_ends_the_worker),
		TEST(test_device_fatal_ends_the_worker),
		TEST(test_a_broken_cq_ends_the_worker),
		TEST(test_a_broken_srq_ends_the_worker),
		TEST(test_a_cq_that_cannot_be_polled_ends_the_worker),
		TEST(test_the_peer_of_a_removed_device_sees_it_and_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
