/* Random numbers that are the same in every run: a failure can be looked at again. */
#pragma once
#include <stdint.h>

struct chance {
	uint64_t state; /* not 0 */
};

static inline uint64_t chance_u64(struct chance *c)
{
	c->state ^= c->state << 13;
	c->state ^= c->state >> 7;
	c->state ^= c->state << 17;
	return c->state * 0x2545f4914f6cdd1dULL;
}

/* 0..n-1 */
static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
	return (uint32_t)((chance_u64(c) >> 32) % n);
}
