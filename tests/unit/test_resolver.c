/* The helper process is this program, too: what it does with a name stands in the name. */
#include "support.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/resolver.h"

#define LATER (BACKOFF_CEILING_NS + RESOLVER_PATIENCE_NS)
#define BACKOFF_CEILING_NS (40 * NSEC_PER_SEC)

struct fixture {
	struct loop *loop;
	struct resolver *resolver;
	unsigned answers, troubles;
	char name[PEER_LOOKUP_MAX], trouble[128];
	struct resolver_answer last;
};

/* --- the helper --- */

static void answer(int fd, const struct resolver_question *q)
{
	struct resolver_answer a = {.id = q->id, .n = 1};

	a.addresses[0].in.sin_family = AF_INET;
	inet_pton(AF_INET, "10.0.0.1", &a.addresses[0].in.sin_addr);
	if (strcmp(q->name, "odd") == 0) {
		a.n = RESOLVER_ADDRESSES + 1; /* then properly */
		send(fd, &a, sizeof(a), 0);
		send(fd, &a, 3, 0);
		a.n = 1;
		a.addresses[0].sa.sa_family = AF_UNIX;
		send(fd, &a, sizeof(a), 0);
		a.addresses[0].sa.sa_family = AF_INET;
		a.id = 999;
		send(fd, &a, sizeof(a), 0);
		a.id = 0;
		send(fd, &a, sizeof(a), 0);
		a.id = q->id;
	}
	send(fd, &a, sizeof(a), 0);
}

static int help(int fd)
{
	struct resolver_question q;

	while (recv(fd, &q, sizeof(q), 0) == sizeof(q)) {
		if (strcmp(q.name, "die") == 0)
			return 3;
		if (strcmp(q.name, "hang") == 0)
			pause();
		answer(fd, &q);
	}
	return 0;
}

/* --- main's side --- */

static void on_answer(void *arg, const char *name, const struct resolver_answer *a)
{
	struct fixture *f = arg;

	f->answers++;
	name_copy(f->name, sizeof(f->name), name);
	f->last = *a;
}

static void on_trouble(void *arg, const char *text)
{
	struct fixture *f = arg;

	f->troubles++;
	name_copy(f->trouble, sizeof(f->trouble), text);
}

static const struct resolver_events events = {.answer = on_answer, .trouble = on_trouble};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->loop = loop_new();
	f->resolver = resolver_new(f->loop, &events, f);
	assert_non_null(f->resolver);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	resolver_free(f->resolver);
	loop_free(f->loop);
	free(f);
	return 0;
}

static void turn(struct fixture *f)
{
	assert_true(sd_event_run(loop_sd_event(f->loop), 50000) >= 0);
}

/* Runs until that many answers came, over all. */
static void wait_answers(struct fixture *f, unsigned n)
{
	uint64_t end = clock_now_ns() + 20 * NSEC_PER_SEC;

	while (f->answers < n && clock_now_ns() < end)
		turn(f);
	assert_int_equal(f->answers, n);
}

static void ask(struct fixture *f, const char *name)
{
	uint64_t now = clock_now_ns();

	assert_true(resolver_ready(f->resolver, now));
	resolver_ask(f->resolver, name, now);
}

static void test_a_name_is_answered_by_the_helper(void **state)
{
	struct fixture *f = *state;

	ask(f, "a.example");
	wait_answers(f, 1);
	assert_string_equal(f->name, "a.example");
	assert_int_equal(f->last.n, 1);
	assert_int_equal(f->troubles, 0);
}

static void test_odd_answers_are_ignored(void **state)
{
	struct fixture *f = *state;

	ask(f, "odd");
	wait_answers(f, 1);
	assert_int_equal(f->last.n, 1);
	ask(f, "b");
	wait_answers(f, 2);
	assert_string_equal(f->name, "b");
}

static void test_questions_out_are_bounded(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < RESOLVER_QUESTIONS; i++)
		ask(f, "hang");
	assert_false(resolver_ready(f->resolver, clock_now_ns()));
}

static void test_a_helper_that_dies_fails_what_it_was_asked_and_is_replaced_later(void **state)
{
	struct fixture *f = *state;
	uint64_t now;

	ask(f, "die");
	wait_answers(f, 1);
	assert_int_equal(f->last.n, 0);
	assert_string_equal(f->last.error, "the helper that looks up names ended");
	assert_string_equal(f->trouble, "the helper that looks up names ended (exit 3)");
	now = clock_now_ns();
	assert_false(resolver_ready(f->resolver, now)); /* back-off */
	assert_true(resolver_ready(f->resolver, now + LATER));
	resolver_ask(f->resolver, "a.example", now + LATER);
	wait_answers(f, 2);
	assert_int_equal(f->last.n, 1);
}

static void test_a_helper_that_hangs_is_killed_and_replaced(void **state)
{
	struct fixture *f = *state;
	uint64_t now = clock_now_ns();

	ask(f, "hang");
	resolver_tick(f->resolver, now + RESOLVER_PATIENCE_NS / 2, false);
	/* main itself stood still: that proves nothing */
	resolver_tick(f->resolver, now + 2 * RESOLVER_PATIENCE_NS, true);
	assert_int_equal(f->answers, 0);
	resolver_tick(f->resolver, now + 4 * RESOLVER_PATIENCE_NS, false);
	wait_answers(f, 1);
	assert_int_equal(f->last.n, 0);
	assert_int_equal(f->troubles, 1);
	resolver_ask(f->resolver, "a.example", now + LATER);
	wait_answers(f, 2);
	assert_int_equal(f->last.n, 1);
}

static void test_a_helper_at_rest_is_gone_and_comes_again(void **state)
{
	struct fixture *f = *state;

	ask(f, "a.example");
	wait_answers(f, 1);
	resolver_rest(f->resolver);
	resolver_rest(f->resolver);
	assert_int_equal(f->troubles, 0);
	for (unsigned i = 0; i < 400 && !resolver_ready(f->resolver, clock_now_ns()); i++)
		turn(f);
	ask(f, "b.example");
	wait_answers(f, 2);
	assert_int_equal(f->troubles, 0);
}

#define RESOLVER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		RESOLVER_TEST(test_a_name_is_answered_by_the_helper),
		RESOLVER_TEST(test_odd_answers_are_ignored),
		RESOLVER_TEST(test_questions_out_are_bounded),
		RESOLVER_TEST(
			test_a_helper_that_dies_fails_what_it_was_asked_and_is_replaced_later),
		RESOLVER_TEST(test_a_helper_that_hangs_is_killed_and_replaced),
		RESOLVER_TEST(test_a_helper_at_rest_is_gone_and_comes_again),
	};

	if (argc == 3 && strcmp(argv[1], "--resolver") == 0)
		return help(atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
