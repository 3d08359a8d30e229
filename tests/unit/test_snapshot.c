#include "support.h"

#include <stdint.h>
#include <string.h>

#include "health/snapshot.h"

static void test_new_snapshot_has_no_null_strings(void **state)
{
	struct snapshot *s = snapshot_new();

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
	struct snapshot *s = snapshot_new();

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
	struct snapshot *s = snapshot_new();
	char *p = snapshot_alloc(s, 1000, 1000);

	(void)state;
	assert_non_null(p);
	memset(p, 1, 1000000);
	assert_non_null(snapshot_alloc(s, 1, 8));
	snapshot_unref(s);
}

static void test_size_overflow_is_out_of_memory(void **state)
{
	struct snapshot *s = snapshot_new();

	(void)state;
	assert_null(snapshot_alloc(s, SIZE_MAX, 2));
	assert_null(snapshot_alloc(s, 1, SIZE_MAX));
	snapshot_unref(s);
}

static void test_strings_are_copies(void **state)
{
	struct snapshot *s = snapshot_new();
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
	struct snapshot *s = snapshot_new();
	char *p = snapshot_alloc(s, 1, 64);

	(void)state;
	assert_ptr_equal(snapshot_ref(s), s);
	snapshot_unref(s);
	p[0] = 'a'; /* still ours: the sanitizer would tell */
	snapshot_unref(s);
	snapshot_unref(NULL);
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
		cmocka_unit_test(test_worker_states_have_the_contracts_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
