#include "cli/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cli/text.h"

#define GAP 2	  /* blanks between columns */
#define CUT_MIN 8 /* characters of a column are always shown */

struct text_table {
	size_t columns, rows, cap;
	const char *const *titles;
	bool hidden[TABLE_COLUMNS], tinted[TABLE_COLUMNS];
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

void text_table_tint(struct text_table *t, size_t column)
{
	t->tinted[column] = true;
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

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void print_cell(const struct text_table *t, const struct text_style *style, size_t column,
		       const char *text, size_t width, FILE *out)
{
	const char *colour = style->colour && t->tinted[column] ? text_colour(text) : "";
	struct strbuf cut = {0};

	text_add_cut(&cut, text, width);
	fprintf(out, "%s%s%s", colour, cut.data ? cut.data : "", colour[0] ? TEXT_PLAIN : "");
	strbuf_free(&cut);
}

static void print_cells(const struct text_table *t, const struct text_style *style,
			const size_t *width, FILE *out, ssize_t row)
{
	size_t last = t->columns;

	while (last > 0 && t->hidden[last - 1])
		last--;
	for (size_t c = 0; c < last; c++) {
		const char *text = row < 0 ? t->titles[c] : shown(t, (size_t)row, c);

		if (t->hidden[c])
			continue;
		print_cell(t, style, c, text, width[c], out);
		/* No blanks at the end of a line. */
		for (size_t pad = min(text_width(text), width[c]);
		     c + 1 < last && pad < width[c] + GAP; pad++)
			fputc(' ', out);
	}
	fputc('\n', out);
}

static void measure(const struct text_table *t, size_t *width)
{
	for (size_t c = 0; c < t->columns; c++) {
		width[c] = t->hidden[c] ? 0 : text_width(t->titles[c]);
		for (size_t row = 0; row < t->rows && !t->hidden[c]; row++) {
			size_t w = text_width(shown(t, row, c));

			if (w > width[c])
				width[c] = w;
		}
	}
}

static void squeeze(const struct text_table *t, size_t *width, size_t limit)
{
	for (;;) {
		size_t total = 0, widest = 0;

		for (size_t c = 0; c < t->columns; c++) {
			total += t->hidden[c] ? 0 : width[c] + (total ? GAP : 0);
			if (width[c] > width[widest])
				widest = c;
		}
		if (total <= limit || width[widest] <= CUT_MIN)
			return;
		width[widest]--;
	}
}

bool text_table_print(const struct text_table *t, const struct text_style *style, FILE *out)
{
	size_t width[TABLE_COLUMNS];

	if (t->failed)
		return false;
	measure(t, width);
	if (style->width)
		squeeze(t, width, style->width);
	for (ssize_t row = -1; row < (ssize_t)t->rows; row++)
		print_cells(t, style, width, out, row);
	return true;
}
