#include "support.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

#include "health/snapshot.h"

static void test_new_snapshot_has_no_null_strings(void **state)
{
	struct snapshot *s = snapshot_new(NULL);

	(void)state;
	assert_string_equal(s->host, "");
	assert_string_equal(s->reason, "");
	assert_string_equal(s->config_hash, "");
	assert_string_equal(s->instance, "");
	assert_string_equal(s->version, "");
	snapshot_unref(s);
}

static void test_memory_is_zeroed_and_aligned(void **state)
{
	struct snapshot *s = snapshot_new(NULL);

	(void)state;
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *p = snapshot_alloc(s, 3, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < 3 * size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, 3 * size);
	}
	snapshot_unref(s);
}

static void test_block_larger_than_a_chunk_is_served(void **state)
{
	struct snapshot *s = snapshot_new(NULL);
	char *p = snapshot_alloc(s, 1000, 1000);

	(void)state;
	assert_non_null(p);
	memset(p, 1, 1000000);
	assert_non_null(snapshot_alloc(s, 1, 8));
	snapshot_unref(s);
}

static void test_size_overflow_is_out_of_memory(void **state)
{
	struct snapshot *s = snapshot_new(NULL);

	(void)state;
	assert_null(snapshot_alloc(s, SIZE_MAX, 2));
	assert_null(snapshot_alloc(s, 1, SIZE_MAX));
	snapshot_unref(s);
}

static void test_strings_are_copies(void **state)
{
	struct snapshot *s = snapshot_new(NULL);
	char name[] = "host2";
	const char *copy = snapshot_str(s, name);

	(void)state;
	name[0] = 'X';
	assert_string_equal(copy, "host2");
	assert_string_equal(snapshot_printf(s, "%s/%d", "rxe0", 1), "rxe0/1");
	assert_string_equal(snapshot_printf(s, "%s", ""), "");
	snapshot_unref(s);
}

static void test_last_reference_frees(void **state)
{
	struct snapshot *s = snapshot_new(NULL);
	char *p = snapshot_alloc(s, 1, 64);

	(void)state;
	assert_ptr_equal(snapshot_ref(s), s);
	snapshot_unref(s);
	p[0] = 'a'; /* still ours: the sanitizer would tell */
	snapshot_unref(s);
	snapshot_unref(NULL);
}

/* The sizes vary: a block of its own, and then more than a chunk of small ones. */
static void fill(struct snapshot *s, unsigned char **ret_blocks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ret_blocks[i] = snapshot_alloc(s, i == 1 ? 100000 : 5000, 1);
		assert_non_null(ret_blocks[i]);
		for (size_t k = 0; k < 5000; k++)
			assert_int_equal(ret_blocks[i][k], 0);
		memset(ret_blocks[i], 0xff, i == 1 ? 100000 : 5000);
	}
}

static void test_the_next_snapshot_is_made_of_the_last_ones_memory(void **state)
{
	enum { BLOCKS = 40 };
	struct snapshot_pool *pool = snapshot_pool_new();
	struct snapshot *s = snapshot_new(pool), *again;
	unsigned char *first[BLOCKS], *second[BLOCKS];

	(void)state;
	fill(s, first, BLOCKS);
	s->verdict = VERDICT_FAILING;
	s->n_devices = 3;
	snapshot_unref(s);
	again = snapshot_new(pool);
	assert_ptr_equal(again, s);
	assert_int_equal(again->n_devices, 0);
	assert_int_equal(again->verdict, 0);
	assert_string_equal(again->host, "");
	fill(again, second, BLOCKS);
	assert_memory_equal(first, second, sizeof(first));
	snapshot_unref(again);
	snapshot_pool_unref(pool);
}

static void test_a_snapshot_that_is_still_read_is_not_made_anew(void **state)
{
	struct snapshot_pool *pool = snapshot_pool_new();
	struct snapshot *read = snapshot_new(pool), *next = snapshot_new(pool), *third;
	const char *text = snapshot_str(read, "still here");

	(void)state;
	assert_ptr_not_equal(read, next);
	snapshot_unref(next);
	third = snapshot_new(pool);
	assert_ptr_equal(third, next);
	assert_ptr_not_equal(snapshot_str(third, "another"), text);
	assert_string_equal(text, "still here");
	snapshot_unref(third);
	snapshot_pool_unref(pool); /* its owner ends before who reads */
	assert_string_equal(text, "still here");
	snapshot_unref(read);
}

static void test_a_pool_keeps_no_more_than_the_last_snapshot_used(void **state)
{
	struct snapshot_pool *pool = snapshot_pool_new();
	struct snapshot *s = snapshot_new(pool), *other;
	unsigned char *blocks[40];
	struct mallinfo2 before, after;

	(void)state;
	fill(s, blocks, 40);
	other = snapshot_new(pool);
	snapshot_unref(s); /* kept */
	before = mallinfo2();
	snapshot_unref(other); /* one is enough */
	s = snapshot_new(pool);
	fill(s, blocks, 1);
	snapshot_unref(s);
	after = mallinfo2();
	/* Under a sanitizer both are 0. */
	assert_true(before.uordblks + before.hblkhd == 0 ||
		    after.uordblks + after.hblkhd + 200000 < before.uordblks + before.hblkhd);
	snapshot_pool_unref(pool);
}

static void test_worker_states_have_the_contracts_names(void **state)
{
	(void)state;
	assert_string_equal(worker_state_name(WORKER_STARTING), "starting");
	assert_string_equal(worker_state_name(WORKER_UP), "up");
	assert_string_equal(worker_state_name(WORKER_STUCK), "stuck");
	assert_string_equal(worker_state_name(WORKER_EXITED), "exited");
	assert_string_equal(worker_state_name(WORKER_BACKOFF), "backoff");
	assert_string_equal(worker_state_name(WORKER_RELEASED), "released");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_snapshot_has_no_null_strings),
		cmocka_unit_test(test_memory_is_zeroed_and_aligned),
		cmocka_unit_test(test_block_larger_than_a_chunk_is_served),
		cmocka_unit_test(test_size_overflow_is_out_of_memory),
		cmocka_unit_test(test_strings_are_copies),
		cmocka_unit_test(test_last_reference_frees),
		cmocka_unit_test(test_the_next_snapshot_is_made_of_the_last_ones_memory),
		cmocka_unit_test(test_a_snapshot_that_is_still_read_is_not_made_anew),
		cmocka_unit_test(test_a_pool_keeps_no_more_than_the_last_snapshot_used),
		cmocka_unit_test(test_worker_states_have_the_contracts_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
