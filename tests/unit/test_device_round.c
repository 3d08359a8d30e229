#include "support.h"

#include "core/clock.h"
#include "daemon/device_round.h"
#include "probes/table.h"

#define INTERVAL_NS (5 * NSEC_PER_SEC)

/* What a worker has published, and whether it can be read whole just now. */
struct table {
	uint64_t published;
	bool torn;
	unsigned read; /* times */
	struct counter_round round;
};

static struct table table;
static struct counter_round scratch;

uint64_t table_counters_published(const struct table *t)
{
	return t->published;
}

/* As the real one, it may have written half of it when it gives up. */
bool table_get_counters(const struct table *t, struct counter_round *ret)
{
	table.read++;
	*ret = t->round;
	return !t->torn;
}

static void put_value(const char *name, uint64_t value)
{
	struct counter_value *v = &table.round.values[table.round.n_values++];

	snprintf(v->name, sizeof(v->name), "%s", name);
	v->value = value;
}

static int setup(void **state)
{
	struct device_round *r = calloc(1, sizeof(*r));

	memset(&table, 0, sizeof(table));
	table.published = 1;
	table.round.mono_ns = 100 * NSEC_PER_SEC;
	table.round.interval_ns = INTERVAL_NS;
	table.round.n_ports = 1;
	table.round.ports[0].port = 1;
	table.round.n_gids = 1;
	table.round.gids[0].index = 7;
	put_value("out_of_buffer", 3);
	put_value("link_downed", 1);
	*state = r;
	return r ? 0 : -1;
}

static int teardown(void **state)
{
	struct device_round *r = *state;

	device_round_free(r);
	free(r);
	return 0;
}

static void test_a_round_is_read_once_and_kept_sorted(void **state)
{
	struct device_round *r = *state;
	const struct counter_round *last;

	assert_null(device_round_last(r));
	assert_true(device_round_due(r, &table));
	assert_true(device_round_read(r, &table, &scratch));
	assert_string_equal(scratch.values[0].name, "out_of_buffer");
	assert_false(device_round_due(r, &table));
	assert_false(device_round_read(r, &table, &scratch));
	assert_int_equal(table.read, 1);
	last = device_round_last(r);
	assert_int_equal(last->n_values, 2);
	assert_string_equal(last->values[0].name, "link_downed");
	assert_string_equal(last->values[1].name, "out_of_buffer");
	assert_int_equal(last->values[1].value, 3);
	assert_int_equal(last->ports[0].port, 1);
	assert_int_equal(last->gids[0].index, 7);
}

static void test_what_the_caller_does_to_its_copy_stays_there(void **state)
{
	struct device_round *r = *state;

	assert_true(device_round_read(r, &table, &scratch));
	scratch.ports[0].expected_rate_bytes_per_second = 1;
	scratch.device.firmware_watched = 1;
	assert_int_equal(device_round_last(r)->ports[0].expected_rate_bytes_per_second, 0);
	assert_int_equal(device_round_last(r)->device.firmware_watched, 0);
}

static void test_one_that_cannot_be_read_whole_leaves_the_one_before(void **state)
{
	struct device_round *r = *state;

	assert_true(device_round_read(r, &table, &scratch));
	table.published = 2;
	table.torn = true;
	table.round.values[0].value = 4;
	assert_false(device_round_read(r, &table, &scratch));
	assert_int_equal(device_round_last(r)->values[1].value, 3);
	/* and is asked for again */
	table.torn = false;
	assert_true(device_round_read(r, &table, &scratch));
	assert_int_equal(device_round_last(r)->values[1].value, 4);
}

static void test_a_worker_that_ended_leaves_none_and_the_next_may_count_alike(void **state)
{
	struct device_round *r = *state;

	assert_true(device_round_read(r, &table, &scratch));
	device_round_forget(r);
	assert_null(device_round_last(r));
	assert_false(device_round_fresh(r, table.round.mono_ns, INTERVAL_NS));
	assert_true(device_round_read(r, &table, &scratch));
	assert_non_null(device_round_last(r));
}

static void test_a_worker_without_a_round_has_none(void **state)
{
	struct device_round *r = *state;

	table.published = 0;
	assert_false(device_round_due(r, &table));
	assert_false(device_round_read(r, &table, &scratch));
	assert_null(device_round_last(r));
	assert_int_equal(table.read, 0);
}

static void test_a_round_is_fresh_for_three_intervals(void **state)
{
	struct device_round *r = *state;
	uint64_t at = table.round.mono_ns;

	assert_true(device_round_read(r, &table, &scratch));
	assert_true(device_round_fresh(r, at - 1, 1));
	assert_true(device_round_fresh(r, at + 3 * INTERVAL_NS, 1));
	assert_false(device_round_fresh(r, at + 3 * INTERVAL_NS + 1, 1));
	/* A worker that states no interval has the one that it was told. */
	table.published++;
	table.round.interval_ns = 0;
	assert_true(device_round_read(r, &table, &scratch));
	assert_true(device_round_fresh(r, at + 30, 10));
	assert_false(device_round_fresh(r, at + 31, 10));
	table.published++;
	table.round.mono_ns = 0;
	assert_true(device_round_read(r, &table, &scratch));
	assert_false(device_round_fresh(r, 0, 10));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_round_is_read_once_and_kept_sorted),
		TEST(test_what_the_caller_does_to_its_copy_stays_there),
		TEST(test_one_that_cannot_be_read_whole_leaves_the_one_before),
		TEST(test_a_worker_that_ended_leaves_none_and_the_next_may_count_alike),
		TEST(test_a_worker_without_a_round_has_none),
		TEST(test_a_round_is_fresh_for_three_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
