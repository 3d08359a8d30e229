#include "support.h"

#include <string.h>

#include "health/journal.h"

static void test_empty_journal_has_no_sequence(void **state)
{
	struct journal *j = journal_new();

	(void)state;
	assert_int_equal(journal_first_seq(j), 0);
	assert_int_equal(journal_last_seq(j), 0);
	assert_null(journal_after(j, 0));
	journal_free(j);
}

static void test_event_keeps_what_it_was_given(void **state)
{
	struct journal *j = journal_new();
	const struct journal_event *e;

	(void)state;
	journal_add(j, 5, "verdict", "rxe0", NULL, "host2", "lost %d", 3);
	e = journal_after(j, 0);
	assert_non_null(e);
	assert_int_equal(e->seq, 1);
	assert_int_equal(e->wall_ns, 5);
	assert_string_equal(e->kind, "verdict");
	assert_string_equal(e->device, "rxe0");
	assert_string_equal(e->rail, "");
	assert_string_equal(e->peer, "host2");
	assert_string_equal(e->text, "lost 3");
	assert_null(journal_after(j, 1));
	journal_free(j);
}

static void test_oldest_events_make_room(void **state)
{
	struct journal *j = journal_new();

	(void)state;
	for (unsigned i = 0; i < JOURNAL_MAX + 10; i++)
		journal_add(j, i, "session", NULL, NULL, NULL, "%u", i + 1);
	assert_int_equal(journal_first_seq(j), 11);
	assert_int_equal(journal_last_seq(j), JOURNAL_MAX + 10);
	/* A reader that fell behind goes on with the oldest that is left. */
	assert_int_equal(journal_after(j, 3)->seq, 11);
	assert_string_equal(journal_after(j, 3)->text, "11");
	assert_int_equal(journal_after(j, JOURNAL_MAX + 9)->seq, JOURNAL_MAX + 10);
	/* One from before a restart of main asks beyond the end. */
	assert_null(journal_after(j, UINT64_MAX));
	journal_free(j);
}

static void test_overlong_strings_are_cut(void **state)
{
	struct journal *j = journal_new();
	const struct journal_event *e;
	char longish[2 * FACT_TEXT];

	(void)state;
	memset(longish, 'x', sizeof(longish) - 1);
	longish[sizeof(longish) - 1] = '\0';
	journal_add(j, 1, longish, longish, longish, longish, "%s", longish);
	e = journal_after(j, 0);
	assert_int_equal(strlen(e->text), FACT_TEXT - 1);
	assert_int_equal(strlen(e->peer), FACT_NAME - 1);
	assert_int_equal(strlen(e->kind), sizeof(e->kind) - 1);
	journal_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_journal_has_no_sequence),
		cmocka_unit_test(test_event_keeps_what_it_was_given),
		cmocka_unit_test(test_oldest_events_make_room),
		cmocka_unit_test(test_overlong_strings_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
