/* Blame: verdict, cause and reason of one session. The reason is a sentence that a person acts on
 * at three in the morning: what is wrong, with whom, since when, what still works, and what that
 * rules out. */
#pragma once
#include "health/evidence.h"

struct blame {
	enum verdict verdict;
	enum cause cause;
	const char *reason; /* owned by the snapshot; "" when nothing is wrong */
};

struct blame blame_session(const struct evidence *e, size_t i, struct snapshot *s);
/* Why a rail that is not up is not up. */
struct blame blame_rail(const struct evidence *e, size_t rail, struct snapshot *s);
/* Why the worker of a device measures nothing; cause is none while that is as it should be. */
struct blame blame_worker(struct snapshot *s, const struct snap_device *d);
/* Why every peer of a rail is silent (evidence_rail_dead). */
struct blame blame_dead_rail(const struct evidence *e, size_t rail, struct snapshot *s);
