#include "support.h"

#include <errno.h>

#include "chance.h"
#include "probes/qpmap.h"

#define SPACE 512 /* QP numbers of the model */

static void test_put_get_del(void **state)
{
	struct qpmap *m = qpmap_new(4);
	int a, b;

	(void)state;
	assert_null(qpmap_get(m, 17));
	assert_int_equal(qpmap_put(m, 17, &a), 0);
	assert_ptr_equal(qpmap_get(m, 17), &a);
	assert_int_equal(qpmap_put(m, 17, &b), 0); /* replaced */
	assert_ptr_equal(qpmap_get(m, 17), &b);
	assert_int_equal(qpmap_put(m, 0, &a), 0); /* a number like any other */
	assert_ptr_equal(qpmap_get(m, 0), &a);
	qpmap_del(m, 17);
	qpmap_del(m, 17);
	qpmap_del(m, 99);
	assert_null(qpmap_get(m, 17));
	assert_ptr_equal(qpmap_get(m, 0), &a);
	qpmap_free(m);
	qpmap_free(NULL);
}

static void test_a_full_map_says_so_and_still_replaces(void **state)
{
	struct qpmap *m = qpmap_new(16);
	int value[17];

	(void)state;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(qpmap_put(m, i, &value[i]), 0);
	assert_int_equal(qpmap_put(m, 16, &value[16]), -ENOSPC);
	assert_null(qpmap_get(m, 16));
	assert_int_equal(qpmap_put(m, 3, &value[16]), 0);
	qpmap_del(m, 5);
	assert_int_equal(qpmap_put(m, 16, &value[16]), 0);
	qpmap_free(m);
}

struct model {
	void *value[SPACE];
	size_t count;
};

/* Numbers that a driver gives: in a row, with holes, or anything in 24 bits. */
static uint32_t number(uint32_t i, unsigned style)
{
	return style == 0 ? i + 17 : style == 1 ? i * 64 : (i * 2654435761u) & 0xffffff;
}

static void compare(const struct qpmap *m, const struct model *model, unsigned style)
{
	size_t cursor = 0, n = 0;

	for (uint32_t i = 0; i < SPACE; i++)
		assert_ptr_equal(qpmap_get(m, number(i, style)), model->value[i]);
	while (qpmap_next(m, &cursor))
		n++;
	assert_int_equal(n, model->count);
}

static void random_op(struct qpmap *m, struct model *model, struct chance *chance, unsigned style,
		      size_t max)
{
	static char values[1024];
	uint32_t i = chance_below(chance, SPACE);
	void *value = &values[chance_below(chance, sizeof(values))];

	if (chance_below(chance, 2)) {
		bool room = model->value[i] || model->count < max;

		assert_int_equal(qpmap_put(m, number(i, style), value), room ? 0 : -ENOSPC);
		if (!room)
			return;
		model->count += !model->value[i];
		model->value[i] = value;
	} else {
		qpmap_del(m, number(i, style));
		model->count -= model->value[i] != NULL;
		model->value[i] = NULL;
	}
}

static void test_random_operations_agree_with_a_naive_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct chance chance = {seed};
		size_t max = seed % 3 ? 200 : 31;
		struct qpmap *m = qpmap_new(max);
		struct model model = {0};
		unsigned style = seed % 3;

		for (unsigned i = 0; i < 3000; i++) {
			random_op(m, &model, &chance, style, max);
			if (i % 50 == 0)
				compare(m, &model, style);
		}
		compare(m, &model, style);
		qpmap_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_get_del),
		cmocka_unit_test(test_a_full_map_says_so_and_still_replaces),
		cmocka_unit_test(test_random_operations_agree_with_a_naive_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
