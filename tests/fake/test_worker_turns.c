/* Whose turn it is to connect when many want to, and what it costs when a peer misbehaves: hundreds
 * of dead peers keep nobody waiting, a peer that makes fools of us is left alone for a while, and
 * a kernel that does not resolve is not the peers' fault. */
#include "support.h"

#include <arpa/inet.h>

#include "probes/control_priv.h"
#include "probes/spsc.h"
#include "world.h"

#define DEAD 500
#define ROWS 512
#define CONNECTS 64

static struct host *host1(void)
{
	return &world.host[0];
}

static struct host *host2(void)
{
	return &world.host[1];
}

static uint32_t in_flight(const struct host *h)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < h->n_rows; row++) {
		enum session_state s = host_conn(h, row).state;

		n += s == SESSION_RESOLVING || s == SESSION_CONNECTING;
	}
	return n;
}

static bool bounded_and_up(void *arg)
{
	struct host *h = arg;

	assert_true(in_flight(h) <= h->cfg.connects);
	return host_conn(h, 0).state == SESSION_UP;
}

static bool bounded(void *arg)
{
	struct host *h = arg;

	assert_true(in_flight(h) <= h->cfg.connects);
	return false;
}

/* --- many dead peers --- */

static void dead_address(unsigned i, char out[INET_ADDRSTRLEN])
{
	snprintf(out, INET_ADDRSTRLEN, "10.1.%u.%u", i / 250, i % 250 + 1);
}

/* A host with hundreds of peers, of which half do not exist and half do not answer; the one of row
 * 0 is there, but dark. */
static struct host *host_of_many(unsigned n)
{
	struct host *a = host_new("host1", "10.0.0.1"), *silent, *b;
	char address[INET_ADDRSTRLEN];

	a->cfg.connects = CONNECTS;
	a->cfg.qps_per_device = 1024;
	a->n_rows = ROWS;
	host_start(a);
	b = host_up("host2", "10.0.0.2");
	fabric_set_dark(b->dev, true);
	silent = host_up("silent", "10.0.0.3");
	fabric_set_knobs(silent->dev, &(struct fake_knobs){.deaf_cm = true});
	for (unsigned i = 0; i < n / 2; i++) {
		dead_address(i, address);
		fabric_add_address(silent->dev, address, IBV_GID_TYPE_ROCE_V2);
	}
	world_run(500 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	for (unsigned i = 0; i < n; i++) {
		dead_address(i, address);
		host_session(a, i + 1, "dead", address);
		if (i % 32 == 0)
			world_run(NSEC_PER_MSEC); /* the socket holds so many */
	}
	return a;
}

static void test_500_dead_peers_do_not_keep_a_healed_one_waiting(void **state)
{
	struct host *a = host_of_many(DEAD);
	uint64_t began, before;

	(void)state;
	assert_false(world_until(bounded, a, 60 * NSEC_PER_SEC));
	assert_true(host_conn(a, 0).attempts_in_row >= 3);
	before = host_totals(a).attempts;
	fabric_set_dark(host2()->dev, false);
	began = world_now_ns();
	/* The rest of its own back-off, and a turn soon after. */
	assert_true(world_until(bounded_and_up, a, BACKOFF_CAP_NS + 5 * NSEC_PER_SEC));
	assert_true(host_totals(a).attempts - before >=
		    (world_now_ns() - began) / NSEC_PER_SEC); /* nor do the others starve */
	assert_true(host_totals(a).attempts < 120 * (uint64_t)(60 + 15)); /* a second */
}

static void test_a_new_peer_does_not_wait_behind_500_dead_ones(void **state)
{
	struct host *a = host_of_many(DEAD);

	(void)state;
	world_run(60 * NSEC_PER_SEC);
	fabric_set_dark(host2()->dev, false);
	host_remove_session(a, 0, ABORT_RELOAD);
	world_run(NSEC_PER_SEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until(bounded_and_up, a, 300 * NSEC_PER_MSEC));
}

static void test_a_peer_that_connects_to_us_comes_before_500_dead_ones(void **state)
{
	struct host *a = host_of_many(DEAD);

	(void)state;
	world_run(60 * NSEC_PER_SEC);
	fabric_set_dark(host2()->dev, false);
	host_session(host2(), 0, "host1", "10.0.0.1");
	assert_up(host2(), 0);
	assert_true(world_until(bounded_and_up, a, 300 * NSEC_PER_MSEC));
}

/* All new at once, as after a start: those that are dead take their time once, in few turns. */
static void test_a_first_round_with_500_dead_peers_is_over_in_half_a_minute(void **state)
{
	struct host *a = host_of_many(DEAD);
	struct host *c = host_up("host4", "10.0.0.4");

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, DEAD + 1, "host4", "10.0.0.4");
	assert_true(world_until_state(a, DEAD + 1, SESSION_UP, 30 * NSEC_PER_SEC));
	assert_int_equal(fabric_qps(c->dev), 1);
}

