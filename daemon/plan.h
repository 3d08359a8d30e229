/* Which sessions this host should have: (targets x rails x classes). Pure. */
#pragma once
#include <sys/types.h>
#include "daemon/peers.h"

struct session_key {
	char peer[FACT_NAME];
	char rail[FACT_NAME];
	char peer_rail[FACT_NAME];
	char class_name[FACT_NAME];
};

struct plan_rail {
	const char *name, *device;
};

struct plan_input {
	const struct target *const *targets; /* without own addresses */
	size_t n_targets;
	const struct plan_rail *rails;
	size_t n_rails;
	/* All devices have told theirs: a single rail takes every target without a rail label.
	 * While others may come, it takes those that the route brings to it. */
	bool rails_complete;
	const char *const *classes; /* in the order of the configuration */
	size_t n_classes;
	uint32_t sessions_per_device; /* own ones; the rest is disabled */
	/* Index of the rail whose address the route to the target starts from, -1: unknown. Asked
	 * only for targets without a rail label. */
	int (*route)(void *arg, const struct target *t);
	void *arg;
};

struct plan_entry {
	struct session_key key;
	const struct target *target;
	const char *device; /* of plan_rail */
	uint32_t class_index;
	bool disabled;
	char reason[FACT_NAME]; /* why disabled */
};

struct plan {
	struct plan_entry *entries; /* sorted by key, no two alike */
	size_t n;
	size_t unmatched; /* targets that no rail of this host reaches */
};

int session_key_cmp(const struct session_key *a, const struct session_key *b);

/* 0 or -ENOMEM. The plan points into the input; plan_free() when done. */
int plan_make(struct plan *ret, const struct plan_input *in);
void plan_free(struct plan *p);
/* Compare with the sessions there are, have[] sorted by key. ret_have[i of plan] is the index in
 * have[] or -1; ret_wanted[i of have] tells whether the plan still has it. */
void plan_match(const struct plan *p, const struct session_key *const *have, size_t n_have,
		ssize_t *ret_have, bool *ret_wanted);
