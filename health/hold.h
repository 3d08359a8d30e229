/* Hysteresis: a level rises at once and falls only after it has not been reached for a while, so
 * that what comes and goes at a limit is one finding, and not a hundred. Pure. */
#pragma once
#include "health/rule.h"

struct hold { /* zeroed: not applicable, nothing seen */
	enum rule_state state;
	enum rule_state said;		  /* the last time */
	uint64_t warning_ns, critical_ns; /* when the held level was last reached; 0: not held */
};

/* said is what holds at now_ns; busy: it is so just now, and not only the memory of it. The state
 * falls to said once hold_ns have passed since a higher one was reached. What is not applicable is
 * so at once unless a level is being held. True: the state is another one than before. */
bool hold_next(struct hold *h, enum rule_state said, bool busy, uint64_t now_ns, uint64_t hold_ns);
