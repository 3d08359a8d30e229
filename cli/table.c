#include "cli/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

struct text_table {
	size_t columns, rows, cap;
	const char *const *titles;
	bool hidden[TABLE_COLUMNS];
	char **cells; /* rows x columns; NULL: empty */
	bool failed;
};

struct text_table *text_table_new(size_t columns, const char *const *titles)
{
	struct text_table *t = calloc(1, sizeof(*t));

	assert(columns <= TABLE_COLUMNS);
	if (!t)
		return NULL;
	t->columns = columns;
	t->titles = titles;
	return t;
}

void text_table_free(struct text_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

void text_table_row(struct text_table *t)
{
	if (t->rows == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		char **cells = reallocarray(t->cells, cap * t->columns, sizeof(*cells));

		if (!cells) {
			t->failed = true;
			return;
		}
		t->cells = cells;
		t->cap = cap;
	}
	memset(&t->cells[t->rows * t->columns], 0, t->columns * sizeof(*t->cells));
	t->rows++;
}

void text_table_cell(struct text_table *t, size_t column, const char *text)
{
	struct strbuf clean = {0};

	if (!text || !text[0] || t->failed || !t->rows)
		return;
	text_add_clean(&clean, text);
	if (strbuf_failed(&clean)) {
		t->failed = true;
		strbuf_free(&clean);
		return;
	}
	free(t->cells[(t->rows - 1) * t->columns + column]);
	t->cells[(t->rows - 1) * t->columns + column] = clean.data;
}

void text_table_hide(struct text_table *t, size_t column)
{
	t->hidden[column] = true;
}

size_t text_table_rows(const struct text_table *t)
{
	return t->rows;
}

const char *text_table_get(const struct text_table *t, size_t row, size_t column)
{
	const char *cell = t->cells[row * t->columns + column];

	return cell ? cell : "";
}

static const char *shown(const struct text_table *t, size_t row, size_t column)
{
	const char *cell = text_table_get(t, row, column);

	return cell[0] ? cell : "-";
}

static void print_cells(const struct text_table *t, const size_t *width, size_t last, FILE *out,
			size_t row, bool title)
{
	for (size_t c = 0; c <= last; c++) {
		const char *text;
		size_t pad;

		if (t->hidden[c])
			continue;
		text = title ? t->titles[c] : shown(t, row, c);
		fputs(text, out);
		/* No blanks at the end of a line. */
		for (pad = text_width(text); c < last && pad < width[c] + 2; pad++)
			fputc(' ', out);
	}
	fputc('\n', out);
}

bool text_table_print(const struct text_table *t, FILE *out)
{
	size_t width[TABLE_COLUMNS], last = 0;

	if (t->failed)
		return false;
	for (size_t c = 0; c < t->columns; c++) {
		width[c] = text_width(t->titles[c]);
		for (size_t row = 0; row < t->rows; row++) {
			size_t w = text_width(shown(t, row, c));

			if (w > width[c])
				width[c] = w;
		}
		if (!t->hidden[c])
			last = c;
	}
	print_cells(t, width, last, out, 0, true);
	for (size_t row = 0; row < t->rows; row++)
		print_cells(t, width, last, out, row, false);
	return true;
}
