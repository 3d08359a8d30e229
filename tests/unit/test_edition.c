#include "support.h"

#include "exporters/edition.h"
#include "tests/tools/synthetic.h"

static struct snapshot *present;

static struct snapshot *get_snapshot(void *arg)
{
	(void)arg;
	return present ? snapshot_ref(present) : NULL;
}

static const struct http_source source = {.snapshot = get_snapshot};
static struct editions *all;

static void renew(void)
{
	snapshot_unref(present);
	present = synthetic_snapshot(&synthetic_default, 1);
}

static int setup(void **state)
{
	(void)state;
	renew();
	all = editions_new(&source);
	return all && present ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	editions_free(all);
	snapshot_unref(present);
	present = NULL;
	return 0;
}

static void test_one_snapshot_is_rendered_once_for_all(void **state)
{
	struct edition *a = editions_current(all), *b = editions_current(all);
	const char *first, *second;
	size_t size;

	(void)state;
	assert_ptr_equal(a, b);
	assert_int_equal(edition_metrics(a, EXPOSITION_TEXT, false, &first, &size), 0);
	assert_int_equal(edition_metrics(b, EXPOSITION_TEXT, false, &second, &size), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(edition_metrics(b, EXPOSITION_OPENMETRICS, true, &second, &size), 0);
	assert_ptr_not_equal(first, second);
	assert_true(size > 0);
	edition_unref(a);
	edition_unref(b);
}

static void test_a_reader_keeps_what_it_began_with(void **state)
{
	struct edition *old = editions_current(all), *new;
	const char *data;
	size_t size;

	(void)state;
	assert_null(editions_oldest(all));
	assert_int_equal(edition_metrics(old, EXPOSITION_TEXT, false, &data, &size), 0);
	renew();
	new = editions_current(all);
	assert_ptr_not_equal(old, new);
	assert_ptr_equal(editions_oldest(all), old);
	assert_memory_equal(data, "# HELP", 6);
	edition_unref(old);
	assert_null(editions_oldest(all));
	edition_unref(new);
}

static void test_bytes_held_are_counted_and_given_back(void **state)
{
	struct edition *e[10];
	uint64_t one;
	const char *data;
	size_t size;

	(void)state;
	for (size_t i = 0; i < COUNT(e); i++) {
		renew();
		e[i] = editions_current(all);
		assert_int_equal(edition_metrics(e[i], EXPOSITION_TEXT, false, &data, &size), 0);
		if (i == 0)
			one = editions_bytes(all);
	}
	assert_true(one > size);
	assert_int_equal(editions_bytes(all), COUNT(e) * one);
	for (size_t i = 0; i < COUNT(e); i++)
		edition_unref(e[i]);
	assert_int_equal(editions_bytes(all), one);
}

static void test_before_the_first_snapshot_there_is_no_edition(void **state)
{
	(void)state;
	snapshot_unref(present);
	present = NULL;
	assert_null(editions_current(all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_snapshot_is_rendered_once_for_all, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_reader_keeps_what_it_began_with, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bytes_held_are_counted_and_given_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_before_the_first_snapshot_there_is_no_edition,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
