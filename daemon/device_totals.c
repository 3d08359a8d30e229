#include "daemon/device_totals.h"

#include <string.h>

#include "probes/table.h"

/* A counter of a worker only grows; what does not is a worker gone wild. */
static void raise_to(uint64_t *live, uint64_t now)
{
	if (now > *live)
		*live = now;
}

void device_totals_read(struct device_totals *t, const struct table *table,
			const struct counter_round *round)
{
	for (uint32_t port = 0; port <= PORT_MAX; port++)
		for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++)
			raise_to(&t->async_live[port][event], table_get_async(table, port, event));
	/* An instant, no count: the clock may have been set back since. */
	if (round && round->success_wall_ns)
		t->success_wall_ns = round->success_wall_ns;
	if (round)
		raise_to(&t->resets_live, round->resets_seen);
	for (unsigned port = 0; round && port <= PORT_MAX; port++)
		for (unsigned error = 0; error < READ_ERROR_COUNT; error++)
			raise_to(&t->errors_live[port][error], round->read_errors[port][error]);
}

void device_totals_fold(struct device_totals *t)
{
	for (unsigned port = 0; port <= PORT_MAX; port++) {
		for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++)
			t->async_folded[port][event] += t->async_live[port][event];
		for (unsigned error = 0; error < READ_ERROR_COUNT; error++)
			t->errors_folded[port][error] += t->errors_live[port][error];
	}
	t->resets_folded += t->resets_live;
	t->resets_live = 0;
	memset(t->async_live, 0, sizeof(t->async_live));
	memset(t->errors_live, 0, sizeof(t->errors_live));
}

void device_totals_async(const struct device_totals *t,
			 uint64_t ret[PORT_MAX + 1][ASYNC_EVENT_COUNT])
{
	for (unsigned port = 0; port <= PORT_MAX; port++)
		for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++)
			ret[port][event] =
				t->async_folded[port][event] + t->async_live[port][event];
}

uint64_t device_totals_resets(const struct device_totals *t)
{
	return t->resets_folded + t->resets_live;
}

void device_totals_errors(const struct device_totals *t,
			  uint64_t ret[PORT_MAX + 1][READ_ERROR_COUNT])
{
	for (unsigned port = 0; port <= PORT_MAX; port++)
		for (unsigned error = 0; error < READ_ERROR_COUNT; error++)
			ret[port][error] =
				t->errors_folded[port][error] + t->errors_live[port][error];
}
