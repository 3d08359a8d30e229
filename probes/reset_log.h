/* Counters that were seen to begin anew: the last ones by name, all by number. */
#pragma once
#include "probes/facts.h"

struct reset_log { /* zeroed: none */
	uint64_t seen;
	struct counter_reset kept[RESETS_KEPT]; /* the k-th, from 0, at k % RESETS_KEPT */
};

/* The name in *reset is not looked at. */
void reset_log_add(struct reset_log *l, const struct counter_reset *reset, const char *name);
