/* Round-trip histogram with the fixed bounds of rdma_rail_rtt_seconds:
 * 2 3 4 5 6 8 10 12 15 20 30 50 75 100 200 500 us, 1 2 5 10 20 50 100 200 500 ms, +Inf.
 * Buckets here are per bucket; exporters cumulate. Plain value: lives in shared memory. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define HIST_BOUNDS 25
#define HIST_BUCKETS (HIST_BOUNDS + 1)

extern const uint64_t hist_bounds_ns[HIST_BOUNDS];
/* The same bounds as Prometheus prints `le`: shortest form ("2e-06", "0.0001", "0.5"). */
extern const char *const hist_bounds_le[HIST_BOUNDS];

struct hist {
	uint64_t bucket[HIST_BUCKETS];
	uint64_t sum_ns;
	uint64_t count;
};

size_t hist_bucket_of(uint64_t ns); /* index; a value equal to a bound is in it (le) */
void hist_add(struct hist *h, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
