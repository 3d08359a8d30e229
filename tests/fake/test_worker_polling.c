/* When completion queues are asked: where an event or our own absence says that there is something,
 * before anything is judged by its deadline, and now and then in any case. */
#include "support.h"

#include <arpa/inet.h>

#include "probes/queue_sets.h"
#include "probes/rail_priv.h"
#include "world.h"

#define ROWS 6
#define DELAY_NS (20 * NSEC_PER_MSEC)

static const struct op_config read_only[OP_COUNT] = {
	[OP_READ] = {WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, 64, 0},
};

/* Sessions from the first to the second, and two of them at most on a queue. */
static struct pair several_queues(void)
{
	const struct fake_knobs small = {.max_cqe = 16 + 2 * (TX_DEPTH + 1 + RX_PER_PLACE)};
	struct pair p = {host_new("host1", "10.0.0.1"), host_new("host2", "10.0.0.2")};

	memcpy(p.a->cfg.op, read_only, sizeof(read_only));
	fabric_set_knobs(p.a->dev, &small);
	host_start(p.a);
	host_start(p.b);
	world_run(10 * NSEC_PER_MSEC);
	for (uint32_t row = 0; row < ROWS; row++) {
		struct wish w = {.type = WISH_SESSION_ADD, .session = {.id = row + 1, .row = row}};

		snprintf(w.session.peer, sizeof(w.session.peer), "host2");
		snprintf(w.session.peer_rail, sizeof(w.session.peer_rail), "rail%u", row);
		w.session.address.in.sin_family = AF_INET;
		inet_pton(AF_INET, "10.0.0.2", &w.session.address.in.sin_addr);
		host_wish(p.a, &w);
	}
	for (uint32_t row = 0; row < ROWS; row++)
		assert_up(p.a, row);
	assert_int_equal(p.a->rail->n_queues, ROWS / 2);
	return p;
}

static void set_delay(struct pair p, uint64_t delay_ns)
{
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){delay_ns, false});
}

static void until_in_flight(struct host *h)
{
	while (!host_books(h, 0, OP_READ).in_flight)
		world_run(NSEC_PER_MSEC);
}

static uint64_t all(struct host *h, uint64_t (*count)(const struct op_books *b))
{
	uint64_t n = 0;

	for (uint32_t row = 0; row < ROWS; row++) {
		struct op_books b = host_books(h, row, OP_READ);

		n += count(&b);
	}
	return n;
}

static uint64_t sent(const struct op_books *b)
{
	return b->sent;
}

static uint64_t self_delayed(const struct op_books *b)
{
	return b->self_delayed;
}

static void test_a_completion_costs_the_polling_of_its_own_queue(void **state)
{
	struct pair p = several_queues();
	uint64_t probes, looks, polls;

	(void)state;
	world_run(NSEC_PER_SEC);
	probes = all(p.a, sent);
	polls = fabric_calls(p.a->dev, CALL_POLL_CQ);
	world_run(20 * NSEC_PER_SEC);
	probes = all(p.a, sent) - probes;
	polls = fabric_calls(p.a->dev, CALL_POLL_CQ) - polls;
	assert_in_range(probes, ROWS * 100 - ROWS, ROWS * 100 + ROWS);
	/* The queue that has it is found after two tries, and asked again when it is armed; all are
	 * ten times a second. */
	looks = 20 * 10 * ROWS / 2;
	assert_in_range(polls, 2 * probes, 3 * probes + looks);
}

/* All that waited has waited, on whatever queue. */
static void test_what_waited_for_us_is_no_latency_on_any_queue(void **state)
{
	struct pair p = several_queues();

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p, DELAY_NS);
	p.a->frozen_control = true;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t flying, delayed = all(p.a, self_delayed);

		until_in_flight(p.a);
		flying = 0;
		for (uint32_t row = 0; row < ROWS; row++)
			flying += host_books(p.a, row, OP_READ).in_flight;
		p.a->frozen_rail = true;
		world_run(60 * NSEC_PER_MSEC);
		p.a->frozen_rail = false;
		world_run(5 * NSEC_PER_MSEC);
		assert_true(all(p.a, self_delayed) - delayed >= flying);
	}
	p.a->frozen_control = false;
}

/* Its driver tells of no completion any more, and of all again. */
static void set_events(struct host *h, bool lost)
{
	fabric_set_knobs(h->dev, &(struct fake_knobs){.lose_events = lost});
}

static void test_completions_without_events_are_found_all_the_same(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_events(p.a, true);
	set_events(p.b, true);
	world_run(10 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_in_range(send.ok + send.late, send.sent - 2, send.sent);
	assert_int_equal(host_books(p.a, 0, OP_SEND).not_attempted[SKIP_PEER_UNRESPONSIVE], 0);
	assert_in_range(read.ok + read.late, read.sent - 1, read.sent);
	assert_int_equal(host_entered(p.a, 0, SESSION_UP), 1);
	set_events(p.a, false);
	set_events(p.b, false);
	world_run(NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	world_run(10 * NSEC_PER_SEC);
	assert_int_equal(host_books(p.a, 0, OP_SEND).misses, send.misses);
}

static void test_a_completion_that_nothing_told_of_counts_before_a_deadline_is_judged(void **state)
{
	struct pair p = world_pair_with(read_only);
	struct op_books b;

	(void)state;
	world_run(NSEC_PER_SEC);
	set_delay(p, DELAY_NS);
	until_in_flight(p.a);
	set_events(p.a, true);
	world_run(WORLD_DEADLINE_NS / 2);
	/* It has come, and no round looked for it. */
	assert_int_equal(host_books(p.a, 0, OP_READ).in_flight, 1);
	p.a->rail->look_ns = world_now_ns();
	world_run(WORLD_DEADLINE_NS / 2 + NSEC_PER_MSEC);
	b = host_books(p.a, 0, OP_READ);
	assert_int_equal(b.in_flight, 0);
	assert_int_equal(b.ok, b.sent);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_completion_costs_the_polling_of_its_own_queue),
		TEST(test_what_waited_for_us_is_no_latency_on_any_queue),
		TEST(test_completions_without_events_are_found_all_the_same),
		TEST(test_a_completion_that_nothing_told_of_counts_before_a_deadline_is_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
