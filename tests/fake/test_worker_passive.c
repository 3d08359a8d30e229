/* The side that answers: who may come in, who is replaced, and what strangers may send. */
#include "support.h"

#include <errno.h>

#include "core/hash.h"
#include "probes/control_priv.h"
#include "world.h"

#define STRANGER "10.9.9.9"

static struct host *listener_host(void)
{
	struct host *h = host_up("host1", "10.0.0.1");

	world_run(10 * NSEC_PER_MSEC);
	return h;
}

static struct wire_request request_of(const char *host)
{
	struct wire_request r = {
		.instance = 99,
		.generation = 1,
		.host_hash = hash_str(host),
		.rail_hash = hash_str("rail"),
		.class_hash = (uint32_t)hash_str("default"),
	};

	return r;
}

static void knock(struct host *h, const char *from, const void *data, uint8_t len)
{
	fabric_request(h->dev, from, "10.0.0.1", data, len);
	world_run(NSEC_PER_MSEC);
}

/* A stranger that speaks our protocol; the number of the QP made for it. */
static uint32_t come_in(struct host *h, const char *from, const char *name)
{
	struct wire_request r = request_of(name);
	uint8_t data[WIRE_REQUEST_LEN];

	wire_put_request(&r, data);
	knock(h, from, data, sizeof(data));
	return fabric_last_qpn(h->dev);
}

static enum wire_reject last_reject(const struct host *h, unsigned *ret_n)
{
	uint8_t data[148];

	*ret_n = fabric_rejects(h->dev, data, sizeof(data));
	return wire_get_reject(data, sizeof(data));
}

static void assert_rejected(const struct host *h, unsigned n, enum wire_reject why)
{
	unsigned rejected;

	assert_int_equal(last_reject(h, &rejected), why);
	assert_int_equal(rejected, n);
	assert_int_equal(fabric_qps(h->dev), 0);
	assert_int_equal(fabric_objects(OBJECT_ID), 1); /* the listener's */
}

/* --- requests --- */

static void test_requests_that_are_not_ours_are_rejected_and_leave_nothing(void **state)
{
	struct host *h = listener_host();
	struct wire_request r = request_of("x");
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	knock(h, STRANGER, "", 0);
	assert_rejected(h, 1, WIRE_REJECT_MALFORMED);
	knock(h, STRANGER, "GET / HTTP/1.1", 14);
	assert_rejected(h, 2, WIRE_REJECT_MALFORMED);
	wire_put_request(&r, data);
	data[4] = WIRE_VERSION_MIN - 1;
	knock(h, STRANGER, data, sizeof(data));
	assert_rejected(h, 3, WIRE_REJECT_VERSION);
	memset(data, 0xff, sizeof(data));
	knock(h, STRANGER, data, sizeof(data));
	assert_rejected(h, 4, WIRE_REJECT_MALFORMED);
	assert_int_equal(host_totals(h).refused[REFUSE_MALFORMED], 3);
	assert_int_equal(host_totals(h).refused[REFUSE_VERSION], 1);
}

static void test_only_listed_addresses_come_in(void **state)
{
	static const char *const list[] = {"10.0.0.7", "10.0.0.8"};
	struct host *h = host_new("host1", "10.0.0.1");

	(void)state;
	h->cfg.accept_any = 0;
	host_start(h);
	host_accept(h, list, COUNT(list));
	world_run(10 * NSEC_PER_MSEC);
	come_in(h, STRANGER, "x");
	assert_rejected(h, 1, WIRE_REJECT_NOT_LISTED);
	come_in(h, "10.0.0.8", "x");
	assert_int_equal(fabric_qps(h->dev), 1);
}

static void test_an_empty_list_lets_nobody_in(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");

	(void)state;
	h->cfg.accept_any = 0;
	host_start(h);
	world_run(10 * NSEC_PER_MSEC);
	come_in(h, STRANGER, "x");
	assert_rejected(h, 1, WIRE_REJECT_NOT_LISTED);
}

