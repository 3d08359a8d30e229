#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chance.h"
#include "core/clock.h"
#include "probes/table.h"

static const struct table_layout small = {.sessions = 3, .samples_per_stream = SAMPLES_MIN};

/* A table as main has it and as a worker does: two mappings of one memory. */
struct pair {
	struct table *writer, *reader;
};

static int setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	int fd = -1;

	p->reader = table_create(&small, &fd);
	p->writer = p->reader ? table_map(fd) : NULL;
	close(fd);
	*state = p;
	return p->writer ? 0 : -1;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	table_unmap(p->writer);
	table_unmap(p->reader);
	free(p);
	return 0;
}

static void test_worker_finds_the_layout_that_main_chose(void **state)
{
	struct pair *p = *state;

	assert_int_equal(table_get_layout(p->writer)->sessions, 3);
	assert_int_equal(table_get_layout(p->writer)->samples_per_stream, SAMPLES_MIN);
}

static void test_layouts_out_of_bounds_are_refused(void **state)
{
	static const struct table_layout bad[] = {
		{0, SAMPLES_MIN},     {1, 0},	      {1, SAMPLES_MIN + 1},
		{1, 2 * SAMPLES_MAX}, {1u << 30, 64},
	};
	int fd;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_null(table_create(&bad[i], &fd));
		assert_int_equal(errno, EINVAL);
	}
}

static void test_file_that_can_shrink_is_not_mapped(void **state)
{
	int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)table_size(&small)), 0);
	assert_null(table_map(fd));
	assert_int_equal(errno, EINVAL);
	close(fd);
}

static void test_table_of_another_version_or_size_is_not_mapped(void **state)
{
	uint64_t wrong = 1;
	uint32_t rows = 4;
	int fd = -1;
	struct table *t = table_create(&small, &fd);

	(void)state;
	assert_non_null(t);
	assert_int_equal(pwrite(fd, &rows, sizeof(rows), 12), sizeof(rows));
	assert_null(table_map(fd));
	assert_int_equal(errno, EPROTO);
	rows = 3;
	assert_int_equal(pwrite(fd, &rows, sizeof(rows), 12), sizeof(rows));
	assert_int_equal(pwrite(fd, &wrong, sizeof(wrong), 0), sizeof(wrong));
	assert_null(table_map(fd));
	assert_int_equal(errno, EPROTO);
	table_unmap(t);
	close(fd);
}

static void test_main_keeps_its_layout_when_the_header_is_overwritten(void **state)
{
	struct session_books b;
	uint32_t rows = 0xffffffff;
	int fd = -1;
	struct table *t = table_create(&small, &fd);

	(void)state;
	assert_non_null(t);
	assert_int_equal(pwrite(fd, &rows, sizeof(rows), 12), sizeof(rows));
	assert_int_equal(table_get_layout(t)->sessions, 3);
	assert_false(table_get_books(t, 3, &b));
	table_unmap(t);
	close(fd);
}

static void test_sample_ring_holds_a_minute_within_bounds(void **state)
{
	(void)state;
	assert_int_equal(table_samples_for(10 * NSEC_PER_SEC), SAMPLES_MIN);
	assert_int_equal(table_samples_for(1 * NSEC_PER_SEC), 64);
	assert_int_equal(table_samples_for(200 * NSEC_PER_MSEC), 512);
	assert_int_equal(table_samples_for(1), SAMPLES_MAX);
	assert_int_equal(table_samples_for(0), SAMPLES_MAX);
}

static void test_books_and_connection_of_a_row_are_read_as_written(void **state)
{
	struct pair *p = *state;
	struct session_books b = {.session_id = 7}, got;
	struct session_conn c = {.session_id = 7, .state = SESSION_UP, .reason = "none"}, conn;

	b.op[OP_READ].failed[FAIL_CORRUPT] = 5;
	table_put_books(p->writer, 2, &b);
	table_put_conn(p->writer, 2, &c);
	assert_true(table_get_books(p->reader, 2, &got));
	assert_memory_equal(&got, &b, sizeof(b));
	assert_true(table_get_conn(p->reader, 2, &conn));
	assert_memory_equal(&conn, &c, sizeof(c));
	assert_true(table_get_books(p->reader, 1, &got));
	assert_int_equal(got.session_id, 0);
}

/* Whatever changed in whatever order, a reader finds all of it, also what an earlier put brought.
 */
