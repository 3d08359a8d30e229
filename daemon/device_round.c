#include "daemon/device_round.h"

#include <stdlib.h>
#include <string.h>

#include "health/snapshot.h"
#include "probes/table.h"

#define ROUNDS_FRESH 3 /* intervals */

/* A round has room for far more than there is. */
static void copy_used(struct counter_round *to, const struct counter_round *from)
{
	memcpy(to, from, offsetof(struct counter_round, ports));
	memcpy(to->ports, from->ports, from->n_ports * sizeof(from->ports[0]));
	memcpy(to->gids, from->gids, from->n_gids * sizeof(from->gids[0]));
	memcpy(to->values, from->values, from->n_values * sizeof(from->values[0]));
}

bool device_round_due(const struct device_round *r, const struct table *t)
{
	return table_counters_published(t) != r->published;
}

bool device_round_read(struct device_round *r, const struct table *t, struct counter_round *scratch)
{
	uint64_t published = table_counters_published(t);

	if (published == r->published)
		return false;
	if (!r->last)
		r->last = calloc(1, sizeof(*r->last));
	/* The one before stays when this one is being overwritten. */
	if (!r->last || !table_get_counters(t, scratch))
		return false;
	r->published = published;
	copy_used(r->last, scratch);
	qsort(r->last->values, r->last->n_values, sizeof(r->last->values[0]), snap_value_cmp);
	return true;
}

const struct counter_round *device_round_last(const struct device_round *r)
{
	return r->published ? r->last : NULL;
}

bool device_round_fresh(const struct device_round *r, uint64_t now_ns, uint64_t interval_ns)
{
	const struct counter_round *last = device_round_last(r);

	if (!last || last->mono_ns == 0)
		return false;
	if (last->interval_ns)
		interval_ns = last->interval_ns;
	return now_ns <= last->mono_ns || now_ns - last->mono_ns <= ROUNDS_FRESH * interval_ns;
}

void device_round_forget(struct device_round *r)
{
	r->published = 0;
}

void device_round_free(struct device_round *r)
{
	free(r->last);
	*r = (struct device_round){0};
}
