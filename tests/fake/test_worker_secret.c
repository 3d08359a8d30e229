/* The shared secret: who does not know it learns nothing, whatever it says, and both sides know
 * why. */
#include "support.h"

#include "core/hash.h"
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

/* 0: none. */
static void set_secret(struct host *h, uint8_t secret)
{
	h->cfg.has_secret = secret != 0;
	memset(h->cfg.secret, secret, sizeof(h->cfg.secret));
}

/* Two hosts with these secrets; the first begins a session to the second. */
static void begin(uint8_t first, uint8_t second)
{
	set_secret(host_new("host1", "10.0.0.1"), first);
	set_secret(host_new("host2", "10.0.0.2"), second);
	host_start(host1());
	host_start(host2());
	world_run(10 * NSEC_PER_MSEC);
	host_session(host1(), 0, "host2", "10.0.0.2");
}

static void reload_secret(struct host *h, uint8_t secret)
{
	struct wish w = {.type = WISH_CONFIG};

	set_secret(h, secret);
	w.config = h->cfg;
	host_wish(h, &w);
	world_run(NSEC_PER_MSEC);
}

static struct session *session1(void)
{
	return host1()->control->sessions[0];
}

static void assert_refused(const char *reason, enum wire_reject told, enum refuse_reason counted)
{
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, 2 * NSEC_PER_SEC));
	assert_string_equal(host_conn(host1(), 0).reason, reason);
	assert_int_equal(host_conn(host1(), 0).error.connect_failure, CONNECT_REJECTED);
	assert_int_equal(host2()->told.refused, told);
	assert_non_null(strstr(host2()->told.refusal, "10.0.0.1 is refused"));
	world_run(60 * NSEC_PER_SEC);
	assert_int_equal(host_entered(host1(), 0, SESSION_UP), 0);
	/* It was told of no memory, in all of its attempts. */
	assert_true(host_totals(host1()).attempts > 5);
	assert_true(host_totals(host2()).refused[counted] > 5);
	assert_int_equal(session1()->rs.pattern.rkey, 0);
	assert_int_equal(session1()->rs.scratch.rkey, 0);
	assert_true(fabric_qps(host2()->dev) <= 1);
	/* Not hot: seconds apart. */
	assert_true(host_totals(host1()).attempts < 60);
}

static void test_two_that_share_a_secret_probe(void **state)
{
	(void)state;
	begin(7, 7);
	assert_up(host1(), 0);
	world_run(5 * NSEC_PER_SEC);
	assert_int_equal(host_totals(host1()).attempts, 1);
	assert_true(host_books(host1(), 0, OP_SEND).ok > 20);
	assert_true(host_books(host1(), 0, OP_READ).ok > 20);
	assert_int_equal(host2()->told.facts[FACT_REFUSED], 0);
}

static void test_a_host_without_the_secret_is_refused(void **state)
{
	(void)state;
	begin(0, 7);
	assert_refused(SAID_SECRET_WANTED, WIRE_REJECT_SECRET_WANTED, REFUSE_SECRET_MISSING);
	/* Before anything was made for it. */
	assert_int_equal(fabric_calls(host2()->dev, CALL_CREATE_QP), 0);
	reload_secret(host1(), 7);
	assert_up(host1(), 0);
}

static void test_a_host_with_a_secret_does_not_talk_to_one_without(void **state)
{
	(void)state;
	begin(7, 0);
	assert_refused(SAID_NO_SECRET, WIRE_REJECT_NO_SECRET, REFUSE_SECRET_UNKNOWN);
	reload_secret(host2(), 7);
	assert_up(host1(), 0);
}

static void test_a_host_with_another_secret_is_refused(void **state)
{
	(void)state;
	begin(7, 8);
	assert_refused(SAID_SECRET_DIFFERS, WIRE_REJECT_SECRET_DIFFERS, REFUSE_SECRET_DIFFERS);
	assert_true(fabric_calls(host2()->dev, CALL_CREATE_QP) > 0);
	reload_secret(host2(), 7);
	assert_up(host1(), 0);
}

