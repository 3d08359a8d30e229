#include "support.h"

#include "health/books.h"

#define SESSION 7
#define SEC 1000000000ULL

static struct session_books good_row(void)
{
	struct session_books row = {.session_id = SESSION, .ack_count = 7, .ack_sum_ns = 7};

	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books *b = &row.op[op];

		b->interval_ns = SEC;
		b->booked_until_ns = 100 * SEC;
		b->scheduled = b->sent = b->ok = 10;
	}
	return row;
}

static void assert_refused(struct books *b, const struct session_books *row, enum row_word word,
			   const char *words)
{
	struct row_look look = books_live(b, row);
	char text[64];

	assert_int_equal(look.word, word);
	assert_string_equal(row_words(look, text, sizeof(text)), words);
}

static void test_lying_row_is_refused_with_its_reason_and_changes_nothing(void **state)
{
#define IN(op_, field) offsetof(struct session_books, op[op_].field)
	static const struct {
		size_t at;
		uint64_t add;
		enum row_word word;
		const char *words;
	} lies[] = {
		{offsetof(struct session_books, session_id), 1, ROW_OTHERS,
		 "the row is another session's"},
		{IN(OP_SEND, ok), 1, ROW_UNBALANCED, "the counts of send do not add up"},
		{IN(OP_SEND, scheduled), 1, ROW_UNBALANCED, "the counts of send do not add up"},
		{IN(OP_READ, late), 1ULL << 57, ROW_TOO_LARGE,
		 "a count of read is larger than can be"},
		{IN(OP_SEND, sent), -1ULL, ROW_WENT_BACK, "the counts of send went back"},
		{IN(OP_READ, booked_until_ns), -1ULL, ROW_WENT_BACK,
		 "the counts of read went back"},
		{offsetof(struct session_books, ack_count), -1ULL, ROW_WENT_BACK,
		 "the counts of ack went back"},
	};
	struct session_books good = good_row(), bad;
	struct op_books before[OP_COUNT], after[OP_COUNT];
	struct books b;

	(void)state;
	books_init(&b, SESSION);
	assert_refused(&b, &good, ROW_TAKEN, "");
	books_total(&b, before);
	for (size_t i = 0; i < COUNT(lies); i++) {
		bad = good;
		*(uint64_t *)(void *)((char *)&bad + lies[i].at) += lies[i].add;
		assert_refused(&b, &bad, lies[i].word, lies[i].words);
	}
	bad = good;
	bad.op[OP_READ].booked_until_ns = UINT64_MAX; /* as before it started */
	assert_refused(&b, &bad, ROW_WENT_BACK, "the counts of send went back");
	books_total(&b, after);
	assert_memory_equal(after, before, sizeof(after));
#undef IN
}

static void test_a_row_that_is_still_its_predecessors_is_no_lie(void **state)
{
	struct session_books row = {.session_id = SESSION - 1};
	struct books b;

	(void)state;
	books_init(&b, SESSION);
	assert_refused(&b, &row, ROW_NOT_YET, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lying_row_is_refused_with_its_reason_and_changes_nothing),
		cmocka_unit_test(test_a_row_that_is_still_its_predecessors_is_no_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
