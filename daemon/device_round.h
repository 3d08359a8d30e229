/* The last round of counters of a device's worker, kept as snapshots have it: it is read and sorted
 * once, however often main looks. */
#pragma once
#include "probes/facts.h"

struct table;

struct device_round { /* zeroed: none yet */
	struct counter_round *last;
	uint64_t published; /* as the table had it before last was read; 0: last is of no worker */
};

/* Whether the worker has finished one that was not read yet. */
bool device_round_due(const struct device_round *r, const struct table *t);
/* Reads it if there is one. True: a new one, and scratch is a copy for the caller to change. */
bool device_round_read(struct device_round *r, const struct table *t,
		       struct counter_round *scratch);
/* Its values in the order of snapshots; NULL: none yet of this worker. */
const struct counter_round *device_round_last(const struct device_round *r);
/* Whether it is younger than three intervals at now_ns; interval_ns: where it states none. */
bool device_round_fresh(const struct device_round *r, uint64_t now_ns, uint64_t interval_ns);
/* The worker ended: the rounds of the next one are counted anew. */
void device_round_forget(struct device_round *r);
void device_round_free(struct device_round *r);
