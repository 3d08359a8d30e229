#include "daemon/rows.h"

#include <stdlib.h>
#include <string.h>

struct rows {
	uint32_t n, next; /* rows are taken in turn: a row just freed rests for a while */
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

uint32_t rows_take(struct rows *r, struct session *s)
{
	for (uint32_t tried = 0; tried < r->n; tried++) {
		uint32_t row = (r->next + tried) % r->n;

		if (r->at[row])
			continue;
		r->at[row] = s;
		r->next = (row + 1) % r->n;
		return row;
	}
	return ROW_NONE;
}

void rows_release(struct rows *r, uint32_t row)
{
	if (row < r->n)
		r->at[row] = NULL;
}

void rows_release_all(struct rows *r)
{
	memset(r->at, 0, r->n * sizeof(r->at[0]));
}

struct session *rows_at(const struct rows *r, uint32_t row)
{
	return row < r->n ? r->at[row] : NULL;
}
