#include "exporters/op_sum.h"

static uint64_t sum(const uint64_t *values, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += values[i];
	return total;
}

uint64_t op_sum_failed(const struct op_books *b)
{
	return sum(b->failed, FAIL_COUNT);
}

uint64_t op_sum_aborted(const struct op_books *b)
{
	return sum(b->aborted, ABORT_COUNT);
}

uint64_t op_sum_not_attempted(const struct op_books *b)
{
	return sum(b->not_attempted, SKIP_COUNT);
}
