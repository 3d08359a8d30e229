#include "daemon/heartbeat.h"

/* Silence of one loop counts from its last beat, or from the start where it never beat. */
static uint64_t silent_since(const struct heartbeat_input *in, enum worker_loop loop,
			     uint64_t limit_ns)
{
	uint64_t last = in->beat.mono_ns[loop];

	if (last < in->started_ns)
		last = in->started_ns;
	return in->now_ns > last && in->now_ns - last > limit_ns ? last : 0;
}

uint64_t heartbeat_stuck_since(const struct heartbeat_input *in)
{
	uint64_t limit = in->ready ? HEARTBEAT_STUCK_NS : HEARTBEAT_START_NS;
	uint64_t rail, control;

	if (in->counters_only)
		return in->ready ? 0 : silent_since(in, WORKER_COUNTER, limit);
	rail = silent_since(in, WORKER_RAIL, limit);
	control = silent_since(in, WORKER_CONTROL, limit);
	if (!rail || !control)
		return rail ? rail : control;
	return rail < control ? rail : control;
}

uint64_t heartbeat_counters_stuck_since(const struct heartbeat_input *in)
{
	uint64_t limit = 3 * in->counters_interval_ns;

	if (limit < HEARTBEAT_COUNTER_MIN_NS)
		limit = HEARTBEAT_COUNTER_MIN_NS;
	return silent_since(in, WORKER_COUNTER, limit);
}
