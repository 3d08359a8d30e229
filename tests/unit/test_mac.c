#include "support.h"

#include "core/mac.h"

/* SHA-256 of "abc": FIPS 180-2, B.1. */
static const uint8_t key_of_abc[MAC_KEY_LEN] = {
	0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
	0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
	0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
};

static void test_a_key_is_the_digest_of_its_secret(void **state)
{
	uint8_t key[MAC_KEY_LEN];

	(void)state;
	mac_key("abc", 3, key);
	assert_memory_equal(key, key_of_abc, sizeof(key));
}

static void make(const char *a, const char *b, uint8_t mac[MAC_LEN])
{
	struct mac_part parts[] = {{a, strlen(a)}, {b, strlen(b)}};

	mac_make(key_of_abc, parts, COUNT(parts), mac);
}

static void test_a_mac_tells_parts_keys_and_borders_apart(void **state)
{
	uint8_t one[MAC_LEN], other[MAC_LEN], wrong_key[MAC_KEY_LEN] = {1};
	struct mac_part part = {"ab", 2};

	(void)state;
	make("ab", "c", one);
	make("ab", "c", other);
	assert_true(mac_equal(one, other));
	make("a", "bc", other);
	assert_false(mac_equal(one, other));
	make("ab", "d", other);
	assert_false(mac_equal(one, other));
	mac_make(key_of_abc, &part, 1, one);
	mac_make(wrong_key, &part, 1, other);
	assert_false(mac_equal(one, other));
}

static void test_every_bit_of_a_mac_counts(void **state)
{
	uint8_t one[MAC_LEN], other[MAC_LEN];

	(void)state;
	make("x", "y", one);
	for (unsigned bit = 0; bit < 8 * MAC_LEN; bit++) {
		memcpy(other, one, sizeof(one));
		other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(mac_equal(one, other));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_is_the_digest_of_its_secret),
		cmocka_unit_test(test_a_mac_tells_parts_keys_and_borders_apart),
		cmocka_unit_test(test_every_bit_of_a_mac_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
