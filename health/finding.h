/* The list of findings of one instant, and the memory of since when each stands. */
#pragma once
#include "health/snapshot.h"

struct finding_memory; /* by cause, subject and rule; survives the snapshots */

struct finding_memory *finding_memory_new(void); /* NULL: no memory */
void finding_memory_free(struct finding_memory *m);

/* A list being filled; it and all it holds belong to the snapshot. */
struct findings {
	struct snapshot *s;
	struct finding_memory *memory;
	struct snap_finding *list;
	bool *minor; /* says something about our data, nothing about the host's health */
	size_t n, cap;
};

/* Room for cap findings. False: no memory. */
bool findings_begin(struct findings *f, struct snapshot *s, struct finding_memory *m, size_t cap);
/* Adds one; subject and text are owned by the snapshot or static. A second one of the same cause,
 * subject and rule is dropped. since_wall_ns 0: since it was first added in a row of snapshots.
 * Returns it, so that evidence can be hung on; NULL: dropped, or no room. */
struct snap_finding *findings_add(struct findings *f, enum cause cause, bool critical,
				  const char *subject, const char *text, uint64_t since_wall_ns);
/* The same of a rule; NULL: of none. */
struct snap_finding *findings_add_of_rule(struct findings *f, const char *rule, enum cause cause,
					  bool critical, const char *subject, const char *text,
					  uint64_t since_wall_ns);
void findings_mark_minor(struct findings *f, const struct snap_finding *finding);
/* Puts the list into the snapshot; what was not added this time is forgotten. */
void findings_end(struct findings *f);
