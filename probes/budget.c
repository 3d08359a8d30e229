#include "probes/budget.h"

#include "core/clock.h"

#define MILLIONTHS 1000000ULL

uint64_t budget_rate(uint64_t interval_ns)
{
	return interval_ns ? MILLIONTHS * NSEC_PER_SEC / interval_ns : 0;
}

bool budget_take(const struct budget *b, uint64_t *turn)
{
	uint64_t supply = b->per_second * MILLIONTHS;

	if (!b->per_second || supply >= b->demand)
		return true;
	/* As Bresenham draws a line: each instant brings supply, each probe costs demand. The rest
	 * also makes a beginning, and what was kept under a higher demand, small enough. */
	*turn = *turn % b->demand + supply;
	if (*turn < b->demand)
		return false;
	*turn -= b->demand;
	return true;
}
