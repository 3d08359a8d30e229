#include "daemon/rows.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_ROWS 16u /* that a row just freed may rest, at least */

struct rows {
	uint32_t n, used, next; /* taken in turn: a row just freed rests for a while */
	struct session *at[];
};

struct rows *rows_new(uint32_t n)
{
	struct rows *r = calloc(1, sizeof(*r) + n * sizeof(r->at[0]));

	if (r)
		r->n = n;
	return r;
}

void rows_free(struct rows *r)
{
	free(r);
}

/* The turn goes over the first rows only, as many as are needed and some: each one that was ever
 * used holds memory. */
static uint32_t rows_in_turn(const struct rows *r)
{
	return r->used < r->n / 2 && 2 * r->used + SPARE_ROWS < r->n ? 2 * r->used + SPARE_ROWS
								     : r->n;
}

uint32_t rows_take(struct rows *r, struct session *s)
{
	uint32_t n = rows_in_turn(r);

	for (uint32_t tried = 0; tried < n; tried++) {
		uint32_t row = (r->next + tried) % n;

		if (r->at[row])
			continue;
		r->at[row] = s;
		r->used++;
		r->next = (row + 1) % n;
		return row;
	}
	return ROW_NONE;
}

void rows_release(struct rows *r, uint32_t row)
{
	if (row >= r->n || !r->at[row])
		return;
	r->at[row] = NULL;
	r->used--;
}

void rows_release_all(struct rows *r)
{
	memset(r->at, 0, r->n * sizeof(r->at[0]));
	r->used = 0;
}

struct session *rows_at(const struct rows *r, uint32_t row)
{
	return row < r->n ? r->at[row] : NULL;
}
