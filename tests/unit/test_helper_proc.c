/* The helper process is this program, too: it sends back what it is sent. */
#include "support.h"

#include <errno.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "core/clock.h"
#include "daemon/helper_proc.h"

#define LATER (60 * NSEC_PER_SEC)

struct fixture {
	struct loop *loop;
	struct helper_proc *helper;
	unsigned echoes, ends;
	int status;
};

static bool no_child_source, no_io_source;

/* --- memory that is not there --- */

struct loop_source *__real_loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn,
					  void *arg);
struct loop_source *__wrap_loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn,
					  void *arg);
struct loop_source *__real_loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				       void *arg);
struct loop_source *__wrap_loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				       void *arg);

struct loop_source *__wrap_loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn, void *arg)
{
	return no_child_source ? NULL : __real_loop_add_child(loop, pid, fn, arg);
}

struct loop_source *__wrap_loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				       void *arg)
{
	return no_io_source ? NULL : __real_loop_add_io(loop, fd, events, fn, arg);
}

/* --- the two sides --- */

static int help(int fd)
{
	char text[8] = "";
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0) {
		if (text[0] == 'x')
			return 7;
		send(fd, text, (size_t)n, 0);
	}
	/* One that has still something to do when main is gone. */
	if (text[0] == 'w')
		return write(4, "done", 4) != 4;
	return 0;
}

static bool on_readable(void *arg)
{
	struct fixture *f = arg;
	char text[8];
	ssize_t n = recv(helper_proc_fd(f->helper), text, sizeof(text), MSG_DONTWAIT);

	f->echoes += n > 0;
	return n > 0;
}

static void on_ended(void *arg, const siginfo_t *info)
{
	struct fixture *f = arg;

	assert_int_equal(helper_proc_fd(f->helper), -1);
	f->ends++;
	f->status = info->si_status;
}

static const struct helper_events events = {.readable = on_readable, .ended = on_ended};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	no_child_source = no_io_source = false;
	f->loop = loop_new();
	f->helper = helper_proc_new(f->loop, "--echo", &events, f);
	assert_non_null(f->helper);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	helper_proc_free(f->helper);
	loop_free(f->loop);
	free(f);
	return 0;
}

static void turn(struct fixture *f)
{
	assert_true(sd_event_run(loop_sd_event(f->loop), 20000) >= 0);
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(send(helper_proc_fd(f->helper), text, strlen(text), 0), strlen(text));
}

static void assert_echoes(struct fixture *f)
{
	unsigned before = f->echoes;

	say(f, "hello");
	for (unsigned i = 0; i < 1000 && f->echoes == before; i++)
		turn(f);
	assert_int_equal(f->echoes, before + 1);
}

static bool may_start_in_the_end(struct fixture *f)
{
	for (unsigned i = 0; i < 1000; i++) {
		if (helper_proc_may_start(f->helper, clock_now_ns() + LATER))
			return true;
		turn(f);
	}
	return false;
}

static void wait_end(struct fixture *f, unsigned ends)
{
	for (unsigned i = 0; i < 1000 && f->ends < ends; i++)
		turn(f);
	assert_int_equal(f->ends, ends);
}

/* --- tests --- */

static void test_it_answers_and_ends_without_a_word_when_told_to(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	assert_echoes(f);
	helper_proc_end(f->helper);
	assert_int_equal(helper_proc_fd(f->helper), -1);
	assert_true(may_start_in_the_end(f));
	assert_int_equal(f->ends, 0);
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	assert_echoes(f);
}

static void test_one_that_has_not_gone_yet_has_no_second_beside_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), -EBUSY);
	assert_echoes(f);
	helper_proc_end(f->helper);
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), -EBUSY);
}

static void test_one_that_ends_by_itself_is_told_and_leave_comes_later(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	say(f, "x");
	wait_end(f, 1);
	assert_int_equal(f->status, 7);
	assert_false(helper_proc_may_start(f->helper, clock_now_ns()));
	assert_true(helper_proc_may_start(f->helper, clock_now_ns() + LATER));
	/* Who cannot wait starts it all the same. */
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	assert_echoes(f);
	helper_proc_kill(f->helper);
	wait_end(f, 2);
}

static void assert_recovers(struct fixture *f)
{
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), -ENOMEM);
	assert_int_equal(helper_proc_fd(f->helper), -1);
	no_child_source = no_io_source = false;
	assert_true(may_start_in_the_end(f));
	assert_int_equal(f->ends, 0);
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	assert_echoes(f);
}

static void test_no_memory_to_wait_for_its_end_is_no_busy_for_ever(void **state)
{
	no_child_source = true;
	assert_recovers(*state);
}

static void test_no_memory_to_hear_it_is_no_busy_for_ever(void **state)
{
	no_io_source = true;
	assert_recovers(*state);
}

static void test_one_that_is_let_go_finishes_with_what_it_was_lent(void **state)
{
	struct fixture *f = *state;
	int fds[2];
	char text[8];

	assert_int_equal(pipe(fds), 0);
	helper_proc_lend(f->helper, fds[1]);
	assert_int_equal(helper_proc_start(f->helper, clock_now_ns()), 0);
	say(f, "w");
	for (unsigned i = 0; i < 1000 && !f->echoes; i++)
		turn(f);
	helper_proc_free_unharmed(f->helper);
	f->helper = NULL;
	close(fds[1]);
	assert_int_equal(read(fds[0], text, sizeof(text)), 4);
	assert_memory_equal(text, "done", 4);
	close(fds[0]);
}

#define HELPER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		HELPER_TEST(test_it_answers_and_ends_without_a_word_when_told_to),
		HELPER_TEST(test_one_that_has_not_gone_yet_has_no_second_beside_it),
		HELPER_TEST(test_one_that_ends_by_itself_is_told_and_leave_comes_later),
		HELPER_TEST(test_no_memory_to_wait_for_its_end_is_no_busy_for_ever),
		HELPER_TEST(test_no_memory_to_hear_it_is_no_busy_for_ever),
		HELPER_TEST(test_one_that_is_let_go_finishes_with_what_it_was_lent),
	};

	if (argc == 3 && strcmp(argv[1], "--echo") == 0)
		return help(atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