static void test_books_put_in_parts_are_read_whole(void **state)
{
	struct pair *p = *state;
	struct session_books b = {.session_id = 7}, got;
	struct chance chance = {11};
	uint32_t before = BOOKS_ALL;

	table_put_books_of(p->writer, 1, &b, before);
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t now = (uint32_t)chance_below(&chance, 2 * BOOKS_HEAD);

		for (unsigned op = 0; op < OP_COUNT; op++) {
			if (now & (BOOKS_RUNNING(op) | BOOKS_WHOLE(op)))
				b.op[op].booked_until_ns = b.op[op].last_success_ns = i;
			if (now & BOOKS_WHOLE(op))
				b.op[op].interval_ns = b.op[op].double_misses = i;
		}
		if (now & BOOKS_HEAD)
			b.ack_count = i;
		table_put_books_of(p->writer, 1, &b, now | before);
		before = now;
		assert_true(table_get_books(p->reader, 1, &got));
		assert_memory_equal(&got, &b, sizeof(b));
	}
	table_put_books_of(p->writer, 3, &b, before);
	assert_true(table_get_books(p->reader, 2, &got));
	assert_int_equal(got.session_id, 0);
}

static void test_cells_out_of_range_are_neither_written_nor_read(void **state)
{
	struct pair *p = *state;
	struct session_books b = {.session_id = 1};
	struct session_conn c = {0};
	struct rail_fact r = {0};
	struct hist h;

	table_put_books(p->writer, 3, &b);
	table_put_conn(p->writer, 3, &c);
	table_put_rail(p->writer, RAIL_MAX, &r);
	table_put_rtt(p->writer, RAIL_MAX, 0, 0, 1);
	table_put_rtt(p->writer, 0, CLASS_MAX, 0, 1);
	table_put_rtt(p->writer, 0, 0, STREAM_COUNT, 1);
	table_put_sample(p->writer, 0, STREAM_COUNT, 1, 1);
	table_count_async(p->writer, 0, ASYNC_EVENT_COUNT);
	assert_false(table_get_books(p->reader, 3, &b));
	assert_false(table_get_conn(p->reader, 3, &c));
	assert_false(table_get_rail(p->reader, RAIL_MAX, &r));
	table_get_hist(p->reader, RAIL_MAX, 0, 0, &h);
	assert_int_equal(h.count, 0);
	assert_int_equal(table_get_async(p->reader, PORT_MAX + 1, 0), 0);
}

static void test_strings_without_end_and_wild_enums_do_not_reach_main(void **state)
{
	struct pair *p = *state;
	struct session_conn c;
	struct rail_fact r;

	memset(&c, 0x7f, sizeof(c));
	c.state = SESSION_UP;
	c.error.op = OP_READ;
	memset(c.op_lack, OP_LACK_PEER, sizeof(c.op_lack));
	table_put_conn(p->writer, 0, &c);
	assert_true(table_get_conn(p->reader, 0, &c));
	assert_int_equal(strlen(c.reason), FACT_NAME - 1);
	assert_int_equal(strlen(c.error.text), FACT_NAME - 1);
	c.state = SESSION_STATE_COUNT;
	table_put_conn(p->writer, 0, &c);
	assert_false(table_get_conn(p->reader, 0, &c));
	c.state = SESSION_UP;
	c.op_lack[OP_ATOMIC] = OP_LACK_COUNT;
	table_put_conn(p->writer, 0, &c);
	assert_false(table_get_conn(p->reader, 0, &c));
	memset(&r, 0x7f, sizeof(r));
	table_put_rail(p->writer, 0, &r);
	assert_false(table_get_rail(p->reader, 0, &r));
}

static void test_samples_of_the_last_minute_are_found(void **state)
{
	struct pair *p = *state;
	uint64_t got[SAMPLES_MIN];

	table_put_sample(p->writer, 1, OP_READ, 100, 11);
	table_put_sample(p->writer, 1, OP_READ, 200, 22);
	table_put_sample(p->writer, 1, OP_READ, 300, 33);
	table_put_sample(p->writer, 1, STREAM_ACK, 300, 44);
	assert_int_equal(table_get_samples(p->reader, 1, OP_READ, 100, got, SAMPLES_MIN), 2);
	assert_int_equal(got[0] + got[1], 55);
	assert_int_equal(table_get_samples(p->reader, 1, OP_READ, 0, got, 1), 1);
	assert_int_equal(table_get_samples(p->reader, 1, STREAM_ACK, 0, got, SAMPLES_MIN), 1);
	assert_int_equal(table_get_samples(p->reader, 0, OP_READ, 0, got, SAMPLES_MIN), 0);
}

