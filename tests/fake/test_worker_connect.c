/* Connecting: every step that can fail does, strangers knock, and the session comes up after all.
 */
#include "support.h"

#include <errno.h>

#include "probes/control_priv.h"
#include "world.h"

static struct host *host1(void)
{
	return &world.host[0];
}

static struct host *host2(void)
{
	return &world.host[1];
}

/* Two hosts that run, not yet in session. */
static void two_hosts(void)
{
	host_up("host1", "10.0.0.1");
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
}

static void start_session(void)
{
	host_session(host1(), 0, "host2", "10.0.0.2");
}

/* In the end there is one session, one QP on each side, and every receive is accounted for. */
static void assert_settled(void)
{
	assert_up(host1(), 0);
	world_run(3 * NSEC_PER_SEC);
	assert_int_equal(host_conn(host1(), 0).state, SESSION_UP);
	assert_int_equal(fabric_qps(host1()->dev), 1);
	assert_int_equal(fabric_qps(host2()->dev), 1);
	assert_receives_kept(host1());
	assert_receives_kept(host2());
	assert_true(host_books(host1(), 0, OP_SEND).ok_streak > 3);
	assert_true(host_stop(host1()) && host_stop(host2()));
}

static uint64_t failures(enum connect_failure failure)
{
	return host_totals(host1()).failures[failure];
}

static void assert_reason(const char *reason)
{
	assert_string_equal(host_conn(host1(), 0).reason, reason);
}

/* Time between the beginnings of the nth attempt and the one before. */
static uint64_t gap(unsigned nth)
{
	uint64_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < host1()->told.n_changes; i++) {
		const struct change *c = &host1()->told.change[i];

		if (c->to != SESSION_RESOLVING)
			continue;
		if (n++ == nth)
			return c->at_ns - at;
		at = c->at_ns;
	}
	return UINT64_MAX;
}

/* --- answers --- */

static void test_nobody_listens(void **state)
{
	(void)state;
	host_up("host1", "10.0.0.1");
	host_new("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_REJECTED), 1);
	assert_reason("nothing listens on the peer's RDMA port");
	assert_int_equal(host_conn(host1(), 0).error.connect_failure, CONNECT_REJECTED);
	assert_int_equal(host_conn(host1(), 0).error.code, 8);
	host_start(host2());
	assert_settled();
}

static void test_stale_is_retried_at_once_and_once(void **state)
{
	(void)state;
	two_hosts();
	fabric_answer(host1()->dev, RDMA_CM_EVENT_REJECTED, 10, 4, NULL, 0);
	start_session();
	world_run(20 * NSEC_PER_SEC);
	assert_int_equal(failures(CONNECT_STALE), 4);
	assert_true(gap(1) < 10 * NSEC_PER_MSEC); /* as long as the drain takes */
	for (unsigned i = 2; i < 5; i++)
		assert_true(gap(i) >= BACKOFF_FLOOR_NS);
	assert_settled();
}

static void test_stale_is_retried_at_once_again_after_the_session_was_up(void **state)
{
	(void)state;
	two_hosts();
	fabric_answer(host1()->dev, RDMA_CM_EVENT_REJECTED, 10, 1, NULL, 0);
	start_session();
	assert_up(host1(), 0);
	fabric_break_qp(host1()->dev, host_conn(host1(), 0).qpn);
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, NSEC_PER_SEC));
	fabric_answer(host1()->dev, RDMA_CM_EVENT_REJECTED, 10, 1, NULL, 0);
	assert_up(host1(), 0);
	assert_int_equal(failures(CONNECT_STALE), 2);
	assert_true(gap(3) < 10 * NSEC_PER_MSEC);
	assert_settled();
}

struct rejection {
	enum wire_reject why;
	enum connect_failure counted;
};

