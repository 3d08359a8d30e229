#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child.h"
#include "daemon/worker_program.h"

static void test_missing_program_is_named_in_the_error(void **state)
{
	struct worker_program p;
	char err[256];

	(void)state;
	assert_int_equal(worker_program_open(&p, "/nowhere/worker", err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "/nowhere/worker"));
	assert_int_equal(p.fd, -1);
	worker_program_close(&p);
}

static void test_what_is_not_executable_is_found_at_the_start(void **state)
{
	struct worker_program p;
	char err[256];

	(void)state;
	assert_int_equal(worker_program_open(&p, "/proc/self/status", err, sizeof(err)), -EACCES);
	assert_non_null(strstr(err, "Permission denied"));
}

static void test_descriptor_is_out_of_the_way_of_a_childs_own(void **state)
{
	struct worker_program p;
	char err[256];

	(void)state;
	assert_int_equal(worker_program_open(&p, "/bin/true", err, sizeof(err)), 0);
	assert_true(p.fd >= CHILD_FIRST_SAFE_FD);
	worker_program_close(&p);
	assert_int_equal(p.fd, -1);
}

/* A package upgrade replaces the file; the process that runs must go on with the old one. */
static void test_program_that_was_replaced_since_still_runs(void **state)
{
	char path[] = "/tmp/worker_program.XXXXXX", command[128], err[256];
	struct worker_program p;
	int fd = mkstemp(path), status;
	pid_t child;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cp /bin/true %s && chmod 755 %s", path, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(worker_program_open(&p, path, err, sizeof(err)), 0);
	snprintf(command, sizeof(command), "cp --remove-destination /bin/false %s", path);
	assert_int_equal(system(command), 0);
	child = fork();
	if (child == 0) {
		execl(p.path, "worker", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	worker_program_close(&p);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_program_is_named_in_the_error),
		cmocka_unit_test(test_what_is_not_executable_is_found_at_the_start),
		cmocka_unit_test(test_descriptor_is_out_of_the_way_of_a_childs_own),
		cmocka_unit_test(test_program_that_was_replaced_since_still_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
