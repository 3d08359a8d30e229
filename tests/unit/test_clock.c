#include "support.h"

#include <time.h>

#include "core/clock.h"

static void test_monotonic_clock_never_goes_back(void **state)
{
	uint64_t before = clock_now_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_now_ns();

		assert_true(now >= before);
		before = now;
	}
}

static void test_wall_clock_is_unix_time(void **state)
{
	uint64_t wall = clock_wall_ns() / NSEC_PER_SEC;
	uint64_t libc = (uint64_t)time(NULL);

	(void)state;
	assert_in_range(wall, libc - 1, libc + 1);
}

static void test_cpu_time_stands_still_while_sleeping(void **state)
{
	struct timespec ts = {.tv_nsec = 20 * NSEC_PER_MSEC};
	uint64_t cpu = clock_process_cpu_ns(), now = clock_now_ns();

	(void)state;
	nanosleep(&ts, NULL);
	assert_true(clock_now_ns() - now >= 20 * NSEC_PER_MSEC);
	assert_true(clock_process_cpu_ns() - cpu < 15 * NSEC_PER_MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monotonic_clock_never_goes_back),
		cmocka_unit_test(test_wall_clock_is_unix_time),
		cmocka_unit_test(test_cpu_time_stands_still_while_sleeping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
