/* What the workers of one device counted, all of them together: asynchronous events and sysfs
 * read errors, resets of counters. Never goes backwards while main lives. */
#pragma once
#include "probes/facts.h"

struct table;

struct device_totals { /* zeroed: nothing yet */
	uint64_t async_folded[PORT_MAX + 1][ASYNC_EVENT_COUNT];
	uint64_t async_live[PORT_MAX + 1][ASYNC_EVENT_COUNT];
	uint64_t errors_folded[PORT_MAX + 1][READ_ERROR_COUNT];
	uint64_t errors_live[PORT_MAX + 1][READ_ERROR_COUNT];
	uint64_t resets_folded, resets_live;
	uint64_t success_wall_ns; /* when counters could last be read; 0: never */
};

/* As the table of the current worker says; round is its last one, NULL: none. */
void device_totals_read(struct device_totals *t, const struct table *table,
			const struct counter_round *round);
/* The worker ended. */
void device_totals_fold(struct device_totals *t);
void device_totals_async(const struct device_totals *t,
			 uint64_t ret[PORT_MAX + 1][ASYNC_EVENT_COUNT]);
uint64_t device_totals_resets(const struct device_totals *t);
void device_totals_errors(const struct device_totals *t,
			  uint64_t ret[PORT_MAX + 1][READ_ERROR_COUNT]);
