/* What the books of one session did over the last minute: loss ratio and the evidence for causes.
 */
#pragma once
#include "probes/facts.h"

#define WINDOW_NS 60000000000ULL
#define WINDOW_STEP_NS 1000000000ULL
#define WINDOW_SLOTS 64 /* a minute of steps and some slack */

/* Sums over all operations of a session. As a difference of two instants: what happened between. */
struct window_sums {
	uint64_t answered; /* ok + late */
	uint64_t due; /* resolved probes that count for loss: ok, failed, and misses not sent */
	uint64_t ok;
	uint64_t failed;
	uint64_t late;
	uint64_t retransmits_suspected;
};

struct window {
	unsigned newest, n; /* slot of the newest sample, number of samples */
	uint64_t at_ns[WINDOW_SLOTS];
	struct window_sums sums[WINDOW_SLOTS];
};

/* Zeroed memory is an empty window. Offer the exported books at every look; at most one sample a
 * step is kept. */
void window_add(struct window *w, uint64_t now_ns, const struct op_books op[OP_COUNT]);
/* What happened from the oldest sample of the last minute until now. Returns the length in ns. */
uint64_t window_since(const struct window *w, uint64_t now_ns, const struct op_books op[OP_COUNT],
		      struct window_sums *ret);
/* CONTRACT: loss ratio, within 0..1. False: nothing was due. */
bool window_loss(const struct window_sums *sums, double *ret);
