#include "support.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/guests.h"
#include "exporters/hello.h"
#include "exporters/lobby.h"

#define CLIENTS 40
#define HELLO_LEN 200

/* --- the first message --- */

static void make_hello(uint8_t p[HELLO_LEN])
{
	const uint8_t head[] = {0x16, 3, 1, 0, HELLO_LEN - 5, 1, 0, 0, HELLO_LEN - 9};

	memset(p, 0xab, HELLO_LEN);
	memcpy(p, head, sizeof(head));
}

static void test_a_hello_ends_where_its_record_ends(void **state)
{
	uint8_t p[HELLO_LEN];

	(void)state;
	make_hello(p);
	for (size_t len = 0; len < HELLO_HEAD; len++) {
		assert_true(hello_need(p, len) > len);
		assert_true(hello_need(p, len) <= HELLO_HEAD);
	}
	assert_int_equal(hello_need(p, HELLO_HEAD), HELLO_LEN);
	assert_int_equal(hello_need(p, HELLO_LEN), HELLO_LEN);
}

static void test_what_is_no_hello_is_not_waited_for(void **state)
{
	uint8_t p[HELLO_LEN];

	(void)state;
	assert_int_equal(hello_need((const uint8_t *)"GET / HTT", 9), 0);
	assert_int_equal(hello_need((const uint8_t *)"G", 1), 0);
	make_hello(p);
	p[5] = 2; /* a server's */
	assert_int_equal(hello_need(p, HELLO_HEAD), 0);
	make_hello(p);
	p[7] = 1; /* goes on in the next record */
	assert_int_equal(hello_need(p, HELLO_HEAD), 0);
	make_hello(p);
	p[3] = 0xff; /* longer than a record may be */
	assert_int_equal(hello_need(p, HELLO_HEAD), 0);
	make_hello(p);
	p[3] = p[4] = 0;
	assert_int_equal(hello_need(p, HELLO_HEAD), 0);
}

/* --- the loop --- */

struct scene {
	struct loop *loop;
	struct lobby *lobby;
	struct loop_source *other, *end;
	struct guest guest[CLIENTS];
	int client[CLIENTS];
	unsigned admitted, left, at_once, most_at_once, wanted;
	uint64_t cost_ns;
	struct guest *last;
};

static void check_end(struct scene *s)
{
	if (s->admitted + s->left == s->wanted)
		loop_exit(s->loop, 0);
}

/* Costs what a signature costs. */
static void admit(void *arg, struct guest *g, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct scene *s = arg;
	uint64_t until = clock_now_ns() + s->cost_ns;

	assert_int_equal(addr->sa_family, AF_INET);
	assert_int_equal(len, sizeof(struct sockaddr_in));
	while (clock_now_ns() < until)
		;
	s->last = g;
	s->admitted++;
	if (++s->at_once > s->most_at_once)
		s->most_at_once = s->at_once;
	close(fd);
	check_end(s);
}

static void left(void *arg, struct guest *g)
{
	struct scene *s = arg;

	s->last = g;
	s->left++;
	check_end(s);
}

static void on_other(void *arg, uint64_t now_ns)
{
	struct scene *s = arg;

	(void)now_ns;
	s->at_once = 0;
	loop_timer_arm(s->other, 0);
}

static void on_end(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	loop_exit(((struct scene *)arg)->loop, 1);
}

static const struct lobby_events events = {admit, left};

static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->loop = loop_new();
	s->lobby = lobby_new(s->loop, &events, s);
	s->other = loop_add_timer(s->loop, on_other, s);
	s->end = loop_add_timer(s->loop, on_end, s);
}

/* A TCP pair over loopback: RCVLOWAT means nothing elsewhere. */
static void come(struct scene *s, unsigned i)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), server;

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	s->client[i] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(s->client[i], (struct sockaddr *)&a, len), 0);
	server = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
	assert_true(server >= 0);
	close(fd);
	assert_int_equal(
		lobby_add(s->lobby, &s->guest[i], server, (struct sockaddr *)&a, sizeof(a)), 0);
}