static void test_every_dead_peer_is_tried_again_and_again(void **state)
{
	struct host *a = host_of_many(DEAD);

	(void)state;
	world_run(120 * NSEC_PER_SEC);
	for (uint32_t row = 0; row <= DEAD; row++)
		assert_in_range(host_conn(a, row).attempts_in_row, 4, 60);
}

static void test_a_stop_in_a_storm_of_connects_is_short(void **state)
{
	struct host *a;
	char address[INET_ADDRSTRLEN];

	(void)state;
	for (unsigned run = 0; run < 50; run++) {
		a = host_of_many(20); /* 10 silent, 10 that do not exist */
		fabric_set_dark(host2()->dev, false);
		/* 25 refuse: nobody listens there. */
		host_new("refuses", NULL);
		for (unsigned i = 0; i < 25; i++) {
			snprintf(address, sizeof(address), "10.2.0.%u", i + 1);
			fabric_add_address(world.host[3].dev, address, IBV_GID_TYPE_ROCE_V2);
			host_session(a, 30 + i, "refuses", address);
		}
		host_session(a, 60, "host2", "10.0.0.2");
		world_run(run * 97 * NSEC_PER_MSEC);
		assert_true(host_stop(a)); /* in 3 s */
		assert_int_equal(host_exit_code(a), 0);
		assert_int_equal(fabric_qps(a->dev), 0);
		world_teardown(NULL);
		world_setup(NULL);
	}
}

static void test_a_rail_begins_so_many_attempts_a_second_at_most(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");
	uint64_t before;

	(void)state;
	a->cfg.connects = 1024;
	a->cfg.qps_per_device = 1024;
	a->n_rows = ROWS;
	host_start(a);
	host_new("host2", "10.0.0.2"); /* does not listen: refuses at once */
	world_run(NSEC_PER_SEC);
	for (uint32_t row = 0; row < ROWS; row++) {
		host_session(a, row, "host2", "10.0.0.2");
		if (row % 32 == 0)
			world_run(NSEC_PER_MSEC);
	}
	world_run(20 * NSEC_PER_SEC);
	before = host_totals(a).attempts;
	world_run(10 * NSEC_PER_SEC);
	/* A quarter of what new ones may have. */
	assert_in_range(host_totals(a).attempts - before, 300, 640);
}

/* --- peers that misbehave --- */

static void two_hosts(const struct fake_knobs *of_second)
{
	host_up("host1", "10.0.0.1");
	host_up("host2", "10.0.0.2");
	fabric_set_knobs(host2()->dev, of_second);
	world_run(10 * NSEC_PER_MSEC);
	host_session(host1(), 0, "host2", "10.0.0.2");
}

static void assert_left_alone_then_healed(void)
{
	uint64_t before;

	world_run(60 * NSEC_PER_SEC);
	before = host_totals(host1()).attempts;
	world_run(100 * NSEC_PER_SEC);
	/* One in 5 s on the average. */
	assert_in_range(host_totals(host1()).attempts - before, 10, 40);
	assert_true(fabric_qps(host1()->dev) <= 1 && fabric_qps(host2()->dev) <= 2);
	fabric_set_knobs(host2()->dev, &(struct fake_knobs){0});
	assert_up(host1(), 0);
}

