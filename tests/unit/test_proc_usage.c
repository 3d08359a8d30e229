#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/proc_usage.h"

static void test_own_process_has_memory_and_its_time_grows(void **state)
{
	uint64_t before = 0, after = 0, rss = 0;
	struct proc_usage u;

	(void)state;
	assert_int_equal(proc_usage_open(&u, getpid()), 0);
	assert_int_equal(proc_usage_read(&u, &before, &rss), 0);
	assert_true(rss > 0);
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
	assert_int_equal(proc_usage_read(&u, &after, &rss), 0);
	assert_true(after > before);
	proc_usage_close(&u);
	assert_int_equal(proc_usage_read(&u, &after, &rss), -ENOENT);
}

static void test_process_that_is_not_there_or_ended_is_an_error(void **state)
{
	struct proc_usage u;
	uint64_t cpu, rss;
	pid_t child;

	(void)state;
	assert_true(proc_usage_open(&u, 1 << 29) < 0);
	assert_int_equal(proc_usage_read(&u, &cpu, &rss), -ENOENT);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(proc_usage_open(&u, child), 0);
	assert_int_equal(proc_usage_read(&u, &cpu, &rss), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(proc_usage_read(&u, &cpu, &rss) < 0);
	proc_usage_close(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process_has_memory_and_its_time_grows),
		cmocka_unit_test(test_process_that_is_not_there_or_ended_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
