#include "support.h"

#include "core/statm.h"

static void test_sizes_are_the_first_two_numbers_in_pages(void **state)
{
	uint64_t size, resident;

	(void)state;
	assert_true(statm_parse("25600 2560 1024 300 0 4000 0\n", 4096, &size, &resident));
	assert_int_equal(size, 25600 * 4096);
	assert_int_equal(resident, 2560 * 4096);
}

static void test_garbage_is_refused(void **state)
{
	static const char *const bad[] = {"", "4242", "4242 ", "4242 x", "x 2", "-1 2", " 1 2"};
	uint64_t size = 1, resident = 2;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(statm_parse(bad[i], 4096, &size, &resident));
	assert_int_equal(size, 1);
	assert_int_equal(resident, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_are_the_first_two_numbers_in_pages),
		cmocka_unit_test(test_garbage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
