#include "health/verdict.h"

const char *verdict_name(enum verdict v)
{
	switch (v) {
	case VERDICT_OK:
		return "ok";
	case VERDICT_DEGRADED:
		return "degraded";
	case VERDICT_FAILING:
		return "failing";
	case VERDICT_UNKNOWN:
		return "unknown";
	}
	return "unknown";
}

const char *cause_name(enum cause c)
{
	switch (c) {
	case CAUSE_NONE:
		return "none";
	case CAUSE_LOCAL_PORT:
		return "local_port";
	case CAUSE_LOCAL_NIC:
		return "local_nic";
	case CAUSE_LOCAL_HOST:
		return "local_host";
	case CAUSE_REMOTE_NIC:
		return "remote_nic";
	case CAUSE_REMOTE_HOST:
		return "remote_host";
	case CAUSE_PATH:
		return "path";
	case CAUSE_CONGESTION:
		return "congestion";
	case CAUSE_CONFIGURATION:
		return "configuration";
	case CAUSE_MONITOR:
		return "monitor";
	case CAUSE_INCONCLUSIVE:
		return "inconclusive";
	}
	return "inconclusive";
}

/* What all operations of a session say together. */
struct outcome {
	bool any_on;
	bool missed;	      /* a miss since the last look */
	uint64_t miss_streak; /* longest that stands now */
	uint64_t ok_streak;   /* shortest of the operations that are on */
};

static void outcome_add(struct outcome *o, const struct op_books *prev, const struct op_books *now)
{
	if (!now->interval_ns)
		return;
	o->any_on = true;
	o->missed |= now->misses > (prev ? prev->misses : 0);
	if (now->miss_streak > o->miss_streak)
		o->miss_streak = now->miss_streak;
	if (now->ok_streak < o->ok_streak)
		o->ok_streak = now->ok_streak;
}

static enum verdict verdict_from(enum verdict current, const struct verdict_limits *limits,
				 const struct outcome *o)
{
	if (!o->any_on)
		return VERDICT_UNKNOWN;
	if (o->miss_streak >= limits->failing_after)
		return VERDICT_FAILING;
	if (o->ok_streak >= limits->ok_after)
		return VERDICT_OK;
	if (o->missed || o->miss_streak)
		return VERDICT_DEGRADED;
	switch (current) {
	case VERDICT_OK:
		return VERDICT_OK;
	case VERDICT_DEGRADED:
	case VERDICT_FAILING:
		return VERDICT_DEGRADED;
	case VERDICT_UNKNOWN:
		return o->ok_streak ? VERDICT_OK : VERDICT_UNKNOWN;
	}
	return VERDICT_UNKNOWN;
}

enum verdict verdict_next(enum verdict current, const struct verdict_limits *limits,
			  const struct op_books *prev, const struct op_books *now)
{
	struct outcome o = {.ok_streak = UINT64_MAX};

	for (unsigned i = 0; i < OP_COUNT; i++)
		outcome_add(&o, prev ? &prev[i] : NULL, &now[i]);
	return verdict_from(current, limits, &o);
}

static bool cause_is_local(enum cause c)
{
	switch (c) {
	case CAUSE_LOCAL_PORT:
	case CAUSE_LOCAL_NIC:
	case CAUSE_LOCAL_HOST:
	case CAUSE_CONFIGURATION:
	case CAUSE_MONITOR:
		return true;
	case CAUSE_NONE:
	case CAUSE_REMOTE_NIC:
	case CAUSE_REMOTE_HOST:
	case CAUSE_PATH:
	case CAUSE_CONGESTION:
	case CAUSE_INCONCLUSIVE:
		return false;
	}
	return false;
}

enum verdict verdict_of_trouble(enum cause cause, bool critical)
{
	if (critical && cause_is_local(cause) && cause != CAUSE_MONITOR)
		return VERDICT_FAILING;
	return VERDICT_DEGRADED;
}
