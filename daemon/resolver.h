/* Looks up host names by a helper process: main asks, never waits. A helper that dies or hangs is
 * replaced after a while; what it was asked has failed then. */
#pragma once
#include "core/loop.h"
#include "daemon/resolver_wire.h"

#define RESOLVER_QUESTIONS 16		    /* out at a time */
#define RESOLVER_PATIENCE_NS 60000000000ULL /* longer than any sane resolv.conf takes */

struct resolver;

struct resolver_events {
	/* The answer, or n == 0 with the reason. */
	void (*answer)(void *arg, const char *name, const struct resolver_answer *a);
	void (*trouble)(void *arg, const char *text); /* of the helper, for the log */
};

/* NULL: no memory. Nothing runs before the first question. */
struct resolver *resolver_new(struct loop *loop, const struct resolver_events *events, void *arg);
void resolver_free(struct resolver *r); /* ends the helper */
/* Is there room for a question, and a helper or leave to start one? */
bool resolver_ready(const struct resolver *r, uint64_t now_ns);
/* Only when ready. The answer comes later, also when the helper cannot be started. */
void resolver_ask(struct resolver *r, const char *name, uint64_t now_ns);
/* Once a second: a helper that does not answer is replaced. paused: main itself stood still. */
void resolver_tick(struct resolver *r, uint64_t now_ns, bool paused);
/* No questions are to come: the helper goes when there is one. */
void resolver_rest(struct resolver *r);