static void test_sample_ring_keeps_the_newest(void **state)
{
	struct pair *p = *state;
	uint64_t got[2 * SAMPLES_MIN], sum = 0, expected = 0;
	uint32_t n;

	for (uint64_t i = 1; i <= 3 * SAMPLES_MIN; i++) {
		table_put_sample(p->writer, 0, OP_SEND, i, i);
		expected += i > 2 * SAMPLES_MIN ? i : 0;
	}
	n = table_get_samples(p->reader, 0, OP_SEND, 0, got, 2 * SAMPLES_MIN);
	assert_int_equal(n, SAMPLES_MIN);
	for (uint32_t i = 0; i < n; i++)
		sum += got[i];
	assert_int_equal(sum, expected);
}

static void test_cleared_row_has_no_samples_of_its_predecessor(void **state)
{
	struct pair *p = *state;
	uint64_t got[SAMPLES_MIN];

	table_put_sample(p->writer, 0, OP_SEND, 5, 5);
	table_put_sample(p->writer, 1, OP_SEND, 5, 5);
	table_clear_samples(p->writer, 0);
	assert_int_equal(table_get_samples(p->reader, 0, OP_SEND, 0, got, SAMPLES_MIN), 0);
	assert_int_equal(table_get_samples(p->reader, 1, OP_SEND, 0, got, SAMPLES_MIN), 1);
}

static void test_each_sample_is_taken_once(void **state)
{
	struct pair *p = *state;
	uint64_t got[SAMPLES_MAX], at = 0;

	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), 0);
	for (uint64_t i = 1; i <= 3; i++)
		table_put_sample(p->writer, 0, OP_SEND, 7, i);
	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), 3);
	assert_int_equal(got[2], 3);
	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), 0);
	table_put_sample(p->writer, 0, OP_SEND, 7, 4);
	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), 1);
	assert_int_equal(got[0], 4);
	/* one who was away for longer than the ring holds */
	for (uint64_t i = 0; i < 3 * SAMPLES_MIN; i++)
		table_put_sample(p->writer, 0, OP_SEND, 7, i);
	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), SAMPLES_MIN);
	/* and who begins with a row whose predecessor had some */
	table_clear_samples(p->writer, 0);
	table_put_sample(p->writer, 0, OP_SEND, 9, 5);
	at = 0;
	assert_int_equal(table_take_samples(p->reader, 0, OP_SEND, &at, got), 1);
	assert_int_equal(got[0], 5);
	assert_int_equal(table_take_samples(p->reader, 99, OP_SEND, &at, got), 0);
}

static void test_histogram_adds_up(void **state)
{
	struct pair *p = *state;
	struct hist h;

	table_put_rtt(p->writer, 1, 2, STREAM_ACK, 2000);
	table_put_rtt(p->writer, 1, 2, STREAM_ACK, 2001);
	table_put_rtt(p->writer, 1, 2, STREAM_ACK, NSEC_PER_SEC);
	table_get_hist(p->reader, 1, 2, STREAM_ACK, &h);
	assert_int_equal(h.bucket[0], 1);
	assert_int_equal(h.bucket[1], 1);
	assert_int_equal(h.bucket[HIST_BUCKETS - 1], 1);
	assert_int_equal(h.count, 3);
	assert_int_equal(h.sum_ns, NSEC_PER_SEC + 4001);
	table_get_hist(p->reader, 1, 2, OP_SEND, &h);
	assert_int_equal(h.count, 0);
}

static void test_events_of_a_port_beyond_the_table_are_still_counted(void **state)
{
	struct pair *p = *state;

	table_count_async(p->writer, 1, 9);
	table_count_async(p->writer, 1, 9);
	table_count_async(p->writer, 200, 9);
	assert_int_equal(table_get_async(p->reader, 1, 9), 2);
	assert_int_equal(table_get_async(p->reader, 0, 9), 1);
}

