#include "support.h"

#include <poll.h>
#include <pthread.h>

#include "probes/spsc.h"

struct message {
	uint64_t number;
	uint8_t filler[120];
};

static bool readable(const struct spsc *q)
{
	struct pollfd p = {.fd = spsc_fd(q), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void test_messages_come_out_in_order(void **state)
{
	struct spsc *q = spsc_new(sizeof(uint64_t), 8);
	uint64_t v;

	(void)state;
	for (uint64_t round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < 6; i++)
			assert_true(spsc_push(q, &(uint64_t){round * 6 + i}));
		for (uint64_t i = 0; i < 6; i++) {
			assert_true(spsc_pop(q, &v));
			assert_int_equal(v, round * 6 + i);
		}
		assert_false(spsc_pop(q, &v));
	}
	spsc_free(q);
}

static void test_a_full_queue_refuses_and_keeps_what_it_has(void **state)
{
	struct spsc *q = spsc_new(sizeof(uint64_t), 5); /* rounded up to 8 */
	uint64_t v;

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		assert_true(spsc_push(q, &i));
	assert_false(spsc_push(q, &(uint64_t){99}));
	for (uint64_t i = 0; i < 8; i++) {
		assert_true(spsc_pop(q, &v));
		assert_int_equal(v, i);
		assert_true(spsc_push(q, &(uint64_t){i + 8}));
	}
	assert_false(spsc_push(q, &(uint64_t){99}));
	for (uint64_t i = 8; i < 16; i++) {
		assert_true(spsc_pop(q, &v));
		assert_int_equal(v, i);
	}
	spsc_free(q);
}

static void test_half_full_is_half_of_the_capacity(void **state)
{
	struct spsc *q = spsc_new(sizeof(uint64_t), 8);
	uint64_t v = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_false(spsc_half_full(q));
		spsc_push(q, &v);
	}
	assert_true(spsc_half_full(q));
	spsc_pop(q, &v);
	assert_false(spsc_half_full(q));
	spsc_free(q);
}

static void test_the_fd_is_readable_from_push_to_drain(void **state)
{
	struct spsc *q = spsc_new(sizeof(uint64_t), 8);
	uint64_t v = 1;

	(void)state;
	assert_false(readable(q));
	spsc_drain_fd(q); /* does not block */
	spsc_push(q, &v);
	spsc_push(q, &v);
	assert_true(readable(q));
	spsc_drain_fd(q);
	assert_false(readable(q));
	assert_true(spsc_pop(q, &v) && spsc_pop(q, &v));
	spsc_free(q);
}

static void test_what_waits_can_be_looked_at_and_stays(void **state)
{
	struct spsc *q = spsc_new(sizeof(uint64_t), 4);
	uint64_t v;

	(void)state;
	assert_false(spsc_peek(q, 0, &v));
	for (uint64_t i = 0; i < 7; i++) { /* past the end of the ring */
		spsc_push(q, &i);
		assert_true(i < 3 || spsc_pop(q, &v));
	}
	for (uint64_t i = 0; i < 3; i++) {
		assert_true(spsc_peek(q, i, &v));
		assert_int_equal(v, 4 + i);
	}
	assert_false(spsc_peek(q, 3, &v));
	assert_false(spsc_peek(q, 4, &v));
	assert_false(spsc_peek(q, SIZE_MAX, &v));
	assert_true(spsc_pop(q, &v));
	assert_int_equal(v, 4);
	spsc_free(q);
}

#define MANY 200000

static void *produce(void *arg)
{
	struct message m = {0};

	for (m.number = 0; m.number < MANY; m.number++) {
		memset(m.filler, (int)(m.number & 0xff), sizeof(m.filler));
		while (!spsc_push(arg, &m))
			poll(NULL, 0, 1);
	}
	return NULL;
}

static void take_all(struct spsc *q, uint64_t *expected)
{
	struct message m;

	while (spsc_pop(q, &m)) {
		assert_int_equal(m.number, *expected);
		assert_int_equal(m.filler[0], m.number & 0xff);
		assert_int_equal(m.filler[119], m.number & 0xff);
		(*expected)++;
	}
}

/* The consumer sleeps on the fd: a wake-up that got lost would let it time out. */
static void test_two_threads_lose_neither_message_nor_wakeup(void **state)
{
	struct spsc *q = spsc_new(sizeof(struct message), 64);
	uint64_t expected = 0;
	pthread_t producer;

	(void)state;
	assert_int_equal(pthread_create(&producer, NULL, produce, q), 0);
	while (expected < MANY) {
		struct pollfd p = {.fd = spsc_fd(q), .events = POLLIN};

		assert_int_equal(poll(&p, 1, 10000), 1);
		spsc_drain_fd(q);
		take_all(q, &expected);
	}
	pthread_join(producer, NULL);
	spsc_free(q);
}

static void test_free_of_nothing_is_fine(void **state)
{
	(void)state;
	spsc_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_come_out_in_order),
		cmocka_unit_test(test_a_full_queue_refuses_and_keeps_what_it_has),
		cmocka_unit_test(test_half_full_is_half_of_the_capacity),
		cmocka_unit_test(test_the_fd_is_readable_from_push_to_drain),
		cmocka_unit_test(test_what_waits_can_be_looked_at_and_stays),
		cmocka_unit_test(test_two_threads_lose_neither_message_nor_wakeup),
		cmocka_unit_test(test_free_of_nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