static void test_our_own_rejects_say_why(void **state)
{
	static const struct rejection cases[] = {
		{WIRE_REJECT_MALFORMED, CONNECT_REJECTED},
		{WIRE_REJECT_VERSION, CONNECT_VERSION},
		{WIRE_REJECT_NOT_LISTED, CONNECT_REJECTED},
		{WIRE_REJECT_NO_RESOURCES, CONNECT_NO_RESOURCES},
		{WIRE_REJECT_LEAVING, CONNECT_REJECTED},
	};
	uint8_t data[WIRE_REJECT_LEN];

	(void)state;
	two_hosts();
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t before = failures(cases[i].counted);

		wire_put_reject(cases[i].why, data);
		fabric_answer(host1()->dev, RDMA_CM_EVENT_REJECTED, 28, 1, data, sizeof(data));
		start_session();
		assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
		assert_int_equal(failures(cases[i].counted), before + 1);
		assert_reason(wire_reject_text(cases[i].why));
		host_remove_session(host1(), 0, ABORT_RELOAD);
		world_run(NSEC_PER_SEC);
	}
	start_session();
	assert_settled();
}

static void test_a_foreign_reject_is_a_refusal(void **state)
{
	static const uint8_t junk[148] = {0xff, 0xfe, 1, 2, 3};

	(void)state;
	two_hosts();
	fabric_answer(host1()->dev, RDMA_CM_EVENT_REJECTED, 28, 1, junk, sizeof(junk));
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_reason("connection refused");
	assert_settled();
}

struct event_case {
	enum rdma_cm_event_type event;
	enum connect_failure counted;
};

static void test_events_of_failure_are_counted_by_their_reason(void **state)
{
	static const struct event_case cases[] = {
		{RDMA_CM_EVENT_ADDR_ERROR, CONNECT_RESOLVE},
		{RDMA_CM_EVENT_ROUTE_ERROR, CONNECT_ROUTE},
		{RDMA_CM_EVENT_UNREACHABLE, CONNECT_UNREACHABLE},
		{RDMA_CM_EVENT_CONNECT_ERROR, CONNECT_OTHER},
	};

	(void)state;
	two_hosts();
	for (size_t i = 0; i < COUNT(cases); i++) {
		fabric_answer(host1()->dev, cases[i].event, -ETIMEDOUT, 1, NULL, 0);
		start_session();
		assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, 3 * NSEC_PER_SEC));
		assert_int_equal(failures(cases[i].counted), 1);
		assert_int_equal(host_conn(host1(), 0).error.code, -ETIMEDOUT);
		host_remove_session(host1(), 0, ABORT_RELOAD);
		world_run(2 * NSEC_PER_SEC);
		assert_int_equal(fabric_qps(host1()->dev), 0);
	}
	start_session();
	assert_settled();
}

/* --- calls that fail --- */

static void fail_and_recover(struct host *whose, enum fabric_call call, unsigned nth,
			     unsigned times)
{
	fabric_fail(whose->dev, call, nth, times, ENOMEM);
	start_session();
	world_run(6 * NSEC_PER_SEC);
	fabric_fail(whose->dev, call, 1, 0, 0);
	assert_settled();
}

#define FAIL_TEST(name, whose, call, nth)                                                          \
	static void test_##name##_fails_once(void **state)                                         \
	{                                                                                          \
		(void)state;                                                                       \
		two_hosts();                                                                       \
		fail_and_recover(whose(), call, nth, 1);                                           \
	}                                                                                          \
	static void test_##name##_fails_for_a_while(void **state)                                  \
	{                                                                                          \
		(void)state;                                                                       \
		two_hosts();                                                                       \
		fail_and_recover(whose(), call, nth, 100000);                                      \
		assert_true(host_totals(host1()).attempts < 200); /* bounded by the back-off */    \
	}

