#include "support.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/proc_usage.h"

static void test_times_and_memory_are_found_behind_any_name(void **state)
{
	static const char stat[] =
		"4242 (a) b (c)) S 1 4242 4242 0 -1 4194560 1000 0 3 0 150 50 0 0 20 0 4 0 "
		"123456 104857600 2560 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1";
	uint64_t cpu, rss;

	(void)state;
	assert_int_equal(proc_usage_parse(stat, 100, 4096, &cpu, &rss), 0);
	assert_int_equal(cpu, 2000000000ULL);
	assert_int_equal(rss, 2560 * 4096);
}

static void test_garbage_is_refused(void **state)
{
	static const char *const bad[] = {"", "4242", "4242 (x) S 1 2 3", "4242 (x) S a b c d"};
	uint64_t cpu, rss;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(proc_usage_parse(bad[i], 100, 4096, &cpu, &rss), -EINVAL);
	assert_int_equal(proc_usage_parse("1 (x) S", 0, 4096, &cpu, &rss), -EINVAL);
}

static void test_own_process_has_memory_and_an_unknown_one_is_an_error(void **state)
{
	uint64_t cpu = 0, rss = 0;

	(void)state;
	assert_int_equal(proc_usage(getpid(), &cpu, &rss), 0);
	assert_true(rss > 0);
	assert_int_equal(proc_usage(1 << 29, &cpu, &rss), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_and_memory_are_found_behind_any_name),
		cmocka_unit_test(test_garbage_is_refused),
		cmocka_unit_test(test_own_process_has_memory_and_an_unknown_one_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
