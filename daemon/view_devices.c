#include <string.h>

#include "core/clock.h"
#include "daemon/daemon.h"
#include "daemon/view.h"

#define DUPLICATE_NS (60 * NSEC_PER_SEC) /* seen this lately: it still stands */

static void *copy(struct snapshot *s, const void *from, size_t n, size_t size)
{
	void *to = n ? snapshot_alloc(s, n, size) : NULL;

	if (to)
		memcpy(to, from, n * size);
	return to;
}

static bool fill_round(struct snapshot *s, struct snap_device *to, const struct counter_round *r)
{
	to->fact = r->device;
	to->ports = copy(s, r->ports, r->n_ports, sizeof(*to->ports));
	to->gids = copy(s, r->gids, r->n_gids, sizeof(*to->gids));
	to->values = copy(s, r->values, r->n_values, sizeof(*to->values));
	if ((r->n_ports && !to->ports) || (r->n_gids && !to->gids) || (r->n_values && !to->values))
		return false;
	to->n_ports = r->n_ports;
	to->n_gids = r->n_gids;
	to->n_values = r->n_values;
	to->values_dropped = r->values_dropped;
	to->counters_fresh = true;
	return true;
}

static bool fill_counters(struct snapshot *s, struct snap_device *to, const struct device *dev)
{
	to->counters_success_wall_ns = dev->totals.success_wall_ns;
	return !device_counters_fresh(dev, s->mono_ns) ||
	       fill_round(s, to, device_round_last(&dev->round));
}

static void fill_worker(struct snapshot *s, struct snap_device *to, const struct device *dev)
{
	to->name = snapshot_str(s, dev->name);
	to->verdict = VERDICT_UNKNOWN;
	to->reason = "";
	to->gone = !dev->present && !dev->proc;
	to->worker_state = dev->state;
	to->worker_since_wall_ns = dev->since_wall_ns;
	to->restarts = dev->restarts;
	to->worker_up = dev->state == WORKER_UP;
	memcpy(to->heartbeat_wall_ns, dev->beat.wall_ns, sizeof(to->heartbeat_wall_ns));
	to->counters_stuck_since_wall_ns = dev->counters_stuck_wall_ns;
	to->cm_stalled_since_wall_ns = dev->cm_stalled_wall_ns;
	to->cpu_ns = device_cpu_ns(dev);
	to->has_rss = dev->has_rss;
	to->rss_bytes = dev->rss_bytes;
	if (dev->proc)
		table_get_qps(worker_proc_table(dev->proc), &to->qps_active, &to->qps_passive);
	device_totals_async(&dev->totals, to->async);
	device_totals_errors(&dev->totals, to->read_errors);
	to->counter_resets = device_totals_resets(&dev->totals);
}

static void note_duplicate(struct snapshot *s, const struct device *dev, struct view_judged *judged)
{
	if (dev->duplicate_ns && s->mono_ns - dev->duplicate_ns < DUPLICATE_NS)
		judged->duplicates[judged->n_duplicates++] = snapshot_str(s, dev->duplicate);
}

static bool shown(const struct device *dev)
{
	return !dev->excluded || dev->proc;
}

bool view_devices(struct snapshot *s, const struct daemon *d, struct view_judged *judged)
{
	size_t n = supervisor_count(d->supervisor);

	if (n == 0)
		return true;
	s->devices = snapshot_alloc(s, n, sizeof(*s->devices));
	judged->devices = snapshot_alloc(s, n, sizeof(*judged->devices));
	judged->duplicates = snapshot_alloc(s, n, sizeof(*judged->duplicates));
	if (!s->devices || !judged->devices || !judged->duplicates)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct device *dev = supervisor_get(d->supervisor, i);
		struct snap_device *to = &s->devices[s->n_devices];

		if (!shown(dev))
			continue;
		fill_worker(s, to, dev);
		if (!fill_counters(s, to, dev))
			return false;
		if (dev->rules && dev->state != WORKER_RELEASED && !to->gone &&
		    !device_rules_fill(dev->rules, s, to))
			return false;
		judged->devices[s->n_devices++].trouble = snapshot_str(s, device_trouble(dev));
		note_duplicate(s, dev, judged);
	}
	return true;
}
