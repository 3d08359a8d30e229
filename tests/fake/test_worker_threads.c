/* The same with real threads and the real clock: two workers, each with its rail and its control,
 * and a main that reads their tables. Its worth is what TSan and ASan see meanwhile. */
#include "support.h"

#include <poll.h>

#include "core/hist.h"
#include "probes/ledger.h"
#include "world.h"

#define RUN_NS (2 * NSEC_PER_SEC)

static struct host *fast_host_of(const char *name, const char *address,
				 const struct fake_knobs *knobs)
{
	struct host *h = host_new(name, address);

	for (unsigned op = 0; op < OP_COUNT; op++)
		h->cfg.op[op] = (struct op_config){5 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC,
						   op == OP_ATOMIC ? 8 : 64, 0};
	fabric_set_knobs(h->dev, knobs);
	h->cfg.has_secret = 1;
	h->cfg.keepalive_ms = 100;
	host_start_threads(h);
	return h;
}

static struct host *fast_host(const char *name, const char *address)
{
	return fast_host_of(name, address, &(struct fake_knobs){0});
}

/* A look at everything that main looks at. */
static void read_table(const struct host *h)
{
	struct session_books books;
	struct session_conn conn;
	struct rail_totals totals;
	struct rail_fact rail;
	uint64_t samples[SAMPLES_MIN], active, passive, mono, wall;
	struct hist hist;

	for (uint32_t row = 0; row < WORLD_ROWS; row++) {
		/* false: torn, as when the writer is quick; what is whole must be right */
		if (table_get_books(h->table, row, &books))
			for (unsigned op = 0; op < OP_COUNT; op++)
				assert_true(op_books_balanced(&books.op[op]));
		table_get_conn(h->table, row, &conn);
		table_get_samples(h->table, row, OP_SEND, 0, samples, COUNT(samples));
	}
	table_get_rail(h->table, 0, &rail);
	table_get_rail_totals(h->table, 0, &totals);
	table_get_qps(h->table, &active, &passive);
	table_get_hist(h->table, 0, 0, OP_READ, &hist);
	table_get_beat(h->table, WORKER_RAIL, &mono, &wall);
	table_get_async(h->table, 1, 9);
}

/* Main's life for a while. */
static void live(uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;

	while (clock_now_ns() < end) {
		world_take_facts();
		for (unsigned i = 0; i < world.n_hosts; i++)
			read_table(&world.host[i]);
		poll(NULL, 0, 2);
	}
}

static bool until_state(struct host *h, uint32_t row, enum session_state state)
{
	struct session_conn conn;

	for (unsigned i = 0; i < 2000; i++) {
		if (table_get_conn(h->table, row, &conn) && conn.session_id && conn.state == state)
			return true;
		live(5 * NSEC_PER_MSEC);
	}
	return false;
}

static void stop_all(void)
{
	for (unsigned i = 0; i < world.n_hosts; i++)
		host_wish(&world.host[i], &(struct wish){.type = WISH_STOP});
	for (unsigned i = 0; i < world.n_hosts; i++)
		assert_int_equal(host_join(&world.host[i]), 0);
}

static void two_in_session(void)
{
	fast_host("host1", "10.0.0.1");
	fast_host("host2", "10.0.0.2");
	live(50 * NSEC_PER_MSEC);
	host_session(&world.host[0], 0, "host2", "10.0.0.2");
	host_session(&world.host[1], 0, "host1", "10.0.0.1");
	assert_true(until_state(&world.host[0], 0, SESSION_UP));
	assert_true(until_state(&world.host[1], 0, SESSION_UP));
}

static void test_two_workers_probe_each_other(void **state)
{
	(void)state;
	two_in_session();
	live(RUN_NS);
	assert_true(host_books(&world.host[0], 0, OP_SEND).ok > 50);
	assert_true(host_books(&world.host[1], 0, OP_READ).ok > 50);
	stop_all();
}

static void test_two_workers_without_srq_probe_each_other(void **state)
{
	static const struct fake_knobs no_srq = {.no_srq = true};
	struct host *a = fast_host_of("host1", "10.0.0.1", &no_srq);
	struct host *b = fast_host_of("host2", "10.0.0.2", &no_srq);

	(void)state;
	live(50 * NSEC_PER_MSEC);
	host_session(a, 0, "host2", "10.0.0.2");
	host_session(b, 0, "host1", "10.0.0.1");
	assert_true(until_state(a, 0, SESSION_UP) && until_state(b, 0, SESSION_UP));
	live(RUN_NS / 2);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_true(host_books(a, 0, op).ok > 10);
	stop_all();
}

static void test_connections_break_and_come_back(void **state)
{
	struct host *a, *b;

	(void)state;
	two_in_session();
	a = &world.host[0];
	b = &world.host[1];
	for (unsigned i = 0; i < 12; i++) {
		switch (i % 4) {
		case 0:
			fabric_cm_event(a->dev, RDMA_CM_EVENT_DISCONNECTED, 0);
			break;
		case 1:
			fabric_break_qp(b->dev, fabric_last_qpn(b->dev));
			break;
		case 2:
			fabric_set_port(a->dev, false);
			live(50 * NSEC_PER_MSEC);
			fabric_set_port(a->dev, true);
			break;
		default:
			fabric_async_event(a->dev, IBV_EVENT_GID_CHANGE, 0);
			break;
		}
		live(100 * NSEC_PER_MSEC);
		assert_true(until_state(a, 0, SESSION_UP));
		assert_true(until_state(b, 0, SESSION_UP));
	}
	stop_all();
	assert_receives_kept(a);
	assert_receives_kept(b);
}

static void test_sessions_come_and_go(void **state)
{
	struct host *a;

	(void)state;
	two_in_session();
	a = &world.host[0];
	for (unsigned i = 0; i < 10; i++) {
		host_session(a, 1 + i % 3, "host2", "10.0.0.2");
		live((i % 4) * 20 * NSEC_PER_MSEC);
		if (host_conn(a, 1 + i % 3).session_id)
			host_remove_session(a, 1 + i % 3, ABORT_RELOAD);
		live(30 * NSEC_PER_MSEC);
	}
	live(200 * NSEC_PER_MSEC);
	stop_all();
	assert_receives_kept(a);
}

static void test_a_removed_device_ends_its_worker_and_no_other(void **state)
{
	struct host *a, *b;

	(void)state;
	two_in_session();
	a = &world.host[0];
	b = &world.host[1];
	fabric_remove_device(a->dev, true);
	assert_int_equal(host_join(a), 11);
	live(500 * NSEC_PER_MSEC);
	host_wish(b, &(struct wish){.type = WISH_STOP});
	assert_int_equal(host_join(b), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_threads, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_two_workers_probe_each_other),
		TEST(test_two_workers_without_srq_probe_each_other),
		TEST(test_connections_break_and_come_back),
		TEST(test_sessions_come_and_go),
		TEST(test_a_removed_device_ends_its_worker_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
