/* What the heartbeats of a worker's loops say. Pure. Rail and control beat at least every 500 ms,
 * so two seconds of silence are a loop that is held in the kernel, frozen or spinning. The counter
 * loop beats once a round, and at least every 5 s. */
#pragma once
#include <stdbool.h>
#include "probes/facts.h"

#define HEARTBEAT_STUCK_NS 2000000000ULL
#define HEARTBEAT_START_NS 10000000000ULL /* for a worker that has not reported ready yet */
#define HEARTBEAT_KILL_NS 60000000000ULL  /* stuck this long is not coming back */
#define HEARTBEAT_COUNTER_MIN_NS 10000000000ULL

struct heartbeat {
	uint64_t mono_ns[WORKER_LOOPS]; /* 0: never */
	uint64_t wall_ns[WORKER_LOOPS];
};

struct heartbeat_input {
	struct heartbeat beat;
	uint64_t now_ns;
	uint64_t started_ns; /* of the process */
	bool ready;
	bool counters_only; /* neither rail nor control loop */
	uint64_t counters_interval_ns;
};

/* Since when the rail or the control loop is silent; 0: it is not, or not long enough. */
uint64_t heartbeat_stuck_since(const struct heartbeat_input *in);
/* Since when the counter loop is silent, which costs the counters only; 0 likewise. */
uint64_t heartbeat_counters_stuck_since(const struct heartbeat_input *in);
