#include "support.h"

#include "probes/auth.h"

static const uint8_t key[MAC_KEY_LEN] = {1, 2, 3}, other_key[MAC_KEY_LEN] = {1, 2, 4};

static struct auth example(void)
{
	struct wire_hello h = {.instance = 7, .rx_size = 512, .host = "host1", .rail = "r"};
	struct auth a = {
		.initiator = {.address.s6_addr = {1}, .qpn = 17},
		.responder = {.address.s6_addr = {2}, .qpn = 18},
		.initiator_nonce = {3},
		.responder_nonce = {4},
	};

	a.hello_len = (uint32_t)wire_put_hello(WIRE_HELLO, &h, a.hello, sizeof(a.hello));
	auth_prove(&a, key, a.proof);
	return a;
}

static size_t reply_to(const struct auth *a, uint8_t *out)
{
	struct wire_hello h = {.instance = 8,
			       .rx_size = 512,
			       .host = "host2",
			       .rail = "r",
			       .pattern = {1, 2, 64},
			       .has_mac = true};
	size_t len = wire_put_hello(WIRE_HELLO_REPLY, &h, out, WIRE_MAX_HELLO);

	auth_seal(a, key, out, len);
	return len;
}

static void test_who_knows_the_secret_is_accepted(void **state)
{
	struct auth a = example(), responder = example();
	uint8_t reply[WIRE_MAX_HELLO];
	struct wire_hello h;
	size_t len;

	(void)state;
	memset(responder.proof, 0, sizeof(responder.proof));
	assert_true(auth_accept(&responder, key, a.proof));
	len = reply_to(&responder, reply);
	assert_true(wire_get_hello(reply, len, &h));
	assert_true(h.has_mac);
	assert_int_equal(h.pattern.len, 64);
	assert_true(auth_sealed(&a, key, reply, len));
}

static void test_another_secret_is_not_accepted(void **state)
{
	struct auth a = example();
	uint8_t reply[WIRE_MAX_HELLO], proof[MAC_LEN];
	size_t len = reply_to(&a, reply);

	(void)state;
	auth_prove(&a, other_key, proof);
	assert_false(auth_accept(&a, key, proof));
	assert_false(auth_sealed(&a, other_key, reply, len));
}

/* Whatever of the connection differs: a proof of one serves for no other. */
static void test_a_proof_holds_for_one_connection(void **state)
{
	struct auth a = example(), b;

	(void)state;
	for (unsigned part = 0; part < 7; part++) {
		b = a;
		uint8_t *byte[] = {&b.initiator.address.s6_addr[15], (uint8_t *)&b.initiator.qpn,
				   &b.responder.address.s6_addr[15], (uint8_t *)&b.responder.qpn,
				   &b.initiator_nonce[15],	     &b.responder_nonce[15],
				   &b.hello[b.hello_len - 1]};

		*byte[part] ^= 1;
		assert_false(auth_accept(&b, key, a.proof));
	}
	b = a;
	b.hello_len--;
	assert_false(auth_accept(&b, key, a.proof));
}

static void test_each_byte_of_a_reply_is_sealed(void **state)
{
	struct auth a = example();
	uint8_t reply[WIRE_MAX_HELLO];
	size_t len = reply_to(&a, reply);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		reply[i] ^= 0x40;
		assert_false(auth_sealed(&a, key, reply, len));
		reply[i] ^= 0x40;
	}
	for (size_t i = 0; i < len; i++)
		assert_false(auth_sealed(&a, key, reply, i));
	assert_true(auth_sealed(&a, key, reply, len));
}

static void test_a_proof_does_not_serve_as_a_seal(void **state)
{
	struct auth a = example();
	uint8_t reply[WIRE_MAX_HELLO];
	size_t len = reply_to(&a, reply);

	(void)state;
	memcpy(reply + len - MAC_LEN, a.proof, MAC_LEN);
	assert_false(auth_sealed(&a, key, reply, len));
	assert_false(auth_sealed(&a, key, reply, len - MAC_LEN - 2)); /* nor none at all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_knows_the_secret_is_accepted),
		cmocka_unit_test(test_another_secret_is_not_accepted),
		cmocka_unit_test(test_a_proof_holds_for_one_connection),
		cmocka_unit_test(test_each_byte_of_a_reply_is_sealed),
		cmocka_unit_test(test_a_proof_does_not_serve_as_a_seal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