FAIL_TEST(create_id, host1, CALL_CREATE_ID, 1)
FAIL_TEST(set_option, host1, CALL_SET_OPTION, 1)
FAIL_TEST(resolve_addr, host1, CALL_RESOLVE_ADDR, 1)
FAIL_TEST(resolve_route, host1, CALL_RESOLVE_ROUTE, 1)
FAIL_TEST(registering_receives, host1, CALL_REG_MR, 1)
FAIL_TEST(registering_half_the_receives, host1, CALL_REG_MR, 2)
FAIL_TEST(registering_memory, host1, CALL_REG_MR, 3)
FAIL_TEST(create_qp, host1, CALL_CREATE_QP, 1)
FAIL_TEST(connecting, host1, CALL_CONNECT, 1)
FAIL_TEST(going_to_rts, host1, CALL_CONNECT_RESPONSE, 1)
FAIL_TEST(query_qp, host1, CALL_QUERY_QP, 1)
FAIL_TEST(min_rnr_timer, host1, CALL_MODIFY_QP, 1)
FAIL_TEST(sending_hello, host1, CALL_POST_SEND, 1)
FAIL_TEST(posting_receives, host1, CALL_POST_SRQ_RECV, 1)
FAIL_TEST(peers_registering_receives, host2, CALL_REG_MR, 1)
FAIL_TEST(peers_registering_memory, host2, CALL_REG_MR, 3)
FAIL_TEST(peers_create_qp, host2, CALL_CREATE_QP, 1)
FAIL_TEST(peers_set_option, host2, CALL_SET_OPTION, 1)
FAIL_TEST(peers_accept, host2, CALL_ACCEPT, 1)
FAIL_TEST(peers_min_rnr_timer, host2, CALL_MODIFY_QP, 1)
FAIL_TEST(peers_sending_hello, host2, CALL_POST_SEND, 1)
FAIL_TEST(peers_posting_receives, host2, CALL_POST_SRQ_RECV, 1)

static void test_a_device_with_less_inline_room_is_asked_again_without(void **state)
{
	(void)state;
	two_hosts();
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.max_inline = 32});
	start_session();
	assert_settled();
	assert_int_equal(host_totals(host1()).attempts, 1);
}

static void test_a_qp_that_cannot_be_made_is_told_until_it_can(void **state)
{
	(void)state;
	two_hosts();
	fabric_fail(host1()->dev, CALL_CREATE_QP, 1, 4, ENOMEM);
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_NO_RESOURCES), 1);
	assert_non_null(strstr(host1()->told.device, "no QP"));
	assert_up(host1(), 0);
	assert_string_equal(host1()->told.device, "");
}

/* --- time --- */

static void test_a_peer_that_does_not_answer_costs_eight_seconds(void **state)
{
	(void)state;
	two_hosts();
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){.deaf_cm = true});
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, 9 * NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_TIMEOUT), 1);
	assert_reason("no answer to the connection request");
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){0});
	assert_settled();
}

static void test_peers_that_do_not_answer_leave_a_turn_for_one_that_has_come(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	a->cfg.connects = 2;
	host_start(a);
	host_up("host2", "10.0.0.2");
	host_up("host3", "10.0.0.3");
	world_run(10 * NSEC_PER_MSEC);
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){.deaf_cm = true});
	for (uint32_t row = 1; row < WORLD_ROWS; row++)
		host_session(a, row, "host2", "10.0.0.2");
	world_run(60 * NSEC_PER_SEC); /* all have had a turn */
	for (uint32_t row = 1; row < WORLD_ROWS; row++)
		assert_true(host_conn(a, row).attempts_in_row > 0);
	host_session(a, 0, "host3", "10.0.0.3");
	assert_true(world_until_state(a, 0, SESSION_UP, NSEC_PER_SEC));
	/* Nor do they starve. */
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){0});
	for (uint32_t row = 1; row < WORLD_ROWS; row++)
		assert_true(host_entered(a, row, SESSION_RESOLVING) > 0);
}

static void test_a_peer_that_never_says_hello_costs_eight_seconds(void **state)
{
	struct fake_device *b;

	(void)state;
	two_hosts();
	b = host2()->dev;
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_CONNECTING, NSEC_PER_SEC));
	world_run(15 * NSEC_PER_USEC); /* the peer has accepted */
	host2()->frozen_rail = true;
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, 9 * NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_TIMEOUT), 1);
	assert_reason("no hello from the peer in time");
	assert_int_equal(host2()->dev == b, 1);
	host2()->frozen_rail = false;
	assert_settled();
}

