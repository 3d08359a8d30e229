#include "support.h"

#include "cli/table.h"

static const char *const titles[] = {"NAME", "X", "STATE"};

static void assert_prints_styled(struct text_table *t, struct text_style style,
				 const char *expected)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_true(text_table_print(t, &style, out));
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	text_table_free(t);
}

static void assert_prints(struct text_table *t, const char *expected)
{
	assert_prints_styled(t, (struct text_style){0}, expected);
}

static void test_table_wider_than_the_terminal_has_its_widest_columns_cut(void **state)
{
	struct text_table *t = text_table_new(3, titles);

	(void)state;
	text_table_row(t);
	text_table_cell(t, 0, "K\xc3\xb6ln-a-very-long-name");
	text_table_cell(t, 1, "short");
	text_table_cell(t, 2, "a-very-long-state");
	assert_prints_styled(t, (struct text_style){.width = 30},
			     "NAME        X      STATE\n"
			     "K\xc3\xb6ln-a-ve\xe2\x80\xa6  short  a-very-lon\xe2\x80\xa6\n");
	/* What a column must show at least is shown even so. */
	t = text_table_new(2, titles);
	text_table_row(t);
	text_table_cell(t, 0, "0123456789");
	assert_prints_styled(t, (struct text_style){.width = 2},
			     "NAME      X\n"
			     "0123456\xe2\x80\xa6  -\n");
}

static void test_verdicts_are_coloured_where_it_is_asked_for(void **state)
{
	struct text_table *t = text_table_new(2, titles);

	(void)state;
	text_table_tint(t, 0);
	text_table_row(t);
	text_table_cell(t, 0, "failing");
	text_table_cell(t, 1, "ok");
	assert_prints_styled(t, (struct text_style){.colour = true},
			     "NAME     X\n"
			     "\033[1;31mfailing\033[0m  ok\n");
}

static void test_columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct text_table *t = text_table_new(3, titles);

	(void)state;
	text_table_row(t);
	text_table_cell(t, 0, "a");
	text_table_cell(t, 1, "long");
	text_table_cell(t, 2, "up");
	text_table_row(t);
	text_table_cell(t, 0, "bbbbbb");
	assert_prints(t, "NAME    X     STATE\n"
			 "a       long  up\n"
			 "bbbbbb  -     -\n");
}

static void test_hidden_column_takes_no_room(void **state)
{
	struct text_table *t = text_table_new(3, titles);

	(void)state;
	text_table_row(t);
	text_table_cell(t, 0, "a");
	text_table_cell(t, 2, "up");
	text_table_hide(t, 1);
	assert_prints(t, "NAME  STATE\n"
			 "a     up\n");
	t = text_table_new(3, titles);
	text_table_hide(t, 2);
	assert_prints(t, "NAME  X\n");
}

static void test_cells_are_cleaned_and_aligned_by_characters(void **state)
{
	struct text_table *t = text_table_new(2, titles);

	(void)state;
	text_table_row(t);
	text_table_cell(t, 0, "K\xc3\xb6ln\x1b");
	text_table_cell(t, 1, "a\nb");
	assert_prints(t, "NAME   X\n"
			 "K\xc3\xb6ln?  a?b\n");
}

static void test_many_rows_grow_the_table(void **state)
{
	struct text_table *t = text_table_new(1, titles);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		text_table_row(t);
		text_table_cell(t, 0, "old");
		text_table_cell(t, 0, "new");
	}
	assert_int_equal(text_table_rows(t), 1000);
	assert_string_equal(text_table_get(t, 999, 0), "new");
	text_table_free(t);
	text_table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_wider_than_the_terminal_has_its_widest_columns_cut),
		cmocka_unit_test(test_verdicts_are_coloured_where_it_is_asked_for),
		cmocka_unit_test(test_columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(test_hidden_column_takes_no_room),
		cmocka_unit_test(test_cells_are_cleaned_and_aligned_by_characters),
		cmocka_unit_test(test_many_rows_grow_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
