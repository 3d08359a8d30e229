/* Peers of the list that came without the shared secret lately. They come again every few seconds,
 * so what is old is over. */
#pragma once
#include "probes/facts.h"

#define REFUSALS_MAX 64
#define REFUSALS_FRESH_NS 30000000000ULL /* three times the longest back-off */

struct refusal {
	char peer[FACT_NAME];
	uint32_t why; /* enum wire_reject */
	uint64_t at_ns;
};

struct refusals { /* zeroed: empty */
	struct refusal list[REFUSALS_MAX];
	size_t n;
};

/* A full list keeps its fresh ones and forgets the news. */
void refusals_note(struct refusals *r, const char *peer, uint32_t why, uint64_t now_ns);
/* Drops the old ones; those that are left are in the list. */
void refusals_expire(struct refusals *r, uint64_t now_ns);
