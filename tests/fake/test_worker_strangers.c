/* Crowds at the door: strangers cost little and are told in few words, the cap holds, and a place
 * that is free is taken. */
#include "support.h"

#include "core/hash.h"
#include "probes/control_priv.h"
#include "world.h"

static struct host *host_at(unsigned i)
{
	return &world.host[i];
}

static void knock(struct host *h, unsigned from, const char *name)
{
	struct wire_request r = {.instance = 99, .host_hash = hash_str(name)};
	uint8_t data[WIRE_REQUEST_LEN];
	char address[16];

	snprintf(address, sizeof(address), "10.9.%u.%u", from / 250, from % 250 + 1);
	wire_put_request(&r, data);
	fabric_request(h->dev, address, h->address, data, sizeof(data));
}

/* host1 with a session to host2, which runs. */
static struct host *busy_host(bool accept_any)
{
	static const char *const list[] = {"10.0.0.2"};
	struct host *a = host_new("host1", "10.0.0.1");

	a->cfg.accept_any = accept_any;
	a->cfg.qps_per_device = 1024;
	host_start(a);
	host_accept(a, list, 1);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(NSEC_PER_SEC);
	return a;
}

static void assert_undisturbed(struct host *a)
{
	assert_int_equal(host_conn(a, 0).state, SESSION_UP);
	assert_int_equal(host_totals(a).attempts, 1);
	assert_int_equal(host_books(a, 0, OP_SEND).misses, 0);
	assert_int_equal(host_books(a, 0, OP_READ).misses, 0);
	assert_receives_kept(a);
}

static void test_a_flood_of_strangers_is_refused_in_few_words(void **state)
{
	struct host *a = busy_host(false);
	uint8_t data[WIRE_REJECT_LEN];

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		knock(a, i % 5000, "x");
		if (i % 10 == 0)
			world_run(NSEC_PER_MSEC);
	}
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_rejects(a->dev, data, sizeof(data)), 10000);
	assert_int_equal(fabric_calls(a->dev, CALL_CREATE_QP), 1); /* its own */
	assert_true(a->told.facts[FACT_REFUSED] <= 2);
	assert_int_equal(a->told.refused, WIRE_REJECT_NOT_LISTED);
	assert_non_null(strstr(a->told.refusal, "10.9.0.1 is refused"));
	/* Few words, but each is counted. */
	assert_int_equal(host_totals(a).refused[REFUSE_NOT_LISTED], 10000);
	world_run(10 * NSEC_PER_SEC);
	knock(a, 7, "x");
	world_run(NSEC_PER_MSEC);
	assert_non_null(strstr(a->told.refusal, "and 9999 more"));
	assert_undisturbed(a);
}

static void test_connections_that_say_nothing_are_bounded(void **state)
{
	struct host *a = busy_host(true);
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		knock(a, i, name);
		world_run(NSEC_PER_MSEC);
		assert_true(fabric_qps(a->dev) <= 1 + 128);
	}
	assert_int_equal(fabric_qps(a->dev), 1 + 128);
	assert_int_equal(a->told.refused, WIRE_REJECT_NO_RESOURCES);
	assert_int_equal(host_totals(a).refused[REFUSE_HALF_OPEN], 1000 - 128);
	assert_int_equal(host_totals(a).refused[REFUSE_HELLO], 0);
	world_run(ATTEMPT_NS + 2 * NSEC_PER_SEC);
	assert_int_equal(host_totals(a).refused[REFUSE_HELLO], 128);
	assert_int_equal(fabric_qps(a->dev), 1);
	assert_undisturbed(a);
}

/* The places of the others stay free. */
static void test_one_address_that_says_nothing_takes_few_places(void **state)
{
	struct host *a = busy_host(true);
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		knock(a, 1, name);
		world_run(NSEC_PER_MSEC);
	}
	assert_int_equal(fabric_qps(a->dev), 1 + 32);
	host_session(host_at(1), 0, "host1", "10.0.0.1");
	assert_true(world_until_state(host_at(1), 0, SESSION_UP, 100 * NSEC_PER_MSEC));
	assert_undisturbed(a);
}

/* --- the cap --- */

/* host4 takes so many; the first ones connect to it. */
static struct host *crowded(unsigned cap, unsigned comers)
{
	struct host *h;
	char name[8], address[16];

	for (unsigned i = 1; i <= 3; i++) {
		snprintf(name, sizeof(name), "host%u", i);
		snprintf(address, sizeof(address), "10.0.0.%u", i);
		host_up(name, address);
	}
	h = host_new("host4", "10.0.0.4");
	h->cfg.qps_per_device = cap;
	host_start(h);
	world_run(10 * NSEC_PER_MSEC);
	for (unsigned i = 0; i < comers; i++) {
		host_session(host_at(i), 0, "host4", "10.0.0.4");
		assert_up(host_at(i), 0);
	}
	return h;
}

static void test_a_place_that_is_free_again_is_taken(void **state)
{
	struct host *h = crowded(2, 2), *third = host_at(2);

	(void)state;
	host_session(third, 0, "host4", "10.0.0.4");
	world_run(30 * NSEC_PER_SEC);
	assert_true(host_totals(third).failures[CONNECT_NO_RESOURCES] >= 3);
	assert_string_equal(host_conn(third, 0).reason, "peer has no resources left");
	assert_int_equal(fabric_qps(h->dev), 2);
	host_remove_session(host_at(0), 0, ABORT_RELOAD);
	assert_true(world_until_state(third, 0, SESSION_UP, BACKOFF_CAP_NS + NSEC_PER_SEC));
	assert_int_equal(host_conn(host_at(1), 0).state, SESSION_UP);
}

/* What it left behind holds its own place. */
static void test_at_the_cap_a_peer_that_returns_gets_its_place_back(void **state)
{
	struct host *h = crowded(3, 3), *first = host_at(0);

	(void)state;
	host_kill(first);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 3);
	host_start(first);
	world_run(10 * NSEC_PER_MSEC);
	host_session(first, 0, "host4", "10.0.0.4");
	assert_true(world_until_state(first, 0, SESSION_UP, 2 * NSEC_PER_SEC));
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(host_conn(host_at(i), 0).state, SESSION_UP);
}

/* It can only end what came from its own address. */
static void test_at_the_cap_a_stranger_frees_no_place(void **state)
{
	struct host *h = crowded(3, 3);
	struct conn *conn = h->control->conns;
	struct wire_request r = {.instance = 99};
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	r.host_hash = conn->key.host;
	r.rail_hash = conn->key.rail;
	r.peer_rail_hash = conn->key.peer_rail;
	r.class_hash = conn->key.class_hash;
	wire_put_request(&r, data);
	fabric_request(h->dev, "10.9.9.9", "10.0.0.4", data, sizeof(data));
	world_run(NSEC_PER_SEC);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(host_totals(host_at(i)).attempts, 1);
	assert_int_equal(fabric_qps(h->dev), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_flood_of_strangers_is_refused_in_few_words),
		TEST(test_connections_that_say_nothing_are_bounded),
		TEST(test_one_address_that_says_nothing_takes_few_places),
		TEST(test_a_place_that_is_free_again_is_taken),
		TEST(test_at_the_cap_a_peer_that_returns_gets_its_place_back),
		TEST(test_at_the_cap_a_stranger_frees_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