static void test_beats_qps_rails_and_totals(void **state)
{
	struct pair *p = *state;
	struct rail_totals totals = {.attempts = 4}, got_totals;
	struct rail_fact rail = {.name = "rxe0", .up = 1}, got;
	uint64_t a, b;

	table_beat(p->writer, WORKER_CONTROL, 10, 20);
	table_get_beat(p->reader, WORKER_CONTROL, &a, &b);
	assert_int_equal(a, 10);
	assert_int_equal(b, 20);
	table_get_beat(p->reader, WORKER_RAIL, &a, &b);
	assert_int_equal(a, 0);
	table_put_qps(p->writer, 3, 4);
	table_get_qps(p->reader, &a, &b);
	assert_int_equal(a, 3);
	assert_int_equal(b, 4);
	table_put_rail(p->writer, RAIL_MAX - 1, &rail);
	assert_true(table_get_rail(p->reader, RAIL_MAX - 1, &got));
	assert_string_equal(got.name, "rxe0");
	totals.drains[DRAIN_MARKER] = 2;
	table_put_rail_totals(p->writer, 0, &totals);
	assert_true(table_get_rail_totals(p->reader, 0, &got_totals));
	assert_memory_equal(&got_totals, &totals, sizeof(totals));
}

static void fill_round(struct counter_round *r, uint32_t n_values, uint64_t value)
{
	r->mono_ns = value;
	r->n_ports = 1;
	r->ports[0] = (struct port_fact){.port = 1, .state = 4, .state_text = "ACTIVE"};
	r->n_gids = 3;
	for (uint32_t i = 0; i < r->n_gids; i++)
		r->gids[i] = (struct gid_fact){.index = (uint16_t)i, .port = 1, .netdev = "eth0"};
	r->n_values = n_values;
	for (uint32_t i = 0; i < n_values; i++)
		r->values[i] = (struct counter_value){.name = "np_cnp_sent", .value = value};
}

static void test_no_round_before_the_first(void **state)
{
	struct pair *p = *state;
	struct counter_round *got = calloc(1, sizeof(*got));

	assert_false(table_get_counters(p->reader, got));
	fill_round(table_counter_slot(p->writer), 2, 1);
	assert_false(table_get_counters(p->reader, got));
	free(got);
}

static void test_round_is_read_as_published(void **state)
{
	struct pair *p = *state;
	struct counter_round *got = calloc(1, sizeof(*got));

	fill_round(table_counter_slot(p->writer), COUNTER_MAX, 42);
	table_publish_counters(p->writer);
	assert_true(table_get_counters(p->reader, got));
	assert_int_equal(got->n_values, COUNTER_MAX);
	assert_int_equal(got->values[COUNTER_MAX - 1].value, 42);
	assert_string_equal(got->values[0].name, "np_cnp_sent");
	assert_int_equal(got->gids[2].index, 2);
	assert_string_equal(got->gids[2].netdev, "eth0");
	assert_string_equal(got->ports[0].state_text, "ACTIVE");
	/* Filling the next one changes nothing until it is published. */
	fill_round(table_counter_slot(p->writer), 1, 43);
	assert_true(table_get_counters(p->reader, got));
	assert_int_equal(got->mono_ns, 42);
	table_publish_counters(p->writer);
	assert_true(table_get_counters(p->reader, got));
	assert_int_equal(got->mono_ns, 43);
	assert_int_equal(got->n_values, 1);
	free(got);
}

static void test_round_with_wild_lengths_and_texts_is_tamed(void **state)
{
	struct pair *p = *state;
	struct counter_round *slot = table_counter_slot(p->writer);
	struct counter_round *got = calloc(1, sizeof(*got));

	memset(slot, 0x7f, sizeof(*slot));
	slot->n_ports = PORT_MAX;
	slot->n_gids = GID_MAX;
	slot->n_values = COUNTER_MAX;
	table_publish_counters(p->writer);
	assert_true(table_get_counters(p->reader, got));
	assert_int_equal(strlen(got->values[COUNTER_MAX - 1].name), FACT_NAME - 1);
	assert_int_equal(strlen(got->gids[GID_MAX - 1].netdev), FACT_NETDEV - 1);
	assert_int_equal(strlen(got->ports[PORT_MAX - 1].rate_text), 47);
	assert_int_equal(strlen(got->device.firmware), FACT_NAME - 1);
	assert_true(got->values[0].source < COUNTER_SOURCE_COUNT);
	assert_true(got->resets[RESETS_KEPT - 1].source < COUNTER_SOURCE_COUNT);
	assert_int_equal(strlen(got->resets[0].name), FACT_NAME - 1);
	assert_int_equal(strlen(got->failures.kept[0].name), FACT_NAME - 1);
	assert_true(got->failures.kept[0].source <= COUNTER_SOURCE_COUNT);
	assert_true(got->failures.kept[0].error < READ_ERROR_COUNT);
	assert_true(got->gids[0].type <= GID_TYPE_ROCE_V2);
	assert_true(got->ports[0].link_layer <= LINK_LAYER_ETHERNET);
	free(got);
}

