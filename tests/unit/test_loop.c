#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"

struct seen {
	struct loop *loop;
	struct loop_source *source;
	unsigned calls;
	uint64_t now_ns;
	int value;
	char byte;
};

static void on_timer_exit(void *arg, uint64_t now_ns)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->now_ns = now_ns;
	loop_exit(seen->loop, 7);
}

static void test_a_timer_fires_once_and_never_early(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};
	struct loop_source *t = loop_add_timer(loop, on_timer_exit, &seen);
	uint64_t at = clock_now_ns() + 5 * NSEC_PER_MSEC + 1;

	(void)state;
	assert_int_equal(loop_timer_arm(t, at), 0);
	assert_int_equal(loop_run(loop), 7);
	assert_int_equal(seen.calls, 1);
	assert_true(seen.now_ns >= at);
	/* The default accuracy of sd-event would show here; slack for a loaded machine. */
	assert_true(seen.now_ns < at + 200 * NSEC_PER_MSEC);
	loop_source_free(t);
	loop_free(loop);
}

static void on_timer_again(void *arg, uint64_t now_ns)
{
	struct seen *seen = arg;

	(void)now_ns;
	if (++seen->calls == 3)
		loop_exit(seen->loop, 0);
	else
		loop_timer_arm(seen->source, 0);
}

static void test_a_timer_may_arm_itself_again(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};

	(void)state;
	seen.source = loop_add_timer(loop, on_timer_again, &seen);
	loop_timer_arm(seen.source, 0);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(seen.calls, 3);
	loop_source_free(seen.source);
	loop_free(loop);
}

static void test_a_new_or_disarmed_timer_does_not_fire(void **state)
{
	struct loop *loop = loop_new();
	struct seen never = {.loop = loop}, end = {.loop = loop};
	struct loop_source *fresh = loop_add_timer(loop, on_timer_exit, &never);
	struct loop_source *disarmed = loop_add_timer(loop, on_timer_exit, &never);
	struct loop_source *last = loop_add_timer(loop, on_timer_exit, &end);

	(void)state;
	loop_timer_arm(disarmed, clock_now_ns());
	loop_timer_disarm(disarmed);
	loop_timer_arm(last, clock_now_ns() + 20 * NSEC_PER_MSEC);
	loop_run(loop);
	assert_int_equal(never.calls, 0);
	assert_int_equal(end.calls, 1);
	loop_source_free(fresh);
	loop_source_free(disarmed);
	loop_source_free(last);
	loop_free(loop);
}

static void on_readable(void *arg, int fd, uint32_t events)
{
	struct seen *seen = arg;

	assert_true(events & EPOLLIN);
	seen->calls++;
	/* Level-triggered: the first call leaves the byte there. */
	if (seen->calls < 2)
		return;
	assert_int_equal(read(fd, &seen->byte, 1), 1);
	loop_source_free(seen->source); /* inside its own callback */
	loop_exit(seen->loop, 0);
}

static void test_io_is_level_triggered_and_may_free_itself(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	seen.source = loop_add_io(loop, fds[0], 0, on_readable, &seen);
	assert_non_null(seen.source);
	assert_int_equal(loop_io_set_events(seen.source, EPOLLIN), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.byte, 'x');
	close(fds[0]);
	close(fds[1]);
	loop_free(loop);
}

static void on_signal(void *arg, int signo)
{
	struct seen *seen = arg;

	seen->value = signo;
	loop_exit(seen->loop, 0);
}

static void test_a_signal_comes_as_an_event(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};
	struct loop_source *s = loop_add_signal(loop, SIGHUP, on_signal, &seen);

	(void)state;
	assert_non_null(s);
	raise(SIGHUP);
	assert_int_equal(seen.value, 0);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(seen.value, SIGHUP);
	loop_source_free(s);
	loop_free(loop);
}

static void on_child(void *arg, pid_t pid, const siginfo_t *info)
{
	struct seen *seen = arg;

	(void)pid;
	seen->calls++;
	seen->value = info->si_status;
	loop_exit(seen->loop, 0);
}

static void test_a_child_is_reported_once_and_reaped(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};
	struct loop_source *s;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(42);
	s = loop_add_child(loop, pid, on_child, &seen);
	assert_non_null(s);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.value, 42);
	loop_source_free(s);
	loop_free(loop);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_adding_a_bad_fd_fails_with_errno(void **state)
{
	struct loop *loop = loop_new();

	(void)state;
	errno = 0;
	assert_null(loop_add_io(loop, 12345, EPOLLIN, on_readable, NULL));
	assert_int_equal(errno, EBADF);
	loop_source_free(NULL);
	loop_free(loop);
	loop_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_timer_fires_once_and_never_early),
		cmocka_unit_test(test_a_timer_may_arm_itself_again),
		cmocka_unit_test(test_a_new_or_disarmed_timer_does_not_fire),
		cmocka_unit_test(test_io_is_level_triggered_and_may_free_itself),
		cmocka_unit_test(test_a_signal_comes_as_an_event),
		cmocka_unit_test(test_a_child_is_reported_once_and_reaped),
		cmocka_unit_test(test_adding_a_bad_fd_fails_with_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