static void test_a_new_secret_is_for_new_connections(void **state)
{
	uint64_t sent;

	(void)state;
	begin(7, 7);
	assert_up(host1(), 0);
	reload_secret(host1(), 9);
	world_run(5 * NSEC_PER_SEC);
	reload_secret(host2(), 9);
	sent = host_books(host1(), 0, OP_SEND).sent;
	world_run(2 * NSEC_PER_SEC);
	assert_true(host_books(host1(), 0, OP_SEND).sent > sent);
	assert_int_equal(host_totals(host1()).attempts, 1);
	fabric_break_qp(host1()->dev, host_conn(host1(), 0).qpn);
	assert_true(world_until_state(host1(), 0, SESSION_DRAINING, NSEC_PER_SEC));
	assert_up(host1(), 0);
	assert_int_equal(host_totals(host1()).attempts, 2);
}

/* --- impostors --- */

static uint32_t await_request_answered(void)
{
	assert_true(world_until_state(host1(), 0, SESSION_CONNECTING, NSEC_PER_SEC));
	world_run(10 * NSEC_PER_MSEC);
	return fabric_last_qpn(host1()->dev);
}

static void reply_as_impostor(bool with_mac)
{
	struct wire_hello h = {.instance = 7,
			       .rx_size = 512,
			       .host = "host2",
			       .rail = "r",
			       .pattern = {4096, 1, 65536},
			       .has_mac = with_mac};
	uint8_t data[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO_REPLY, &h, data, sizeof(data));

	assert_true(fabric_deliver(host1()->dev, await_request_answered(), data, (uint32_t)len));
	assert_true(world_until_state(host1(), 0, SESSION_BACKOFF, NSEC_PER_SEC));
	assert_string_equal(host_conn(host1(), 0).reason, SAID_UNPROVEN);
	assert_int_equal(host_entered(host1(), 0, SESSION_UP), 0);
}

static void frozen_responder(void)
{
	begin(7, 7);
	/* Receives are ready after a first time. */
	assert_up(host1(), 0);
	host_remove_session(host1(), 0, ABORT_RELOAD);
	world_run(NSEC_PER_SEC);
	host1()->told.n_changes = 0;
	host2()->frozen_rail = true;
	host_session(host1(), 0, "host2", "10.0.0.2");
}

static void test_a_reply_without_proof_is_not_believed(void **state)
{
	(void)state;
	frozen_responder();
	reply_as_impostor(false);
}

static void test_a_reply_with_a_made_up_proof_is_not_believed(void **state)
{
	(void)state;
	frozen_responder();
	reply_as_impostor(true);
}

/* A connection as a stranger makes it; it claims to have the secret. */
static uint32_t stranger(void)
{
	struct wire_request r = {.instance = 99,
				 .host_hash = hash_str("x"),
				 .rail_hash = hash_str("r"),
				 .has_secret = true};
	uint8_t data[WIRE_REQUEST_LEN];

	wire_put_request(&r, data);
	fabric_request(host1()->dev, "10.9.9.9", "10.0.0.1", data, sizeof(data));
	world_run(NSEC_PER_MSEC);
	assert_int_equal(fabric_qps(host1()->dev), 1);
	return fabric_last_qpn(host1()->dev);
}

static void say_hello(uint32_t qpn, bool with_nonce)
{
	struct wire_hello h = {.instance = 99,
			       .rx_size = 512,
			       .host = "x",
			       .rail = "r",
			       .has_nonce = with_nonce,
			       .nonce = {1, 2, 3}};
	uint8_t data[WIRE_MAX_HELLO];
	size_t len = wire_put_hello(WIRE_HELLO, &h, data, sizeof(data));

	assert_true(fabric_deliver(host1()->dev, qpn, data, (uint32_t)len));
	world_run(NSEC_PER_MSEC);
}

