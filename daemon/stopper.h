/* The end: goodbye to the workers, three seconds for their drains, then SIGKILL, and main leaves
 * whether or not the kernel lets go of all of them. */
#pragma once

#define STOPPER_GRACE_NS 3000000000ULL
#define STOPPER_REAP_NS                                                                            \
	200000000ULL /* after SIGKILL: to leave no zombie where it can be helped                   \
		      */

struct daemon;
struct stopper;

/* Called again while stopping: no more patience. */
void stopper_begin(struct daemon *d, const char *why);
/* A worker ended: maybe the last. */
void stopper_check(struct daemon *d);
void stopper_free(struct stopper *s);