static void test_a_peer_that_is_listed_later_connects_then(void **state)
{
	static const char *const list[] = {"10.0.0.1"};
	struct host *a = host_up("host1", "10.0.0.1"), *b = host_new("host2", "10.0.0.2");

	(void)state;
	b->cfg.accept_any = 0;
	host_start(b);
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_true(world_until_state(a, 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_string_equal(host_conn(a, 0).reason, "peer does not list this address");
	host_accept(b, list, 1);
	assert_up(a, 0);
}

static void test_more_than_the_cap_are_refused_with_the_reason(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");
	unsigned n;

	(void)state;
	h->cfg.qps_per_device = 3;
	host_start(h);
	world_run(10 * NSEC_PER_MSEC);
	come_in(h, "10.9.0.1", "a");
	come_in(h, "10.9.0.2", "b");
	come_in(h, "10.9.0.3", "c");
	assert_int_equal(fabric_qps(h->dev), 3);
	come_in(h, "10.9.0.4", "d");
	assert_int_equal(fabric_qps(h->dev), 3);
	assert_int_equal(last_reject(h, &n), WIRE_REJECT_NO_RESOURCES);
	assert_int_equal(n, 1);
	assert_int_equal(host_totals(h).refused[REFUSE_CAP], 1);
	/* None said hello: their places are free again. */
	world_run(9 * NSEC_PER_SEC);
	come_in(h, "10.9.0.4", "d");
	assert_int_equal(fabric_qps(h->dev), 1);
}

static void test_strangers_do_not_take_the_places_of_own_sessions(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");
	uint64_t active, passive;

	(void)state;
	h->cfg.qps_per_device = 4;
	host_start(h);
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	fabric_set_knobs(world.host[1].dev, &(struct fake_knobs){.deaf_cm = true});
	host_session(h, 0, "host2", "10.0.0.2");
	host_session(h, 1, "host3", "10.0.0.3"); /* does not exist, waits in back-off */
	world_run(3 * NSEC_PER_SEC);
	for (unsigned i = 1; i < 9; i++) {
		char from[16], name[16];

		snprintf(from, sizeof(from), "10.9.0.%u", i);
		snprintf(name, sizeof(name), "s%u", i);
		come_in(h, from, name);
	}
	table_get_qps(h->table, &active, &passive);
	assert_int_equal(active, 1);
	assert_int_equal(passive, 2);
}

static void test_a_request_while_stopping_hears_that_we_leave(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1"), *b = host_up("host2", "10.0.0.2");
	struct wish stop = {.type = WISH_STOP};
	unsigned n;

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	host_session(b, 0, "host1", "10.0.0.1");
	assert_up(b, 0);
	host_freeze(a, true);
	come_in(a, STRANGER, "x"); /* waits in the queue behind the wish */
	host_wish(a, &stop);
	host_freeze(a, false);
	world_run(NSEC_PER_MSEC);
	/* Whether its listener was closed first or it was judged: nothing is left of it. */
	last_reject(a, &n);
	assert_true(n <= 1);
	assert_true(host_stop(a));
}

/* --- messages --- */

static struct wire_hello hello_of(const char *host)
{
	struct wire_hello h = {.instance = 99, .rx_size = 512};

	snprintf(h.host, sizeof(h.host), "%s", host);
	snprintf(h.rail, sizeof(h.rail), "rail");
	return h;
}

static void say_hello(struct host *h, uint32_t qpn)
{
	struct wire_hello hello = hello_of("x");
	uint8_t data[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO, &hello, data, sizeof(data));

	assert_true(fabric_deliver(h->dev, qpn, data, (uint32_t)len));
	world_run(NSEC_PER_MSEC);
}

static void say(struct host *h, uint32_t qpn, enum wire_type type, uint32_t len)
{
	uint8_t data[1024] = {0};

	wire_put_header(&(struct wire_header){(uint8_t)type, (uint16_t)len, 7, 0}, data);
	assert_true(fabric_deliver(h->dev, qpn, data, len));
}

static void test_a_connection_without_hello_is_closed(void **state)
{
	struct host *h = listener_host();

	(void)state;
	come_in(h, STRANGER, "x");
	assert_int_equal(fabric_qps(h->dev), 1);
	world_run(7 * NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 1);
	world_run(2 * NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 0);
	assert_receives_kept(h);
}

static void test_a_malformed_hello_ends_the_connection(void **state)
{
	struct host *h = listener_host();
	uint32_t qpn = come_in(h, STRANGER, "x");

	(void)state;
	say(h, qpn, WIRE_HELLO, 64);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 0);
	assert_receives_kept(h);
}

static void test_garbage_ends_the_connection(void **state)
{
	struct host *h = listener_host();
	uint32_t qpn = come_in(h, STRANGER, "x");

	(void)state;
	say_hello(h, qpn);
	assert_true(fabric_deliver(h->dev, qpn, "garbage", 7));
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 0);
	assert_receives_kept(h);
}

