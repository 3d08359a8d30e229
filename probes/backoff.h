/* Exponential back-off with full jitter: a uniform draw from 0..min(cap, base * 2^attempt). The
 * jitter is what keeps the peers of a restarted host from coming back in one burst. Pure. */
#pragma once
#include <stdint.h>

/* attempt counts from 0; random is 64 random bits. At least floor_ns. */
uint64_t backoff_ns(unsigned attempt, uint64_t base_ns, uint64_t cap_ns, uint64_t floor_ns,
		    uint64_t random);
