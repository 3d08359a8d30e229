#include "support.h"

#include <stdio.h>
#include <string.h>

#include "health/storm.h"

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

static unsigned count(const struct journal *j)
{
	const struct journal_event *e;
	unsigned n = 0;

	for (uint64_t seq = 0; (e = journal_after(j, seq)); seq = e->seq)
		n++;
	return n;
}

static void test_a_storm_about_one_subject_is_thinned_out_and_counted(void **state)
{
	const uint64_t minute = STORM_MINUTE_NS;
	struct journal *j = journal_new();
	const struct journal_event *e;

	(void)state;
	journal_limit(j);
	for (unsigned i = 0; i < 1000; i++)
		journal_add(j, minute + i, "rail", "rxe0", "rxe0", NULL, "down %u", i);
	journal_add(j, minute, "rail", "rxe1", "rxe1", NULL, "another subject");
	journal_add(j, minute, "async", "rxe0", "rxe0", NULL, "another kind");
	assert_int_equal(count(j), STORM_OF_SUBJECT + 2);
	assert_int_equal(journal_thinned(j), 1000 - STORM_OF_SUBJECT);
	journal_settle(j, minute + 1);
	assert_int_equal(count(j), STORM_OF_SUBJECT + 2);
	journal_settle(j, 2 * minute + 1000);
	assert_int_equal(count(j), STORM_OF_SUBJECT + 3);
	e = journal_after(j, journal_last_seq(j) - 1);
	assert_string_equal(e->text, "980 more of this within a minute; the last: down 999");
	assert_string_equal(e->device, "rxe0");
	/* All is well again. */
	journal_add(j, 2 * minute + 2000, "rail", "rxe0", "rxe0", NULL, "up");
	assert_string_equal(journal_after(j, journal_last_seq(j) - 1)->text, "up");
	journal_free(j);
}

static void test_a_new_minute_begins_with_what_the_last_one_held_back(void **state)
{
	struct journal *j = journal_new();

	(void)state;
	journal_limit(j);
	for (unsigned i = 0; i < STORM_OF_SUBJECT + 2; i++)
		journal_add(j, 1, "rail", "rxe0", NULL, NULL, "down");
	journal_add(j, 1 + STORM_MINUTE_NS, "rail", "rxe0", NULL, NULL, "up");
	assert_int_equal(count(j), STORM_OF_SUBJECT + 2);
	assert_non_null(strstr(journal_after(j, STORM_OF_SUBJECT)->text, "2 more of this"));
	/* A clock that is set back begins a minute too. */
	journal_add(j, 1, "rail", "rxe0", NULL, NULL, "up");
	assert_int_equal(count(j), STORM_OF_SUBJECT + 3);
	journal_free(j);
}

static void test_a_storm_over_all_subjects_is_bounded(void **state)
{
	struct journal *j = journal_new();
	char peer[16];

	(void)state;
	journal_limit(j);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(peer, sizeof(peer), "host%u", i);
		journal_add(j, 1, "session", NULL, NULL, peer, "down");
	}
	assert_int_equal(journal_thinned(j), 10000 - STORM_BURST);
	journal_free(j);
}

static void test_a_new_numbering_takes_the_events_along(void **state)
{
	struct journal *j = journal_new();
	struct journal_event e;

	(void)state;
	journal_rebase(j, "00000000000000aa", 0);
	for (unsigned i = 0; i < JOURNAL_MAX + 10; i++)
		journal_add(j, i, "session", NULL, NULL, NULL, "%u", i);
	journal_rebase(j, "00000000000000bb", 3);
	assert_string_equal(journal_id(j), "00000000000000bb");
	assert_int_equal(journal_first_seq(j), 4);
	assert_int_equal(journal_last_seq(j), JOURNAL_MAX + 3);
	assert_int_equal(count(j), JOURNAL_MAX);
	assert_string_equal(journal_after(j, 0)->text, "10");
	journal_add(j, 1, "session", NULL, NULL, NULL, "new");
	assert_int_equal(journal_first_seq(j), 5);
	assert_string_equal(journal_after(j, JOURNAL_MAX + 3)->text, "new");
	assert_true(journal_copy_after(j, JOURNAL_MAX + 3, &e));
	assert_int_equal(e.seq, JOURNAL_MAX + 4);
	assert_false(journal_copy_after(j, JOURNAL_MAX + 4, &e));
	journal_free(j);
}

static void test_an_empty_journal_goes_on_with_the_numbers_it_is_given(void **state)
{
	struct journal *j = journal_new();

	(void)state;
	journal_rebase(j, "00000000000000aa", 41);
	assert_int_equal(journal_first_seq(j), 0);
	assert_int_equal(journal_last_seq(j), 41);
	assert_null(journal_after(j, 0));
	journal_add(j, 1, "rail", NULL, NULL, NULL, "up");
	assert_int_equal(journal_after(j, 0)->seq, 42);
	assert_int_equal(journal_base(j), 41);
	journal_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_journal_has_no_sequence),
		cmocka_unit_test(test_event_keeps_what_it_was_given),
		cmocka_unit_test(test_oldest_events_make_room),
		cmocka_unit_test(test_overlong_strings_are_cut),
		cmocka_unit_test(test_a_storm_about_one_subject_is_thinned_out_and_counted),
		cmocka_unit_test(test_a_new_minute_begins_with_what_the_last_one_held_back),
		cmocka_unit_test(test_a_storm_over_all_subjects_is_bounded),
		cmocka_unit_test(test_a_new_numbering_takes_the_events_along),
		cmocka_unit_test(test_an_empty_journal_goes_on_with_the_numbers_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
