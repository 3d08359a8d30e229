#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "probes/twin.h"

/* All words of a value are equal, so a mixture of two shows. */
#define WORDS 37

struct value {
	uint64_t word[WORDS];
	char tail[3]; /* a size that is no multiple of a word */
};

struct cell {
	union {
		struct twin twin;
		_Atomic uint64_t space[TWIN_SIZE(sizeof(struct value)) / 8];
	};
};

static struct value value_of(uint64_t n)
{
	struct value v;

	for (size_t i = 0; i < WORDS; i++)
		v.word[i] = n;
	memset(v.tail, (int)(n & 0x7f), sizeof(v.tail));
	return v;
}

static bool is_whole(const struct value *v)
{
	struct value expected = value_of(v->word[0]);

	return memcmp(v->word, expected.word, sizeof(v->word)) == 0 &&
	       memcmp(v->tail, expected.tail, sizeof(v->tail)) == 0;
}

static void test_nothing_published_reads_as_zero(void **state)
{
	struct cell cell = {0};
	struct value v = value_of(9);

	(void)state;
	assert_true(twin_get(&cell.twin, &v, sizeof(v)));
	assert_int_equal(v.word[0], 0);
	assert_int_equal(v.word[WORDS - 1], 0);
	assert_int_equal(twin_begin(&cell.twin), 0);
}

static void test_the_last_published_value_is_read(void **state)
{
	struct cell cell = {0};
	struct value v;

	(void)state;
	for (uint64_t n = 1; n < 6; n++) {
		v = value_of(n);
		twin_put(&cell.twin, &v, sizeof(v));
		v = value_of(0);
		assert_true(twin_get(&cell.twin, &v, sizeof(v)));
		assert_int_equal(v.word[0], n);
		assert_true(is_whole(&v));
	}
}

static void test_writer_frozen_in_mid_write_leaves_the_last_value(void **state)
{
	struct cell cell = {0};
	struct value one = value_of(1), two = value_of(2), v;

	(void)state;
	twin_put(&cell.twin, &one, sizeof(one));
	twin_fill(twin_next(&cell.twin, sizeof(two)), 0, &two, sizeof(two) / 2);
	assert_true(twin_get(&cell.twin, &v, sizeof(v)));
	assert_int_equal(v.word[0], 1);
	assert_true(is_whole(&v));
}

static void test_value_replaced_during_a_read_is_noticed(void **state)
{
	struct cell cell = {0};
	struct value v = value_of(1);
	uint64_t ticket;

	(void)state;
	twin_put(&cell.twin, &v, sizeof(v));
	ticket = twin_begin(&cell.twin);
	assert_true(twin_whole(&cell.twin, ticket));
	twin_put(&cell.twin, &v, sizeof(v));
	assert_false(twin_whole(&cell.twin, ticket));
}

struct race {
	struct cell cell;
	atomic_bool stop;
};

static void *writer_main(void *arg)
{
	struct race *race = arg;

	for (uint64_t n = 1; !atomic_load(&race->stop); n++) {
		struct value v = value_of(n);

		twin_put(&race->cell.twin, &v, sizeof(v));
	}
	return NULL;
}

static void test_reader_beside_a_writer_never_sees_a_mixture(void **state)
{
	struct race race = {0};
	struct value v;
	unsigned whole = 0;
	uint64_t last = 0;
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, writer_main, &race), 0);
	for (unsigned i = 0; i < 20000; i++) {
		if (!twin_get(&race.cell.twin, &v, sizeof(v)))
			continue;
		assert_true(is_whole(&v));
		assert_true(v.word[0] >= last);
		last = v.word[0];
		whole++;
	}
	atomic_store(&race.stop, true);
	pthread_join(writer, NULL);
	assert_true(whole > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_published_reads_as_zero),
		cmocka_unit_test(test_the_last_published_value_is_read),
		cmocka_unit_test(test_writer_frozen_in_mid_write_leaves_the_last_value),
		cmocka_unit_test(test_value_replaced_during_a_read_is_noticed),
		cmocka_unit_test(test_reader_beside_a_writer_never_sees_a_mixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