static void say_auth(uint32_t qpn, enum wire_type type, size_t size)
{
	uint8_t data[WIRE_MAX_AUTH], body[WIRE_MAC_LEN] = {42};

	assert_true(fabric_deliver(host1()->dev, qpn, data,
				   (uint32_t)wire_put_auth(type, body, size, data)));
	world_run(NSEC_PER_MSEC);
}

static void lonely_host(void)
{
	set_secret(host_new("host1", "10.0.0.1"), 7);
	host_start(host1());
	world_run(10 * NSEC_PER_MSEC);
}

static bool hello_reply_was_made(void)
{
	const struct conn *conn = host1()->control->conns;

	return conn && conn->rc.hello_out_len > 0;
}

static void assert_gone_within(uint64_t ns)
{
	assert_false(hello_reply_was_made());
	world_run(ns);
	assert_int_equal(fabric_qps(host1()->dev), 0);
	assert_receives_kept(host1());
}

static void test_a_made_up_proof_is_refused(void **state)
{
	uint32_t qpn;

	(void)state;
	lonely_host();
	qpn = stranger();
	say_hello(qpn, true);
	say_auth(qpn, WIRE_PROOF, WIRE_MAC_LEN);
	assert_int_equal(host1()->told.refused, WIRE_REJECT_SECRET_DIFFERS);
	assert_gone_within(2 * NSEC_PER_SEC);
}

static void test_a_proof_before_the_hello_is_none(void **state)
{
	uint32_t qpn;

	(void)state;
	lonely_host();
	qpn = stranger();
	say_auth(qpn, WIRE_PROOF, WIRE_MAC_LEN);
	assert_gone_within(2 * NSEC_PER_SEC);
}

static void test_a_hello_without_nonce_is_none(void **state)
{
	(void)state;
	lonely_host();
	say_hello(stranger(), false);
	assert_gone_within(2 * NSEC_PER_SEC);
}

static void test_who_never_proves_is_dropped(void **state)
{
	uint32_t qpn;

	(void)state;
	lonely_host();
	qpn = stranger();
	say_hello(qpn, true);
	say_auth(qpn, WIRE_CHALLENGE, WIRE_NONCE_LEN); /* not its turn */
	say_auth(qpn, WIRE_PROOF, WIRE_MAC_LEN - 1);
	say_hello(qpn, true);
	assert_gone_within(ATTEMPT_NS + 2 * NSEC_PER_SEC);
}

/* Its word that it is another host must not push that one aside before it is proved. */
static void test_who_has_not_proved_replaces_nobody(void **state)
{
	struct wire_request r = {.instance = 99,
				 .host_hash = hash_str("host1"),
				 .rail_hash = hash_str("fake0"),
				 .peer_rail_hash = hash_str(""),
				 .class_hash = (uint32_t)hash_str("default"),
				 .has_secret = true};
	uint8_t data[WIRE_REQUEST_LEN];

	(void)state;
	begin(7, 7);
	assert_up(host1(), 0);
	wire_put_request(&r, data);
	for (unsigned i = 0; i < 10; i++) {
		fabric_request(host2()->dev, "10.9.9.9", "10.0.0.2", data, sizeof(data));
		world_run(NSEC_PER_SEC);
	}
	assert_int_equal(host_conn(host1(), 0).state, SESSION_UP);
	assert_int_equal(host_totals(host1()).attempts, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_two_that_share_a_secret_probe),
		TEST(test_a_host_without_the_secret_is_refused),
		TEST(test_a_host_with_a_secret_does_not_talk_to_one_without),
		TEST(test_a_host_with_another_secret_is_refused),
		TEST(test_a_new_secret_is_for_new_connections),
		TEST(test_a_reply_without_proof_is_not_believed),
		TEST(test_a_reply_with_a_made_up_proof_is_not_believed),
		TEST(test_a_made_up_proof_is_refused),
		TEST(test_a_proof_before_the_hello_is_none),
		TEST(test_a_hello_without_nonce_is_none),
		TEST(test_who_never_proves_is_dropped),
		TEST(test_who_has_not_proved_replaces_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