/* Its rail thread wakes to the hello and to the news of the connection at once. */
static void test_a_hello_that_overtakes_the_word_of_its_connection_is_heard(void **state)
{
	(void)state;
	two_hosts();
	start_session(); /* so that receives are posted */
	assert_true(world_until_state(host1(), 0, SESSION_UP, NSEC_PER_SEC));
	host_remove_session(host1(), 0, ABORT_RELOAD);
	world_run(NSEC_PER_SEC);
	host2()->frozen_rail = true;
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_CONNECTING, NSEC_PER_SEC));
	world_run(50 * NSEC_PER_MSEC);
	host2()->frozen_rail = false;
	assert_true(world_until_state(host1(), 0, SESSION_UP, 100 * NSEC_PER_MSEC));
	assert_int_equal(failures(CONNECT_TIMEOUT), 0);
}

static void test_a_frozen_peer_wakes_to_dead_requests_and_leaks_nothing(void **state)
{
	(void)state;
	two_hosts();
	host_freeze(host2(), true);
	start_session();
	world_run(40 * NSEC_PER_SEC);
	assert_true(failures(CONNECT_TIMEOUT) >= 3);
	host_freeze(host2(), false);
	assert_settled();
}

static void test_a_lost_rtu_is_made_up_by_the_first_message(void **state)
{
	(void)state;
	two_hosts();
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.lose_rtu = true});
	start_session();
	assert_up(host1(), 0);
	assert_int_equal(host_totals(host1()).attempts, 1);
	assert_settled();
}

static void test_back_off_is_bounded_and_never_ends(void **state)
{
	unsigned n = 1;

	(void)state;
	host_up("host1", "10.0.0.1");
	host_new("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	start_session();
	world_run(300 * NSEC_PER_SEC);
	for (; gap(n) != UINT64_MAX; n++)
		assert_true(gap(n) < BACKOFF_CAP_NS + 200 * NSEC_PER_MSEC);
	assert_in_range(n, 35, 120);
	assert_int_equal(host_totals(host1()).attempts, n);
	assert_int_equal(host_conn(host1(), 0).attempts_in_row, n);
	/* Not one in step with the other: jitter. */
	assert_int_not_equal(gap(n - 1) / NSEC_PER_MSEC, gap(n - 2) / NSEC_PER_MSEC);
	assert_int_equal(host_books(host1(), 0, OP_SEND).sent, 0);
	assert_true(host_books(host1(), 0, OP_SEND).not_attempted[SKIP_NOT_CONNECTED] > 1400);
}

static void test_nothing_is_booked_before_the_first_attempt_has_ended(void **state)
{
	(void)state;
	two_hosts();
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){.deaf_cm = true});
	start_session();
	world_run(7 * NSEC_PER_SEC);
	assert_int_equal(host_books(host1(), 0, OP_SEND).scheduled, 0);
	world_run(3 * NSEC_PER_SEC);
	assert_true(host_books(host1(), 0, OP_SEND).not_attempted[SKIP_NOT_CONNECTED] > 5);
}

static void test_a_peer_that_connects_to_us_ends_our_back_off(void **state)
{
	struct host *b;
	uint64_t started;

	(void)state;
	host_up("host1", "10.0.0.1");
	b = host_new("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	start_session();
	/* Until the back-off is a long one. */
	do {
		assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, 20 * NSEC_PER_SEC));
		started = host1()->told.n_changes;
		world_run(2 * NSEC_PER_SEC);
	} while (host1()->told.n_changes != started);
	host_start(b);
	world_run(10 * NSEC_PER_MSEC);
	host_session(b, 0, "host1", "10.0.0.1");
	assert_true(world_until_state(host1(), 0, SESSION_UP, 50 * NSEC_PER_MSEC));
}

/* --- routes --- */

/* An address that moved to another host: what is there is measured, and who it is is told. */
static void test_who_answers_is_told_when_the_list_names_another(void **state)
{
	(void)state;
	two_hosts();
	host_session(host1(), 0, "host3", "10.0.0.2");
	world_run(3 * NSEC_PER_SEC);
	assert_up(host1(), 0);
	assert_string_equal(host1()->told.answers_as, "host2");
	assert_int_equal(host1()->told.facts[FACT_ANSWERED], 1);
}