static void run(struct scene *s, unsigned wanted, uint64_t at_most_ns)
{
	s->wanted = wanted;
	loop_timer_arm(s->end, clock_now_ns() + at_most_ns);
	assert_true(loop_run(s->loop) >= 0);
}

static void scene_free(struct scene *s)
{
	lobby_free(s->lobby);
	loop_source_free(s->other);
	loop_source_free(s->end);
	loop_free(s->loop);
	for (unsigned i = 0; i < CLIENTS; i++)
		if (s->client[i])
			close(s->client[i]);
}

static void test_a_crowd_of_hellos_does_not_hold_up_the_loop(void **state)
{
	uint8_t hello[HELLO_LEN];
	struct scene s;

	(void)state;
	scene_init(&s);
	make_hello(hello);
	s.cost_ns = 8 * NSEC_PER_MSEC;
	for (unsigned i = 0; i < CLIENTS; i++) {
		come(&s, i);
		assert_int_equal(send(s.client[i], hello, HELLO_LEN, 0), HELLO_LEN);
	}
	loop_timer_arm(s.other, 0);
	run(&s, CLIENTS, 30 * NSEC_PER_SEC);
	assert_int_equal(s.admitted, CLIENTS);
	/* Three fill a turn. */
	assert_in_range(s.most_at_once, 1, 6);
	scene_free(&s);
}

static void test_half_a_hello_waits_and_costs_nothing(void **state)
{
	uint8_t hello[HELLO_LEN];
	struct timespec before, after;
	struct scene s;

	(void)state;
	scene_init(&s);
	make_hello(hello);
	come(&s, 0);
	assert_int_equal(send(s.client[0], hello, HELLO_LEN - 1, 0), HELLO_LEN - 1);
	come(&s, 1);
	come(&s, 2);
	assert_int_equal(send(s.client[2], hello, 3, 0), 3);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	run(&s, 1, 500 * NSEC_PER_MSEC);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_int_equal(s.admitted + s.left, 0);
	assert_in_range((after.tv_sec - before.tv_sec) * 1000 +
				(after.tv_nsec - before.tv_nsec) / 1000000,
			0, 200);
	scene_free(&s);
}

static void test_the_rest_of_a_hello_lets_in(void **state)
{
	uint8_t hello[HELLO_LEN];
	struct scene s;

	(void)state;
	scene_init(&s);
	make_hello(hello);
	come(&s, 0);
	for (size_t at = 0; at < HELLO_LEN; at += 10)
		assert_int_equal(send(s.client[0], hello + at, 10, 0), 10);
	run(&s, 1, 30 * NSEC_PER_SEC);
	assert_int_equal(s.admitted, 1);
	assert_ptr_equal(s.last, &s.guest[0]);
	scene_free(&s);
}

static void test_who_leaves_before_the_hello_ended_is_told_of(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	come(&s, 0);
	come(&s, 1);
	assert_int_equal(send(s.client[1], "\x16\x03\x01\x01", 4, 0), 4);
	for (unsigned i = 0; i < 2; i++) {
		close(s.client[i]);
		s.client[i] = 0;
	}
	run(&s, 2, 30 * NSEC_PER_SEC);
	assert_int_equal(s.left, 2);
	assert_int_equal(s.admitted, 0);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hello_ends_where_its_record_ends),
		cmocka_unit_test(test_what_is_no_hello_is_not_waited_for),
		cmocka_unit_test(test_a_crowd_of_hellos_does_not_hold_up_the_loop),
		cmocka_unit_test(test_half_a_hello_waits_and_costs_nothing),
		cmocka_unit_test(test_the_rest_of_a_hello_lets_in),
		cmocka_unit_test(test_who_leaves_before_the_hello_ended_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
