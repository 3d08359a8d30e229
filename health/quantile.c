#include "health/quantile.h"

#include <assert.h>

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t t = *a;

	*a = *b;
	*b = t;
}

/* Median of three as pivot: sorted and constant input, the usual ones here, stay linear. */
static uint64_t pivot_of(const uint64_t *v, size_t lo, size_t hi)
{
	uint64_t a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi];

	if (a > b)
		swap(&a, &b);
	if (b > c)
		b = c;
	return a > b ? a : b;
}

/* Hoare's partition of v[lo..hi], lo < hi: returns j in [lo, hi) with v[lo..j] <= v[j+1..hi]. The
 * pivot is never the only largest value, which is what keeps j below hi. */
static size_t partition(uint64_t *v, size_t lo, size_t hi)
{
	uint64_t pivot = pivot_of(v, lo, hi);
	size_t i = lo, j = hi;

	for (;;) {
		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i >= j)
			return j;
		swap(&v[i], &v[j]);
		i++;
		j--;
	}
}

uint64_t quantile_nearest_rank(uint64_t *v, size_t n, unsigned percent)
{
	size_t lo = 0, hi = n - 1, rank;

	assert(n > 0 && percent >= 1 && percent <= 100);
	rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
	while (lo < hi) {
		size_t j = partition(v, lo, hi);

		if (rank - 1 <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[lo];
}