struct race {
	struct table *table;
	atomic_bool stop;
};

/* Everything in one round, and in one row of books, is the same number. */
static void *writer_main(void *arg)
{
	struct race *race = arg;

	for (uint64_t n = 1; !atomic_load(&race->stop); n++) {
		struct session_books b = {.session_id = n, .ack_count = n};

		table_put_books(race->table, 0, &b);
		table_put_sample(race->table, 0, OP_SEND, n, n);
		table_put_rtt(race->table, 0, 0, OP_SEND, 1000);
		if (n % 64 == 0) {
			fill_round(table_counter_slot(race->table), 300, n);
			table_publish_counters(race->table);
		}
	}
	return NULL;
}

static void check_round(const struct counter_round *r)
{
	for (uint32_t i = 0; i < r->n_values; i++)
		assert_int_equal(r->values[i].value, r->mono_ns);
}

static void check_row(const struct table *t)
{
	uint64_t got[SAMPLES_MIN];
	struct session_books b;
	struct hist h;

	if (table_get_books(t, 0, &b))
		assert_int_equal(b.session_id, b.ack_count);
	table_get_samples(t, 0, OP_SEND, 0, got, SAMPLES_MIN);
	table_get_hist(t, 0, 0, OP_SEND, &h);
	assert_int_equal(h.count, h.bucket[0]);
}

static void test_reader_beside_a_writing_worker_sees_whole_values(void **state)
{
	struct pair *p = *state;
	struct race race = {.table = p->reader};
	struct counter_round *round = calloc(1, sizeof(*round));
	unsigned rounds = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, writer_main, &race), 0);
	/* On a busy machine the writer's thread may begin late: some rounds must have been seen. */
	for (unsigned i = 0; i < 2000 || (rounds < 100 && i < 50000000); i++) {
		check_row(p->reader);
		if (table_get_counters(p->reader, round)) {
			check_round(round);
			rounds++;
		}
	}
	atomic_store(&race.stop, true);
	pthread_join(writer, NULL);
	assert_true(rounds > 0);
	free(round);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(test_worker_finds_the_layout_that_main_chose),
		cmocka_unit_test(test_layouts_out_of_bounds_are_refused),
		cmocka_unit_test(test_file_that_can_shrink_is_not_mapped),
		cmocka_unit_test(test_table_of_another_version_or_size_is_not_mapped),
		cmocka_unit_test(test_main_keeps_its_layout_when_the_header_is_overwritten),
		cmocka_unit_test(test_sample_ring_holds_a_minute_within_bounds),
		TABLE_TEST(test_books_and_connection_of_a_row_are_read_as_written),
		TABLE_TEST(test_books_put_in_parts_are_read_whole),
		TABLE_TEST(test_cells_out_of_range_are_neither_written_nor_read),
		TABLE_TEST(test_strings_without_end_and_wild_enums_do_not_reach_main),
		TABLE_TEST(test_each_sample_is_taken_once),
		TABLE_TEST(test_samples_of_the_last_minute_are_found),
		TABLE_TEST(test_sample_ring_keeps_the_newest),
		TABLE_TEST(test_cleared_row_has_no_samples_of_its_predecessor),
		TABLE_TEST(test_histogram_adds_up),
		TABLE_TEST(test_events_of_a_port_beyond_the_table_are_still_counted),
		TABLE_TEST(test_beats_qps_rails_and_totals),
		TABLE_TEST(test_no_round_before_the_first),
		TABLE_TEST(test_round_is_read_as_published),
		TABLE_TEST(test_round_with_wild_lengths_and_texts_is_tamed),
		TABLE_TEST(test_reader_beside_a_writing_worker_sees_whole_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
