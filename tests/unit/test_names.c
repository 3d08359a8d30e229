#include "support.h"

#include "core/names.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_host_names_and_addresses_are_names(void **state)
{
	static const char *const good[] = {"host1", "node-7.rack_2.example", "10.99.0.2",
					   "fe80::1%eth0", A63};
	static const char *const bad[] = {"",	 "a b",	     "a/b",   "a\"b", "a\nb",
					  "a{b", "\xc3\xa4", A63 "a", "a;b"};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(name_valid(good[i]));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(name_valid(bad[i]));
}

static void test_a_rail_name_may_hold_one_slash_inside(void **state)
{
	(void)state;
	assert_true(rail_name_valid("mlx5_0"));
	assert_true(rail_name_valid("mlx5_0/2"));
	assert_false(rail_name_valid("/2"));
	assert_false(rail_name_valid("mlx5_0/"));
	assert_false(rail_name_valid("a/b/c"));
	assert_false(rail_name_valid(""));
	assert_false(rail_name_valid(A63 "/2"));
}

static void test_copy_says_when_it_cuts(void **state)
{
	char buf[4];

	(void)state;
	assert_true(name_copy(buf, sizeof(buf), "abc"));
	assert_string_equal(buf, "abc");
	assert_false(name_copy(buf, sizeof(buf), "abcd"));
	assert_string_equal(buf, "abc");
	assert_true(name_copy(buf, sizeof(buf), ""));
	assert_string_equal(buf, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_names_and_addresses_are_names),
		cmocka_unit_test(test_a_rail_name_may_hold_one_slash_inside),
		cmocka_unit_test(test_copy_says_when_it_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
