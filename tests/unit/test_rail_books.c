#include "support.h"

#include <string.h>

#include "health/books.h"
#include "health/rail_books.h"

static void session(struct op_books op[OP_COUNT], uint64_t ok, uint64_t in_flight)
{
	memset(op, 0, OP_COUNT * sizeof(*op));
	op[OP_SEND].interval_ns = 1000;
	op[OP_SEND].ok = ok;
	op[OP_SEND].in_flight = in_flight;
	op[OP_SEND].sent = ok + in_flight;
	op[OP_SEND].scheduled = ok + in_flight;
}

static struct op_books sum_of_send(const struct rail_books *r, size_t i)
{
	struct op_books op[OP_COUNT];
	struct hist hist[STREAM_COUNT];

	rail_books_class(r, i, op, hist);
	return op[OP_SEND];
}

static void test_class_exists_with_zeros_from_the_start(void **state)
{
	struct rail_books *r = rail_books_new();
	struct op_books op[OP_COUNT];
	struct hist hist[STREAM_COUNT];

	(void)state;
	assert_int_equal(rail_books_classes(r), 0);
	assert_true(rail_books_ensure(r, "default"));
	assert_true(rail_books_ensure(r, "default"));
	assert_int_equal(rail_books_classes(r), 1);
	assert_string_equal(rail_books_class(r, 0, op, hist), "default");
	assert_int_equal(op[OP_SEND].scheduled, 0);
	assert_int_equal(hist[STREAM_ACK].count, 0);
	rail_books_free(r);
}

static void test_sessions_are_summed_per_class(void **state)
{
	struct rail_books *r = rail_books_new();
	struct op_books op[OP_COUNT];

	(void)state;
	rail_books_begin(r);
	session(op, 5, 1);
	rail_books_add(r, "default", op);
	rail_books_add(r, "bulk", op);
	rail_books_add(r, "default", op);
	assert_int_equal(rail_books_classes(r), 2);
	assert_int_equal(sum_of_send(r, 0).ok, 10);
	assert_int_equal(sum_of_send(r, 0).in_flight, 2);
	assert_int_equal(sum_of_send(r, 1).ok, 5);
	rail_books_free(r);
}

static void test_totals_survive_their_sessions(void **state)
{
	struct rail_books *r = rail_books_new();
	struct op_books op[OP_COUNT], total;

	(void)state;
	session(op, 5, 1);
	rail_books_begin(r);
	rail_books_add(r, "default", op);
	rail_books_retire(r, "default", op, ABORT_RELOAD);
	rail_books_begin(r);
	session(op, 2, 0);
	rail_books_add(r, "default", op);
	total = sum_of_send(r, 0);
	assert_int_equal(total.ok, 7);
	assert_int_equal(total.sent, 8);
	assert_int_equal(total.in_flight, 0);
	assert_int_equal(total.aborted[ABORT_RELOAD], 1);
	assert_true(op_books_balanced(&total));
	rail_books_free(r);
}

/* A look in which the rows of all sessions say so many round trips. */
static void look(struct rail_books *r, enum op which, uint64_t count, uint64_t sum_ns,
		 struct hist ret[STREAM_COUNT])
{
	struct op_books op[OP_COUNT] = {0};

	op[which].rtt_count = count;
	op[which].rtt_sum_ns = sum_ns;
	rail_books_begin(r);
	rail_books_add(r, "default", op);
	rail_books_settle(r);
	rail_books_class(r, 0, op, ret);
}

static void test_histograms_survive_their_workers(void **state)
{
	struct rail_books *r = rail_books_new();
	struct hist live = {0}, got[STREAM_COUNT];

	(void)state;
	hist_add(&live, 2500);
	hist_add(&live, 2500);
	rail_books_hist(r, "default", OP_READ, &live);
	rail_books_fold(r);
	memset(&live, 0, sizeof(live));
	hist_add(&live, 100000);
	rail_books_hist(r, "default", OP_READ, &live);
	look(r, OP_READ, 3, 105000, got);
	assert_int_equal(got[OP_READ].count, 3);
	assert_int_equal(got[OP_READ].sum_ns, 105000);
	assert_int_equal(got[OP_READ].bucket[hist_bucket_of(2500)], 2);
	assert_int_equal(got[OP_SEND].count, 0);
	rail_books_free(r);
}

