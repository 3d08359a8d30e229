/* Hosts that die without a word: what they leave at their peers is found and freed, and nobody who
 * lives is taken for dead. */
#include "support.h"

#include "probes/control_priv.h"
#include "probes/rail_priv.h"
#include "world.h"

#define KEEPALIVE_MS 1000
#define REAP_NS (KEEPALIVE_LOST * KEEPALIVE_MS * NSEC_PER_MSEC)
#define DRAIN_MAX_NS (2 * NSEC_PER_SEC)

static struct host *host1(void)
{
	return &world.host[0];
}

static struct host *host2(void)
{
	return &world.host[1];
}

/* Two hosts, a session from the first to the second, whose operations are at this interval; 0:
 * off. */
static void session_with(uint64_t send_ns, uint64_t read_ns, uint32_t keepalive_ms)
{
	struct host *a = host_new("host1", "10.0.0.1"), *b = host_new("host2", "10.0.0.2");

	a->cfg.keepalive_ms = keepalive_ms;
	b->cfg.keepalive_ms = 3600 * 1000; /* what counts is what the initiator states */
	a->cfg.op[OP_SEND].interval_ns = send_ns;
	a->cfg.op[OP_READ].interval_ns = read_ns;
	host_start(a);
	host_start(b);
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
}

static uint32_t qps_left(void)
{
	return fabric_qps(host2()->dev);
}

static void assert_never_broke(void)
{
	assert_int_equal(host_conn(host1(), 0).state, SESSION_UP);
	assert_int_equal(host_totals(host1()).attempts, 1);
	assert_int_equal(qps_left(), 1);
}

static void test_an_initiator_that_died_silently_is_found_by_its_silence(void **state)
{
	(void)state;
	session_with(WORLD_INTERVAL_NS, WORLD_INTERVAL_NS, KEEPALIVE_MS);
	world_run(5 * NSEC_PER_SEC);
	host_kill(host1());
	world_run(REAP_NS - NSEC_PER_SEC);
	assert_int_equal(qps_left(), 1);
	world_run(NSEC_PER_SEC + DRAIN_MAX_NS);
	assert_int_equal(qps_left(), 0);
	assert_receives_kept(host2());
}

static void test_reads_alone_do_not_look_like_death(void **state)
{
	uint64_t taken;

	(void)state;
	session_with(0, WORLD_INTERVAL_NS, KEEPALIVE_MS);
	world_run(NSEC_PER_SEC);
	taken = fabric_srq_taken(host2()->dev);
	world_run(20 * NSEC_PER_SEC);
	assert_never_broke();
	/* One message a second, in no books. */
	assert_in_range(fabric_srq_taken(host2()->dev) - taken, 15, 21);
	assert_int_equal(host_books(host1(), 0, OP_SEND).scheduled, 0);
	assert_int_equal(host_books(host1(), 0, OP_READ).ok,
			 host_books(host1(), 0, OP_READ).scheduled);
}

static void test_sends_at_long_intervals_are_kept_alive_between(void **state)
{
	(void)state;
	session_with(30 * NSEC_PER_SEC, 0, KEEPALIVE_MS);
	world_run(100 * NSEC_PER_SEC);
	assert_never_broke();
	assert_in_range(host_books(host1(), 0, OP_SEND).ok, 3, 4);
}

static void test_frequent_sends_need_no_keepalive(void **state)
{
	uint64_t taken, sent;

	(void)state;
	session_with(WORLD_INTERVAL_NS, 0, KEEPALIVE_MS);
	world_run(NSEC_PER_SEC);
	taken = fabric_srq_taken(host2()->dev);
	sent = host_books(host1(), 0, OP_SEND).sent;
	world_run(20 * NSEC_PER_SEC);
	assert_int_equal(fabric_srq_taken(host2()->dev) - taken,
			 host_books(host1(), 0, OP_SEND).sent - sent);
}

static void test_an_initiator_that_states_none_is_replaced_only(void **state)
{
	(void)state;
	session_with(WORLD_INTERVAL_NS, WORLD_INTERVAL_NS, 0);
	host_kill(host1());
	world_run(600 * NSEC_PER_SEC);
	assert_int_equal(qps_left(), 1);
	host_start(host1());
	world_run(10 * NSEC_PER_MSEC);
	host_session(host1(), 0, "host2", "10.0.0.2");
	assert_up(host1(), 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(qps_left(), 1);
}

/* Its hello_reply states none: so it would not know the message. */
static void test_a_responder_of_an_older_version_is_sent_no_keepalive(void **state)
{
	struct wire_hello old = {.instance = 7, .rx_size = 512, .host = "host2", .rail = "r"};
	uint8_t data[WIRE_MAX_HELLO];
	size_t len;

	(void)state;
	session_with(0, WORLD_INTERVAL_NS, KEEPALIVE_MS);
	host_remove_session(host1(), 0, ABORT_RELOAD);
	world_run(NSEC_PER_SEC);
	host2()->frozen_rail = true; /* so that the old one's answer comes first */
	host_session(host1(), 0, "host2", "10.0.0.2");
	assert_true(world_until_state(host1(), 0, SESSION_CONNECTING, NSEC_PER_SEC));
	world_run(10 * NSEC_PER_MSEC);
	endpoint_pattern(host2()->control->endpoint, &old.pattern);
	len = wire_put_hello(WIRE_HELLO_REPLY, &old, data, sizeof(data));
	assert_true(
		fabric_deliver(host1()->dev, fabric_last_qpn(host1()->dev), data, (uint32_t)len));
	assert_up(host1(), 0);
	host2()->frozen_rail = false;
	/* This one reaps: that it does proves that nothing was sent. */
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, REAP_NS + NSEC_PER_SEC));
}