static void test_who_answers_is_no_news_when_it_is_who_is_listed(void **state)
{
	(void)state;
	two_hosts();
	start_session();
	world_run(3 * NSEC_PER_SEC);
	assert_up(host1(), 0);
	assert_int_equal(host1()->told.facts[FACT_ANSWERED], 0);
}

static void test_a_route_over_another_device_is_refused(void **state)
{
	struct host *c;

	(void)state;
	two_hosts();
	c = host_up("host3", "10.0.0.3");
	world_run(10 * NSEC_PER_MSEC);
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.route_to = c->dev});
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_WRONG_DEVICE), 1);
	assert_reason("the route leads over another device");
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){0});
	assert_settled();
}

static void test_a_route_to_no_device_is_refused(void **state)
{
	(void)state;
	two_hosts();
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.no_verbs = true});
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_RESOLVE), 1);
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){0});
	assert_settled();
}

static void test_a_connection_that_became_rocev1_is_refused(void **state)
{
	(void)state;
	two_hosts();
	fabric_add_address(host1()->dev, "10.0.0.1", IBV_GID_TYPE_ROCE_V1);
	world_run(200 * NSEC_PER_MSEC);
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.prefer_v1 = true});
	start_session();
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_int_equal(failures(CONNECT_WRONG_DEVICE), 1);
	assert_reason("the connection uses RoCE v1");
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){0});
	assert_settled();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
#define FAIL_TESTS(name) TEST(test_##name##_fails_once), TEST(test_##name##_fails_for_a_while)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_listens),
		TEST(test_stale_is_retried_at_once_and_once),
		TEST(test_stale_is_retried_at_once_again_after_the_session_was_up),
		TEST(test_our_own_rejects_say_why),
		TEST(test_a_foreign_reject_is_a_refusal),
		TEST(test_events_of_failure_are_counted_by_their_reason),
		FAIL_TESTS(create_id),
		FAIL_TESTS(set_option),
		FAIL_TESTS(resolve_addr),
		FAIL_TESTS(resolve_route),
		FAIL_TESTS(registering_receives),
		FAIL_TESTS(registering_half_the_receives),
		FAIL_TESTS(registering_memory),
		FAIL_TESTS(create_qp),
		FAIL_TESTS(connecting),
		FAIL_TESTS(going_to_rts),
		FAIL_TESTS(query_qp),
		FAIL_TESTS(min_rnr_timer),
		FAIL_TESTS(sending_hello),
		FAIL_TESTS(posting_receives),
		FAIL_TESTS(peers_registering_receives),
		FAIL_TESTS(peers_registering_memory),
		FAIL_TESTS(peers_create_qp),
		FAIL_TESTS(peers_set_option),
		FAIL_TESTS(peers_accept),
		FAIL_TESTS(peers_min_rnr_timer),
		FAIL_TESTS(peers_sending_hello),
		FAIL_TESTS(peers_posting_receives),
		TEST(test_a_device_with_less_inline_room_is_asked_again_without),
		TEST(test_a_qp_that_cannot_be_made_is_told_until_it_can),
		TEST(test_a_peer_that_does_not_answer_costs_eight_seconds),
		TEST(test_peers_that_do_not_answer_leave_a_turn_for_one_that_has_come),
		TEST(test_a_peer_that_never_says_hello_costs_eight_seconds),
		TEST(test_a_hello_that_overtakes_the_word_of_its_connection_is_heard),
		TEST(test_a_frozen_peer_wakes_to_dead_requests_and_leaks_nothing),
		TEST(test_a_lost_rtu_is_made_up_by_the_first_message),
		TEST(test_back_off_is_bounded_and_never_ends),
		TEST(test_nothing_is_booked_before_the_first_attempt_has_ended),
		TEST(test_a_peer_that_connects_to_us_ends_our_back_off),
		TEST(test_who_answers_is_told_when_the_list_names_another),
		TEST(test_who_answers_is_no_news_when_it_is_who_is_listed),
		TEST(test_a_route_over_another_device_is_refused),
		TEST(test_a_route_to_no_device_is_refused),
		TEST(test_a_connection_that_became_rocev1_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
