#include "core/hist.h"

#include "core/clock.h"

const uint64_t hist_bounds_ns[HIST_BOUNDS] = {
	2 * NSEC_PER_USEC,   3 * NSEC_PER_USEC,	  4 * NSEC_PER_USEC,   5 * NSEC_PER_USEC,
	6 * NSEC_PER_USEC,   8 * NSEC_PER_USEC,	  10 * NSEC_PER_USEC,  12 * NSEC_PER_USEC,
	15 * NSEC_PER_USEC,  20 * NSEC_PER_USEC,  30 * NSEC_PER_USEC,  50 * NSEC_PER_USEC,
	75 * NSEC_PER_USEC,  100 * NSEC_PER_USEC, 200 * NSEC_PER_USEC, 500 * NSEC_PER_USEC,
	1 * NSEC_PER_MSEC,   2 * NSEC_PER_MSEC,	  5 * NSEC_PER_MSEC,   10 * NSEC_PER_MSEC,
	20 * NSEC_PER_MSEC,  50 * NSEC_PER_MSEC,  100 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC,
	500 * NSEC_PER_MSEC,
};

const char *const hist_bounds_le[HIST_BOUNDS] = {
	"2e-06", "3e-06", "4e-06", "5e-06",   "6e-06",	"8e-06",  "1e-05",  "1.2e-05", "1.5e-05",
	"2e-05", "3e-05", "5e-05", "7.5e-05", "0.0001", "0.0002", "0.0005", "0.001",   "0.002",
	"0.005", "0.01",  "0.02",  "0.05",    "0.1",	"0.2",	  "0.5",
};

size_t hist_bucket_of(uint64_t ns)
{
	size_t i = 0;

	while (i < HIST_BOUNDS && ns > hist_bounds_ns[i])
		i++;
	return i;
}

void hist_add(struct hist *h, uint64_t ns)
{
	h->bucket[hist_bucket_of(ns)]++;
	h->sum_ns += ns;
	h->count++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->sum_ns += from->sum_ns;
	into->count += from->count;
}
