/* A table of text, columns as wide as their widest cell. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 16

struct text_table;

struct text_style { /* zeroed: for a file or a pipe */
	bool colour;
	size_t width; /* of the terminal; 0: no limit */
};

/* Titles are static strings. NULL: no memory. */
struct text_table *text_table_new(size_t columns, const char *const *titles);
void text_table_free(struct text_table *t); /* NULL is fine */
/* Begins a row; its cells are empty ("-") until set. */
void text_table_row(struct text_table *t);
/* Sets a cell of the last row; copied and cleaned (text_add_clean). "" and NULL leave it empty. */
void text_table_cell(struct text_table *t, size_t column, const char *text);
/* Its cells have the colours of verdicts, where colours are wanted. */
void text_table_tint(struct text_table *t, size_t column);
/* Leaves the column out. */
void text_table_hide(struct text_table *t, size_t column);
size_t text_table_rows(const struct text_table *t);
/* The cell as set; "" when empty. */
const char *text_table_get(const struct text_table *t, size_t row, size_t column);
/* A table that is too wide has its widest columns cut, none under 8 characters. False: out of
 * memory while it was filled; nothing is written. */
bool text_table_print(const struct text_table *t, const struct text_style *style, FILE *out);
