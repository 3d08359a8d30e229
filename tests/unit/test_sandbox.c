#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/sandbox.h"

/* Each case runs in a child of its own: what is given up is given up for good. */
#define REFUSED(call) (errno = 0, (call) < 0 && errno == EPERM)

static int in_sandbox(bool (*fn)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(sandbox_enter() < 0 ? 2 : fn() ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool starts_no_process(void)
{
	char *argv[] = {(char[]){"true"}, NULL};
	pid_t pid;

	return REFUSED(fork()) && REFUSED(execv("/bin/true", argv)) &&
	       posix_spawn(&pid, "/bin/true", NULL, NULL, argv, argv + 1) == EPERM &&
	       REFUSED(kill(getppid(), 0));
}

static bool waits_for_no_connection(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd >= 0 && REFUSED(listen(fd, 1)) && REFUSED(accept(fd, NULL, NULL)) &&
	       REFUSED(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) &&
	       REFUSED(socket(AF_INET6, SOCK_STREAM, 0));
}

static bool changes_no_file(void)
{
	return REFUSED(open("/tmp/pingmesh-sandbox", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) &&
	       REFUSED(unlink("/tmp/pingmesh-sandbox")) &&
	       REFUSED(mkdir("/tmp/pingmesh-s", 0700)) && REFUSED(rename("/tmp/a", "/tmp/b")) &&
	       REFUSED(chmod("/tmp", 0700)) && REFUSED(truncate("/tmp/pingmesh-sandbox", 0));
}

static void *nothing(void *arg)
{
	return arg;
}

/* Threads, files and devices, memory, sockets of the kinds that verbs and sysfs need. */
static bool measures(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	int fd;

	if (page == MAP_FAILED || pthread_create(&thread, NULL, nothing, NULL) ||
	    pthread_join(thread, NULL))
		return false;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd >= 0 && write(fd, "x", 1) == 1 && open("/proc/self/status", O_RDONLY) >= 0 &&
	       socket(AF_NETLINK, SOCK_RAW, 0) >= 0 && socket(AF_INET, SOCK_DGRAM, 0) >= 0 &&
	       socket(AF_UNIX, SOCK_SEQPACKET, 0) >= 0;
}

static void test_worker_starts_no_process_and_signals_nobody(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(starts_no_process), 0);
}

static void test_worker_waits_for_no_connection_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(waits_for_no_connection), 0);
}

static void test_worker_makes_and_changes_no_file(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(changes_no_file), 0);
}

static void test_worker_can_do_all_that_measuring_needs(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(measures), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker_starts_no_process_and_signals_nobody),
		cmocka_unit_test(test_worker_waits_for_no_connection_of_its_own),
		cmocka_unit_test(test_worker_makes_and_changes_no_file),
		cmocka_unit_test(test_worker_can_do_all_that_measuring_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