/* Its messages wait to be read: they are no silence. */
static void test_a_responder_that_was_away_itself_reaps_nobody(void **state)
{
	uint64_t taken;

	(void)state;
	session_with(0, WORLD_INTERVAL_NS, KEEPALIVE_MS);
	taken = fabric_srq_taken(host2()->dev);
	host_freeze(host2(), true);
	world_run(60 * NSEC_PER_SEC);
	/* A frozen host's receives are not used up. */
	assert_in_range(fabric_srq_taken(host2()->dev) - taken, 1, ECHO_BOUND);
	host_freeze(host2(), false);
	world_run(10 * NSEC_PER_SEC);
	assert_never_broke();
}

static void test_a_responder_whose_rail_alone_was_away_reaps_nobody(void **state)
{
	(void)state;
	session_with(WORLD_INTERVAL_NS, 0, KEEPALIVE_MS);
	host2()->frozen_rail = true;
	world_run(60 * NSEC_PER_SEC);
	host2()->frozen_rail = false;
	world_run(10 * NSEC_PER_SEC);
	assert_never_broke();
}

static void test_a_local_link_that_is_down_is_not_kept_busy(void **state)
{
	(void)state;
	session_with(0, 5 * NSEC_PER_SEC, KEEPALIVE_MS);
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){.hardware = true});
	fabric_set_port(host1()->dev, false);
	world_run(300 * NSEC_PER_MSEC);
	fabric_set_port(host1()->dev, true);
	world_run(10 * NSEC_PER_SEC);
	assert_never_broke();
}

/* Another name each time, so that none replaces the one before. */
static void test_300_silent_deaths_leave_a_bounded_number_of_queue_pairs(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1"), *b = host_new("host2", "10.0.0.2");
	uint32_t most = 0;

	(void)state;
	a->cfg.keepalive_ms = KEEPALIVE_MS;
	b->cfg.qps_per_device = 128;
	host_start(b);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(a->cfg.host, sizeof(a->cfg.host), "host-%u", i);
		host_start(a);
		world_run(10 * NSEC_PER_MSEC);
		host_session(a, 0, "host2", "10.0.0.2");
		assert_up(a, 0);
		world_run(50 * NSEC_PER_MSEC);
		host_kill(a);
		if (qps_left() > most)
			most = qps_left();
	}
	assert_in_range(most, 30, 100); /* those of 3 s and of their drains */
	world_run(REAP_NS + DRAIN_MAX_NS);
	assert_int_equal(qps_left(), 0);
	assert_receives_kept(b);
}

static uint64_t creeping_ns(void)
{
	static uint64_t calls;

	return world_now_ns() + 1000 * ++calls;
}

/* A clock goes on while a step runs. One that comes due in mid-step, and must wait for the request
 * that is out, is tried again later, not for ever in the same step. */
static void test_a_keepalive_due_in_mid_step_that_must_wait_does_not_hold_the_rail(void **state)
{
	struct rail_session *s;
	struct pair p = world_pair();
	struct rail *r = p.a->rail;

	(void)state;
	world_run(NSEC_PER_SEC);
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){20 * NSEC_PER_MSEC, false});
	while (!host_books(p.a, 0, OP_READ).in_flight)
		world_run(NSEC_PER_MSEC);
	s = &p.a->control->sessions[0]->rs;
	assert_int_not_equal(s->wr.seq, 0);
	s->keepalive_ns = 10 * NSEC_PER_MSEC;
	r->p.now_ns = creeping_ns;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t now = creeping_ns();

		s->conn->sent_ns = now + i * 500 - s->keepalive_ns;
		timer_heap_set(r->timers, &s->timer, now);
		rail_step(r);
		assert_true(timer_heap_when(r->timers) > now);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_initiator_that_died_silently_is_found_by_its_silence),
		TEST(test_reads_alone_do_not_look_like_death),
		TEST(test_sends_at_long_intervals_are_kept_alive_between),
		TEST(test_frequent_sends_need_no_keepalive),
		TEST(test_an_initiator_that_states_none_is_replaced_only),
		TEST(test_a_responder_of_an_older_version_is_sent_no_keepalive),
		TEST(test_a_responder_that_was_away_itself_reaps_nobody),
		TEST(test_a_responder_whose_rail_alone_was_away_reaps_nobody),
		TEST(test_a_local_link_that_is_down_is_not_kept_busy),
		TEST(test_300_silent_deaths_leave_a_bounded_number_of_queue_pairs),
		TEST(test_a_keepalive_due_in_mid_step_that_must_wait_does_not_hold_the_rail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
