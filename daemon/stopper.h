/* The end: goodbye to the workers, STOPPER_GRACE_NS for their drains, then SIGKILL, and main leaves
 * whether or not the kernel lets go of all of them. */
#pragma once
#include "exporters/checker.h"

/* A stop takes less than 5 s in all. What is left of that is main's own: to hear of it, to close
 * its connections and to exit, on a host that may be loaded. TimeoutStopSec= of the unit lies
 * between. */
#define STOPPER_LIMIT_NS 4200000000ULL
#define STOPPER_REAP_NS                                                                            \
	200000000ULL /* after SIGKILL: to leave no zombie where it can be helped                   \
		      */
#define STOPPER_GRACE_NS (STOPPER_LIMIT_NS - STOPPER_REAP_NS - CHECKER_LEAVE_NS)

struct daemon;
struct stopper;

/* Called again while stopping: no more patience. */
void stopper_begin(struct daemon *d, const char *why);
/* A worker ended: maybe the last. */
void stopper_check(struct daemon *d);
void stopper_free(struct stopper *s);
