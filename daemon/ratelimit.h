/* At most so many lines of a kind a minute, and the number of those held back. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define RATELIMIT_WINDOW_NS 60000000000ULL

struct ratelimit { /* zeroed: fresh */
	uint64_t since_ns;
	unsigned n;
	unsigned held_back;
};

/* True: say it. *ret_held_back is what was kept quiet in the window before, once. */
bool ratelimit_allow(struct ratelimit *r, uint64_t now_ns, unsigned max, unsigned *ret_held_back);
