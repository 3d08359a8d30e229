/* One RDMA device and the life of its worker: started when the device is there, restarted with
 * back-off once the old process is reaped, reported when it is stuck. */
#pragma once
#include "core/loop.h"
#include "daemon/backoff.h"
#include "daemon/device_round.h"
#include "daemon/device_totals.h"
#include "daemon/heartbeat.h"
#include "daemon/proc_usage.h"
#include "daemon/rails.h"
#include "daemon/ratelimit.h"
#include "daemon/worker_proc.h"
#include "health/device_rules.h"
#include "health/snapshot.h"

#define DEVICE_STOP_GRACE_NS                                                                       \
	3500000000ULL /* from goodbye to SIGKILL: drains, and a loaded host                        \
		       */

struct device;

/* What happened to a device, for those who keep sessions, journal and log. */
struct device_events {
	/* A new process runs and waits for its configuration. */
	void (*started)(void *arg, struct device *d);
	void (*fact)(void *arg, struct device *d, const struct fact *f);
	/* Reaped. d->proc and its table are there for the last time. */
	void (*ended)(void *arg, struct device *d);
	/* worker_state changed, or its counters hang or go on; text says why, in words. */
	void (*state)(void *arg, struct device *d, const char *text);
};

/* Same for all devices; owned by the supervisor. */
struct device_context {
	struct loop *loop;
	const struct device_events *events;
	void *arg;
	const char *worker_path;
	struct table_layout layout;
	uint64_t counters_interval_ns;
	bool counters_only;
};

struct device {
	const struct device_context *ctx;
	char name[FACT_NAME];
	bool present;		    /* at the last look at class/infiniband */
	bool excluded;		    /* by the configuration: never opened */
	bool released;		    /* by an administrator: not opened until it is acquired */
	bool stopping;		    /* its worker was told to go */
	bool renewing;		    /* and a new one follows at once */
	bool killed;		    /* and was killed for not going, or for being stuck */
	bool ready;		    /* the worker took its configuration */
	struct class_names classes; /* of that configuration: its table counts by their index */
	enum worker_state state;
	uint64_t since_ns, since_wall_ns; /* of the state */
	uint64_t stop_by_ns;		  /* SIGKILL when it still runs then */
	uint64_t start_at_ns;		  /* in back-off */
	uint64_t started_ns;		  /* of the process */
	uint64_t rail_ns; /* when this worker's last new rail appeared; 0: none so far */
	uint32_t generation;
	uint64_t restarts;
	uint64_t absent_since_ns;
	struct backoff backoff;
	struct worker_proc *proc; /* NULL: none */
	struct heartbeat beat;
	uint64_t counters_stuck_wall_ns; /* since when its counter loop hangs; 0: it does not */
	uint64_t cm_stalled_wall_ns;	 /* since when rdma_cm does not answer it; 0: it does */
	char trouble[FACT_TEXT];	 /* what this worker says is wrong; "" when nothing is */
	char last_trouble[FACT_TEXT];	 /* as told, maybe of a worker before */
	/* What it used, over all workers; rss of the one that runs. */
	struct proc_usage usage;
	uint64_t cpu_folded_ns, cpu_live_ns;
	bool has_rss;
	uint64_t rss_bytes;
	struct device_totals totals;
	struct device_round round;
	struct device_rules *rules; /* NULL before its first counters */
	/* What was told about it, so that it is not told again and again. */
	struct ratelimit async_limit, drain_limit, duplicate_limit, refused_limit;
	struct ratelimit lack_limit, corrupt_limit, doubt_limit, reset_limit, failure_limit;
	uint64_t resets_told;	/* of device_totals_resets() */
	uint64_t failures_told; /* of this worker's read_failures */
	uint32_t netdev_told;	/* bit per port by index: that its netdev has no statistics */
	uint32_t lack_told;	/* bit per op that it cannot run */
	bool conflict_told;
	uint64_t duplicate_ns; /* when two live instances of one name were last seen; 0: never */
	char duplicate[FACT_NAME]; /* that name */
	uint64_t malformed_told;   /* packets of the worker that made no sense, as last told */
};

struct device *device_new(const struct device_context *ctx, const char *name); /* NULL: no memory */
void device_free(struct device *d); /* kills what still runs */
/* Seen, or not, by a look at the system. Starts the worker, or sends it off. */
void device_set_present(struct device *d, bool present, uint64_t now_ns);
void device_set_excluded(struct device *d, bool excluded, uint64_t now_ns);
/* The kernel takes it away: the worker has to let go although the device is still listed. */
void device_leaving(struct device *d, uint64_t now_ns);
/* Once a second: heartbeats, grace periods, back-off. paused: main itself stood still, so
 * old heartbeats prove nothing. */
void device_tick(struct device *d, uint64_t now_ns, bool paused);
/* Let go of it, with a goodbye to the peers: state WORKER_RELEASED once its process has ended and
 * with it all that it had open. Holds until device_acquire(), whether the device goes and comes
 * back meanwhile or not. */
void device_release(struct device *d, uint64_t now_ns);
/* Take it back, or end its back-off: a worker starts now, or when the one that lets go has ended.
 */
void device_acquire(struct device *d, uint64_t now_ns);
/* Another worker in its place, for what a running one cannot take over. */
void device_renew(struct device *d, uint64_t now_ns);
/* The heartbeats as they are now. */
void device_read_beat(struct device *d);
/* CPU time and memory of its worker as they are now. */
void device_read_use(struct device *d);
/* For the end of main: goodbye; nothing is started any more. */
void device_stop(struct device *d, uint64_t now_ns);
/* Why it cannot be probed, in words, also while the next worker has not come to it; "": it can. */
const char *device_trouble(const struct device *d);
bool device_running(const struct device *d);
/* Its counters are young enough to be told. */
bool device_counters_fresh(const struct device *d, uint64_t now_ns);
uint64_t device_cpu_ns(const struct device *d);
