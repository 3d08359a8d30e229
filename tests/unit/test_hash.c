#include "support.h"

#include "core/hash.h"

/* Values of the published test vectors of FNV-1a, 64 bit. */
static void test_known_vectors(void **state)
{
	(void)state;
	assert_true(hash_str("") == 0xcbf29ce484222325ULL);
	assert_true(hash_str("a") == 0xaf63dc4c8601ec8cULL);
	assert_true(hash_str("foobar") == 0x85944171f73967e8ULL);
}

static void test_bytes_and_string_agree(void **state)
{
	(void)state;
	assert_true(hash_bytes("host1", 5) == hash_str("host1"));
	assert_true(hash_bytes("host1", 6) != hash_str("host1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_vectors),
		cmocka_unit_test(test_bytes_and_string_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
