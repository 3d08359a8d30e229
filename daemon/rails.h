/* The rails of this host: every one that is configured or was ever seen, until a reload drops it.
 * What a rail counted outlives its workers. */
#pragma once
#include "health/rail_books.h"
#include "probes/facts.h"

#define RAILS_MAX 256 /* of the host, gone ones included */

struct config;
/* In the order in which a worker's table counts them. */
struct class_names {
	size_t n;
	char name[CLASS_MAX][FACT_NAME];
};

struct rails;
struct table;

struct rail {
	char name[FACT_NAME];
	char device[FACT_NAME]; /* "" before it was ever seen */
	bool configured;
	char address[FACT_ADDRESS]; /* the last one it had; "": none ever, it carries no session */
	bool present;		    /* its device's worker reports it; index and fact are valid */
	uint32_t index;		    /* of the worker's rail */
	struct rail_fact fact;	    /* the last one known */
	struct rail_totals folded, live; /* of workers that ended, of the one that runs */
	struct rail_books *books;	 /* owned; over all sessions and workers */
};

struct rails *rails_new(void); /* NULL: no memory */
void rails_free(struct rails *r);
/* Which rails are configured. Others are forgotten unless `keep` wants their device. */
void rails_configure(struct rails *r, const struct config *config,
		     bool (*keep)(void *arg, const char *device), void *arg);
/* Sorted by name. Valid until the next call that adds or drops one. */
size_t rails_count(const struct rails *r);
struct rail *rails_get(const struct rails *r, size_t i);
struct rail *rails_find(const struct rails *r, const char *name); /* NULL: unknown */
struct rail *rails_by_index(const struct rails *r, const char *device, uint32_t index);

enum rail_change {
	RAIL_SAME,
	RAIL_APPEARED, /* present now, was not */
	RAIL_UP,
	RAIL_DOWN,
	RAIL_READDRESSED, /* another address or GID */
	RAIL_CONFLICT,	  /* another device has a rail of that name: ignored */
	RAIL_IGNORED,	  /* odd name, or too many */
};

/* A worker says that its rail `index` is so. device is main's own name of the worker's device. */
enum rail_change rails_learn(struct rails *r, const char *device, uint32_t index,
			     const struct rail_fact *fact, struct rail **ret_rail);
/* What the table of a device's worker says of its present rails: round trips and totals. classes:
 * those that this worker was given; after a reload they may not be the configuration's any more. */
void rails_read(struct rails *r, const char *device, const struct table *table,
		const struct class_names *classes);
/* The worker of a device ended: its rails are absent, what was read last is kept. */
void rails_worker_ended(struct rails *r, const char *device);
/* Connects and drains over all workers. */
void rail_totals_sum(const struct rail *rail, struct rail_totals *ret);
