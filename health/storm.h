/* What a storm of events leaves: of one kind about one subject (device, rail and peer) so many a
 * minute and, when the minute is over, one that says how many more there were and what the last
 * was; of one kind over all subjects a burst and then a slow stream. So a flapping link can neither
 * wear out a disk nor push all else out of the journal. Pure; time is that of the events. */
#pragma once
#include "health/journal.h"

#define STORM_MINUTE_NS 60000000000ULL
#define STORM_OF_SUBJECT 20 /* events of a kind about a subject a minute */
/* Events of a kind at once: all sessions of a host may change together, and each is worth its
 * line. */
#define STORM_BURST 2048
#define STORM_REFILL_NS 200000000ULL /* then one so often */
#define STORM_SUBJECTS 256 /* followed at a time; a newer one takes the place of an older */
#define STORM_KINDS 32

struct storm_subject {
	uint64_t hash;
	uint64_t since_ns;
	unsigned n, held;
	struct journal_event last; /* of those held back */
};

struct storm_kind {
	uint64_t hash;
	uint64_t at_ns;
	unsigned used;
};

struct storm { /* zeroed: fresh */
	struct storm_subject subjects[STORM_SUBJECTS];
	struct storm_kind kinds[STORM_KINDS];
	uint64_t thinned;
};

/* True: e is to be written. *ret_summary true: before it, *summary is. */
bool storm_admit(struct storm *s, const struct journal_event *e, struct journal_event *summary,
		 bool *ret_summary);
/* The next summary that is due; false: none is. *at is where the search goes on, 0 at first. */
bool storm_due(struct storm *s, uint64_t wall_ns, size_t *at, struct journal_event *summary);
