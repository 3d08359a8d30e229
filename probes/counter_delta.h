/* What lies between two values of a counter, and what a value says. Pure. */
#pragma once
#include "probes/counter_table.h"

enum counter_step {
	STEP_GREW,	/* or stayed */
	STEP_WRAPPED,	/* over the end of 32 bits, once */
	STEP_RESET,	/* it began anew: driver loaded again, perfquery -R, another firmware */
	STEP_SATURATED, /* it stands at its end: growth is the least that it can have been */
};

struct counter_delta {
	enum counter_step step;
	uint64_t growth; /* 0 for STEP_RESET: nobody knows what got lost */
};

/* From before to now. Where 32 bits wrap, a counter that went down by more than half of its range
 * wrapped, else it was reset. More than one wrap between two values cannot be seen: no NIC counts
 * four billion events in the seconds between two rounds. */
struct counter_delta counter_delta(enum counter_width width, uint64_t before, uint64_t now);
/* It stands at its width's end and will not rise any more. */
bool counter_saturated(enum counter_width width, uint64_t value);
/* Four times words; UINT64_MAX where that does not fit, which is wrong by less than a wrap is. */
uint64_t counter_bytes(uint64_t words);