static void test_count_is_the_sum_of_buckets_and_never_falls(void **state)
{
	struct rail_books *r = rail_books_new();
	struct hist live = {.count = 99}, got[STREAM_COUNT];

	(void)state;
	live.bucket[3] = 4;
	live.bucket[5] = 2;
	rail_books_hist(r, "default", OP_SEND, &live);
	look(r, OP_SEND, 6, 1, got);
	live.bucket[3] = 1; /* a lying table */
	live.bucket[5] = 3;
	rail_books_hist(r, "default", OP_SEND, &live);
	look(r, OP_SEND, 7, 1, got);
	assert_int_equal(got[OP_SEND].count, 7);
	assert_int_equal(got[OP_SEND].bucket[3], 4);
	rail_books_free(r);
}

/* The worker adds a round trip to the table before it shows the row, and goes on between the
 * reading of the two. */
static void test_histogram_has_no_round_trip_that_the_books_do_not_have(void **state)
{
	struct rail_books *r = rail_books_new();
	struct hist live = {0}, got[STREAM_COUNT];

	(void)state;
	hist_add(&live, 2500);
	hist_add(&live, 100000);
	rail_books_hist(r, "default", OP_READ, &live);
	look(r, OP_READ, 1, 2500, got);
	assert_int_equal(got[OP_READ].count, 1);
	assert_int_equal(got[OP_READ].sum_ns, 2500);
	look(r, OP_READ, 2, 102500, got);
	assert_int_equal(got[OP_READ].count, 2);
	assert_int_equal(got[OP_READ].bucket[hist_bucket_of(100000)], 1);
	rail_books_free(r);
}

/* Its probe is booked as aborted: it has no round trip. */
static void test_what_a_killed_worker_did_not_show_stays_held_back(void **state)
{
	struct rail_books *r = rail_books_new();
	struct hist live = {0}, got[STREAM_COUNT];

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		hist_add(&live, 2500);
	rail_books_hist(r, "default", OP_SEND, &live);
	look(r, OP_SEND, 4, 10000, got);
	rail_books_fold(r);
	memset(&live, 0, sizeof(live));
	look(r, OP_SEND, 4, 10000, got);
	assert_int_equal(got[OP_SEND].count, 4);
	hist_add(&live, 2500);
	rail_books_hist(r, "default", OP_SEND, &live);
	look(r, OP_SEND, 5, 12500, got);
	assert_int_equal(got[OP_SEND].count, 5);
	rail_books_free(r);
}

static void test_too_many_classes_are_refused(void **state)
{
	struct rail_books *r = rail_books_new();
	struct op_books op[OP_COUNT];
	char name[16];

	(void)state;
	for (unsigned i = 0; i < RAIL_CLASSES_MAX; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		assert_true(rail_books_ensure(r, name));
	}
	assert_false(rail_books_ensure(r, "onemore"));
	session(op, 1, 0);
	rail_books_add(r, "onemore", op);
	assert_int_equal(rail_books_classes(r), RAIL_CLASSES_MAX);
	rail_books_free(r);
	rail_books_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_exists_with_zeros_from_the_start),
		cmocka_unit_test(test_sessions_are_summed_per_class),
		cmocka_unit_test(test_totals_survive_their_sessions),
		cmocka_unit_test(test_histograms_survive_their_workers),
		cmocka_unit_test(test_count_is_the_sum_of_buckets_and_never_falls),
		cmocka_unit_test(test_histogram_has_no_round_trip_that_the_books_do_not_have),
		cmocka_unit_test(test_what_a_killed_worker_did_not_show_stays_held_back),
		cmocka_unit_test(test_too_many_classes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
