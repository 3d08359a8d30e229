#include "support.h"

#include "chance.h"
#include "probes/timer_heap.h"

#define NODES 100

static void test_the_earliest_comes_first(void **state)
{
	struct timer_heap *h = timer_heap_new(3);
	struct timer_node a = {0}, b = {0}, c = {0};

	(void)state;
	assert_null(timer_heap_first(h));
	assert_true(timer_heap_when(h) == TIMER_NEVER);
	timer_heap_set(h, &a, 30);
	timer_heap_set(h, &b, 10);
	timer_heap_set(h, &c, 20);
	assert_ptr_equal(timer_heap_first(h), &b);
	timer_heap_set(h, &b, 40); /* rearmed, not doubled */
	assert_ptr_equal(timer_heap_first(h), &c);
	timer_heap_set(h, &c, TIMER_NEVER);
	assert_ptr_equal(timer_heap_first(h), &a);
	timer_heap_set(h, &a, TIMER_NEVER);
	timer_heap_set(h, &a, TIMER_NEVER);
	assert_int_equal(timer_heap_when(h), 40);
	timer_heap_set(h, &b, TIMER_NEVER);
	assert_null(timer_heap_first(h));
	timer_heap_free(h);
	timer_heap_free(NULL);
}

static uint64_t earliest(const uint64_t model[NODES])
{
	uint64_t at = TIMER_NEVER;

	for (unsigned i = 0; i < NODES; i++)
		if (model[i] < at)
			at = model[i];
	return at;
}

static void test_random_arming_agrees_with_a_naive_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct timer_heap *h = timer_heap_new(NODES);
		struct timer_node node[NODES] = {0};
		struct chance chance = {seed};
		uint64_t model[NODES];

		memset(model, 0xff, sizeof(model));
		for (unsigned i = 0; i < 5000; i++) {
			uint32_t k = chance_below(&chance, NODES);

			/* Few distinct instants, so that equal ones are common. */
			model[k] =
				chance_below(&chance, 3) ? chance_below(&chance, 200) : TIMER_NEVER;
			timer_heap_set(h, &node[k], model[k]);
			assert_true(timer_heap_when(h) == earliest(model));
			if (timer_heap_first(h))
				assert_true(model[timer_heap_first(h) - node] == earliest(model));
		}
		timer_heap_free(h);
	}
}

static void test_popping_sorts(void **state)
{
	struct timer_heap *h = timer_heap_new(NODES);
	struct timer_node node[NODES] = {0}, *first;
	struct chance chance = {9};
	uint64_t last = 0;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < NODES; i++)
		timer_heap_set(h, &node[i], chance_below(&chance, 1000));
	while ((first = timer_heap_first(h))) {
		assert_true(first->at_ns >= last);
		last = first->at_ns;
		timer_heap_set(h, first, TIMER_NEVER);
		assert_int_equal(first->index, 0);
		n++;
	}
	assert_int_equal(n, NODES);
	timer_heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_earliest_comes_first),
		cmocka_unit_test(test_random_arming_agrees_with_a_naive_model),
		cmocka_unit_test(test_popping_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
