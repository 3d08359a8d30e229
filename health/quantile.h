/* Quantiles of a set of samples by nearest rank. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The smallest sample that at least percent % of all n samples do not exceed. percent 1..100,
 * n > 0. Expected linear time; reorders v. */
uint64_t quantile_nearest_rank(uint64_t *v, size_t n, unsigned percent);