static void test_an_empty_message_ends_the_connection(void **state)
{
	struct host *h = listener_host();
	uint32_t qpn = come_in(h, STRANGER, "x");

	(void)state;
	assert_true(fabric_deliver(h->dev, qpn, NULL, 0));
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 0);
}

static void test_a_message_longer_than_a_receive_ends_the_connection(void **state)
{
	struct host *h = listener_host();
	uint32_t qpn = come_in(h, STRANGER, "x");

	(void)state;
	say_hello(h, qpn);
	say(h, qpn, WIRE_PROBE, 600);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(h->dev), 0);
	assert_receives_kept(h);
}

/* The stranger's QP does not exist, so nothing that is sent to it is acknowledged: no slot comes
 * back. More probes than the protocol allows are not our debt. */
static void test_a_flood_of_probes_is_answered_as_far_as_there_is_room(void **state)
{
	struct host *h = listener_host();
	uint32_t qpn = come_in(h, STRANGER, "x");

	(void)state;
	say_hello(h, qpn);
	for (unsigned i = 0; i < 50; i++) {
		say(h, qpn, WIRE_PROBE, 64);
		world_run(10 * NSEC_PER_USEC);
	}
	assert_int_equal(fabric_qps(h->dev), 1);
	assert_receives_kept(h);
}

/* Notes to control are bounded: what a peer can repeat is told once, or the note that our own
 * session broke would find the queue full. */
