#include "daemon/tick.h"

#include <inttypes.h>

#include "core/log.h"
#include "daemon/daemon.h"
#include "daemon/inbox.h"
#include "daemon/planner.h"

/* Late by how much, and when the next one should be. After a pause the missed ones are skipped. */
static uint64_t tick_lag(struct daemon *d, uint64_t now_ns)
{
	uint64_t lag = now_ns > d->tick_at_ns ? now_ns - d->tick_at_ns : 0;

	d->tick_at_ns += TICK_NS * (lag / TICK_NS + 1);
	return lag;
}

static void tell_malformed(struct device *dev)
{
	uint64_t n = dev->proc ? worker_proc_malformed(dev->proc) : 0;

	if (n > dev->malformed_told)
		log_warn("%s: %" PRIu64 " packets of the worker made no sense", dev->name,
			 n - dev->malformed_told);
	dev->malformed_told = n;
}

static void tend(struct daemon *d)
{
	struct sessions_context ctx = daemon_sessions_context(d);

	for (size_t i = 0; i < supervisor_count(d->supervisor); i++) {
		struct device *dev = supervisor_get(d->supervisor, i);

		tell_malformed(dev);
		if (!dev->proc)
			continue;
		inbox_read_rails(d, dev);
		sessions_sweep(d->sessions, dev, &ctx);
		sessions_place(d->sessions, dev, &ctx);
	}
	if (!d->rails_complete)
		planner_run(d);
}

bool tick_devices(struct daemon *d, uint64_t now_ns)
{
	bool paused;

	d->lag_ns = tick_lag(d, now_ns);
	paused = d->lag_ns > PAUSE_NS;
	supervisor_tick(d->supervisor, now_ns, paused);
	tend(d);
	return paused;
}
