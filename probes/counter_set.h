/* The counter files of a device that are known, in the order (port, source, name), with what has
 * to be remembered of each from round to round. Fixed capacity; counter thread only. */
#pragma once
#include "probes/counter_table.h"
#include "probes/held.h"

struct counter_file {
	char name[FACT_NAME];
	uint8_t port; /* 0: device level */
	uint8_t source;
	uint8_t skip; /* rounds to wait before it is tried again after an error */
	bool seen;    /* in this round's directory listing */
	bool failing; /* and told */
	bool has_last;
	uint64_t last;
	const struct counter_row *row;
	struct held held;
};

/* Several hundred kB, of which only what is used is ever touched if it comes from calloc(). */
struct counter_set {
	uint32_t n;
	struct held_room held;
	struct counter_file files[COUNTER_MAX];
};

/* Forget all files. */
void counter_set_clear(struct counter_set *set);
/* Let go of the descriptors of all files; they are opened again when they are next read. */
void counter_set_release(struct counter_set *set);
/* Of each parts-th file, from part on. */
void counter_set_release_part(struct counter_set *set, uint32_t part, uint32_t parts);
/* A listing begins; files that are not seen until its end are forgotten. */
void counter_set_begin(struct counter_set *set);
/* A file is there; name is shorter than FACT_NAME. false: the set is full. */
bool counter_set_see(struct counter_set *set, uint8_t port, enum counter_source source,
		     const char *name);
void counter_set_end(struct counter_set *set);
/* Try all files again in the next round. */
void counter_set_retry(struct counter_set *set);