static void test_a_peer_that_accepts_and_closes_at_once_is_left_alone(void **state)
{
	(void)state;
	two_hosts(&(struct fake_knobs){.closes_after_ns = 1});
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_string_equal(host_conn(host1(), 0).reason, "accepted, and closed at once");
	assert_left_alone_then_healed();
}

static void test_a_peer_that_closes_as_soon_as_the_session_is_up_is_left_alone(void **state)
{
	(void)state;
	two_hosts(&(struct fake_knobs){.closes_after_ns = 300 * NSEC_PER_MSEC});
	assert_up(host1(), 0);
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_string_equal(host_conn(host1(), 0).reason, "the peer closed the connection");
	assert_left_alone_then_healed();
}

static void test_a_peer_whose_hello_is_nonsense_is_left_alone(void **state)
{
	(void)state;
	two_hosts(&(struct fake_knobs){.garbles_sends = true});
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_string_equal(host_conn(host1(), 0).reason, "the peer's hello is malformed");
	assert_true(host_totals(host1()).failures[CONNECT_HELLO] > 0);
	assert_left_alone_then_healed();
}

/* It opens one to us each time, which would end our back-off each time. */
static void test_a_peer_that_comes_and_goes_does_not_drive_us(void **state)
{
	(void)state;
	two_hosts(&(struct fake_knobs){.closes_after_ns = 1});
	for (unsigned i = 0; i < 500; i++) {
		host_session(host2(), 1, "host1", "10.0.0.1");
		world_run(50 * NSEC_PER_MSEC);
		host_remove_session(host2(), 1, ABORT_RELOAD);
		world_run(50 * NSEC_PER_MSEC);
	}
	/* In 50 s: one a second for its visits, and the short back-off after each. */
	assert_in_range(host_totals(host1()).attempts, 20, 250);
}

/* --- a kernel that does not resolve --- */

static void stall(const struct fake_knobs *how)
{
	two_hosts(&(struct fake_knobs){0});
	fabric_set_knobs(host1()->dev, how);
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, 8 * NSEC_PER_SEC));
	assert_true(host1()->told.stalled);
	assert_string_equal(host_conn(host1(), 0).reason, SAID_STALLED);
	world_run(60 * NSEC_PER_SEC);
	assert_int_equal(host1()->told.facts[FACT_STALLED], 1); /* once, however many attempts */
	fabric_set_knobs(host1()->dev, &(struct fake_knobs){0});
	assert_up(host1(), 0);
	assert_false(host1()->told.stalled);
}

static void test_addresses_that_are_never_resolved_are_rdma_cms_fault(void **state)
{
	(void)state;
	stall(&(struct fake_knobs){.hangs_resolving = true});
}

static void test_routes_that_are_never_resolved_are_rdma_cms_fault(void **state)
{
	(void)state;
	stall(&(struct fake_knobs){.hangs_routing = true});
}

static void test_peers_that_do_not_exist_are_no_sign_of_a_stall(void **state)
{
	struct host *a = host_of_many(100);

	(void)state;
	world_run(60 * NSEC_PER_SEC);
	assert_int_equal(a->told.facts[FACT_STALLED], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_500_dead_peers_do_not_keep_a_healed_one_waiting),
		TEST(test_a_new_peer_does_not_wait_behind_500_dead_ones),
		TEST(test_a_peer_that_connects_to_us_comes_before_500_dead_ones),
		TEST(test_a_first_round_with_500_dead_peers_is_over_in_half_a_minute),
		TEST(test_every_dead_peer_is_tried_again_and_again),
		TEST(test_a_stop_in_a_storm_of_connects_is_short),
		TEST(test_a_rail_begins_so_many_attempts_a_second_at_most),
		TEST(test_a_peer_that_accepts_and_closes_at_once_is_left_alone),
		TEST(test_a_peer_that_closes_as_soon_as_the_session_is_up_is_left_alone),
		TEST(test_a_peer_whose_hello_is_nonsense_is_left_alone),
		TEST(test_a_peer_that_comes_and_goes_does_not_drive_us),
		TEST(test_addresses_that_are_never_resolved_are_rdma_cms_fault),
		TEST(test_routes_that_are_never_resolved_are_rdma_cms_fault),
		TEST(test_peers_that_do_not_exist_are_no_sign_of_a_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