static void test_a_flood_of_messages_does_not_fill_the_queue_of_notes(void **state)
{
	static const enum wire_type types[] = {WIRE_HELLO, WIRE_HELLO_REPLY, WIRE_PROBE, WIRE_REPLY,
					       WIRE_GOODBYE};
	struct pair p = world_pair();
	uint32_t qpn = come_in(p.a, STRANGER, "x");

	(void)state;
	p.a->frozen_control = true;
	for (unsigned i = 0; i < 6000; i++) {
		say(p.a, qpn, types[i % COUNT(types)], 64);
		world_run(10 * NSEC_PER_USEC);
	}
	fabric_break_qp(p.a->dev, host_conn(p.a, 0).qpn);
	world_run(NSEC_PER_SEC);
	p.a->frozen_control = false;
	assert_true(world_until_state(p.a, 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_up(p.a, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.a->dev), 1);
	assert_receives_kept(p.a);
}

/* A passive peer speaks only when spoken to: what it says on its own moves no book. */
static void test_replies_that_nobody_asked_for_are_ignored(void **state)
{
	struct pair p = world_pair();
	uint32_t qpn = host_conn(p.a, 0).qpn;
	uint8_t data[64] = {0};
	struct op_books before;

	(void)state;
	world_run(NSEC_PER_SEC);
	before = host_books(p.a, 0, OP_SEND);
	for (uint64_t seq = 0; seq < 200; seq++) {
		wire_put_header(&(struct wire_header){WIRE_REPLY, sizeof(data), seq, 0}, data);
		fabric_deliver(p.a->dev, qpn, data, sizeof(data));
		world_run(10 * NSEC_PER_USEC);
	}
	say(p.a, qpn, WIRE_PROBE, 64);
	say(p.a, qpn, WIRE_HELLO, 64);
	world_run(NSEC_PER_MSEC);
	assert_int_equal(host_books(p.a, 0, OP_SEND).ok, before.ok);
	assert_int_equal(host_conn(p.a, 0).state, SESSION_UP);
	world_run(NSEC_PER_SEC);
	assert_true(host_books(p.a, 0, OP_SEND).ok >= before.ok + 4);
}

/* --- who is who --- */

static void test_a_peer_that_returns_replaces_its_old_connection(void **state)
{
	struct pair p = world_pair();
	struct host *a = p.a;

	(void)state;
	host_kill(a); /* the passive side has not heard of it */
	assert_int_equal(fabric_qps(p.b->dev), 1);
	a->cfg.instance++;
	host_start(a);
	world_run(10 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	assert_up(a, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 1);
	assert_int_equal(p.b->told.facts[FACT_DUPLICATE], 0);
	assert_true(host_books(a, 0, OP_SEND).ok >= 4);
	assert_receives_kept(p.b);
}

static void test_a_crashed_peer_is_noticed_at_once_and_returns(void **state)
{
	struct pair p = world_pair();

	(void)state;
	world_run(NSEC_PER_SEC);
	host_crash(p.b);
	assert_true(world_until_state(p.a, 0, SESSION_BACKOFF, 100 * NSEC_PER_MSEC));
	p.b->cfg.instance++;
	host_start(p.b);
	assert_up(p.a, 0);
	world_run(NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 1);
}

/* Hosts that were made from one image: the same names everywhere. */
static struct host *twin_host(const char *address)
{
	struct host *h = host_new("twin", address);

	h->cfg.n_rails = 1;
	h->cfg.rails[0] = (struct rail_spec){.name = "rail", .prefix_len = -1};
	host_start(h);
	return h;
}

static void test_two_living_instances_of_one_name_are_told(void **state)
{
	struct host *first = twin_host("10.0.0.1"), *second = twin_host("10.0.0.2");
	struct host *h = host_up("host3", "10.0.0.3");

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	host_session(first, 0, "host3", "10.0.0.3");
	assert_up(first, 0);
	host_session(second, 0, "host3", "10.0.0.3");
	assert_up(second, 0);
	world_run(NSEC_PER_SEC);
	assert_true(h->told.facts[FACT_DUPLICATE] >= 1);
	assert_non_null(strstr(h->told.duplicate, "10.0.0.1"));
	assert_non_null(strstr(h->told.duplicate, "10.0.0.2"));
	assert_string_equal(h->told.duplicate_host, "twin");
	assert_true(h->told.duplicate_hash == hash_str("twin"));
}

static void test_classes_and_rails_of_one_peer_live_side_by_side(void **state)
{
	struct host *h = listener_host();
	struct wire_request r = request_of("x");
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		r.class_hash = i & 1;
		r.rail_hash = i >> 1;
		wire_put_request(&r, data);
		knock(h, STRANGER, data, sizeof(data));
		say_hello(h, fabric_last_qpn(h->dev));
	}
	assert_int_equal(fabric_qps(h->dev), 4);
	wire_put_request(&r, data); /* the last one again */
	knock(h, STRANGER, data, sizeof(data));
	say_hello(h, fabric_last_qpn(h->dev));
	world_run(200 * NSEC_PER_MSEC);
	assert_int_equal(fabric_qps(h->dev), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_requests_that_are_not_ours_are_rejected_and_leave_nothing),
		TEST(test_only_listed_addresses_come_in),
		TEST(test_an_empty_list_lets_nobody_in),
		TEST(test_a_peer_that_is_listed_later_connects_then),
		TEST(test_more_than_the_cap_are_refused_with_the_reason),
		TEST(test_strangers_do_not_take_the_places_of_own_sessions),
		TEST(test_a_request_while_stopping_hears_that_we_leave),
		TEST(test_a_connection_without_hello_is_closed),
		TEST(test_a_malformed_hello_ends_the_connection),
		TEST(test_garbage_ends_the_connection),
		TEST(test_an_empty_message_ends_the_connection),
		TEST(test_a_message_longer_than_a_receive_ends_the_connection),
		TEST(test_a_flood_of_probes_is_answered_as_far_as_there_is_room),
		TEST(test_a_flood_of_messages_does_not_fill_the_queue_of_notes),
		TEST(test_replies_that_nobody_asked_for_are_ignored),
		TEST(test_a_peer_that_returns_replaces_its_old_connection),
		TEST(test_a_crashed_peer_is_noticed_at_once_and_returns),
		TEST(test_two_living_instances_of_one_name_are_told),
		TEST(test_classes_and_rails_of_one_peer_live_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
