/* The snapshot: everything that exporters tell, as plain values of one instant. main makes one a
 * second (and soon after a miss); it is immutable from then on and reference counted, so that a
 * slow client can be served from the one it began with. Strings are owned by the snapshot. */
#pragma once
#include "health/rule.h"
#include "health/verdict.h"
#include "probes/facts.h"

enum worker_state {
	WORKER_STARTING,
	WORKER_UP,
	WORKER_STUCK,
	WORKER_EXITED,
	WORKER_BACKOFF,
	WORKER_RELEASED,
};
const char *worker_state_name(enum worker_state state);

struct snap_quantiles {
	uint64_t p50_ns, p99_ns; /* valid when count > 0; nearest rank over the last minute */
	uint64_t count;
};

struct snap_session {
	const char *peer, *rail, *peer_rail, *class_name; /* "" when none */
	const char *address, *device;
	enum session_state state;
	uint64_t since_wall_ns;
	uint64_t up_since_ns; /* CLOCK_MONOTONIC; valid when state is SESSION_UP */
	enum verdict verdict;
	uint64_t verdict_since_wall_ns;
	enum cause cause;
	const char *reason; /* a sentence, "" when nothing is wrong */
	bool has_conn;	    /* gids, qpns and source port below are those of a live connection */
	uint8_t local_gid[16], remote_gid[16];
	uint32_t qpn, remote_qpn, udp_source_port; /* 0: unknown */
	bool has_loss;
	double loss_ratio;	      /* of the window below, all operations */
	double window_seconds;	      /* length of the window that loss_ratio covers */
	struct op_books op[OP_COUNT]; /* interval_ns == 0: off. Cumulative over workers */
	struct snap_quantiles stream[STREAM_COUNT];
	const struct hist *hist; /* of each operation; NULL unless per_peer is histogram */
	uint64_t ack_sum_ns, ack_count;
	struct session_error error;
	uint64_t last_success_wall_ns; /* of any operation */
};

struct snap_peer { /* one per (peer, peer_rail, address) of the peer list */
	const char *peer, *peer_rail, *address, *rack, *pod;
};

/* Totals of a rail and class, surviving sessions and workers. */
struct snap_rail_class {
	const char *class_name;
	struct op_books op[OP_COUNT]; /* sums; streaks and schedule mean nothing here */
	struct hist hist[STREAM_COUNT];
};

struct snap_rail {
	const char *name;
	bool present; /* a worker reports it now; fact is valid */
	bool up;
	struct rail_fact fact;
	struct rail_totals totals; /* cumulative over workers */
	uint64_t sessions[SESSION_STATE_COUNT];
	size_t n_classes;
	struct snap_rail_class *classes;
};

/* What a rule says of a port. */
struct snap_rule {
	enum rule_state state;
	enum cause cause;      /* valid when warning or critical, like all below */
	bool about_data, past; /* as in struct rule_said */
	const char *text;
	uint64_t since_wall_ns; /* of the state */
	size_t n_evidence;
	const struct rule_evidence *evidence;
};

struct snap_rate {
	uint16_t signal; /* enum signal */
	int8_t priority; /* -1: none */
	bool known[RATE_WINDOWS];
	double per_second[RATE_WINDOWS]; /* of a gauge: its mean */
};

/* A port as its counters and states are judged. */
struct snap_port_rules {
	uint8_t port;
	bool expected; /* a rail uses it, and it was up once: else it is no business of the host's
			*/
	/* Filled in by the judge. */
	enum verdict verdict;
	enum cause cause;
	const char *reason;
	struct snap_rule rule[RULE_COUNT];
	size_t n_rates;
	struct snap_rate *rates;
};

struct snap_device {
	const char *name;
	enum verdict verdict;
	enum cause cause;
	const char *reason;
	bool gone; /* was on this host and is no longer, nor is its worker */
	enum worker_state worker_state;
	uint64_t worker_since_wall_ns;
	uint64_t restarts;
	bool worker_up;
	uint64_t heartbeat_wall_ns[WORKER_LOOPS];
	uint64_t cpu_ns; /* summed over all workers of the device */
	bool has_rss;
	uint64_t rss_bytes;
	uint64_t qps_active, qps_passive;
	uint64_t async[PORT_MAX + 1][ASYNC_EVENT_COUNT]; /* [0]: no port; cumulative over workers */
	bool counters_fresh;				 /* round is younger than 3 intervals */
	uint64_t counters_stuck_since_wall_ns; /* its counter loop hangs; 0: it does not */
	uint64_t cm_stalled_since_wall_ns;     /* rdma_cm does not answer; 0: it does */
	uint64_t counters_success_wall_ns;     /* 0: never */
	uint64_t read_errors[PORT_MAX + 1][READ_ERROR_COUNT]; /* cumulative over workers */
	uint64_t counter_resets;			      /* likewise */
	uint64_t values_dropped; /* counters for which there was no room in the round */
	struct device_fact fact;
	size_t n_ports, n_gids, n_values; /* 0 unless counters_fresh */
	struct port_fact *ports;
	struct gid_fact *gids;
	struct counter_value *values; /* sorted by (name, source, port) */
	/* As of the last round; kept for a while when there are no new ones. */
	size_t n_port_rules;
	struct snap_port_rules *port_rules;
};

struct snap_evidence {
	const char *name;
	double value, threshold, window_seconds;
};

struct snap_finding {
	enum cause cause;
	bool critical;	     /* else warning */
	const char *subject; /* "kind:id", e.g. "port:rxe0/1", "device:rxe0", "peer:host2" */
	const char *text;
	const char *rule; /* that made it; NULL: none */
	uint64_t since_wall_ns;
	size_t n_evidence;
	struct snap_evidence *evidence;
};

struct snap_journal {
	bool on_disk;		  /* it should be kept there; else it is in memory alone */
	bool kept;		  /* and it is */
	const char *words;	  /* why not */
	uint64_t failing_wall_ns; /* since when not; 0: it is */
	uint64_t events;	  /* told by this daemon */
	uint64_t lost;		  /* of those, forgotten before they could be kept */
	uint64_t thinned;	  /* not told one by one, for there were too many of them */
};

/* What must be equal across a fabric, as health/fabric.h describes it. */
struct snap_fabric {
	const char *fingerprint; /* 16 hex digits; "": not all of it is known now */
	size_t n_parts;
	struct snap_part {
		const char *name, *value;
	} * parts;
};

/* A traffic class as configured. */
struct snap_class {
	const char *name;
	int32_t tos; /* -1: left to rdma_cm's default */
};

enum per_peer_mode { PER_PEER_SUMMARY, PER_PEER_HISTOGRAM, PER_PEER_WORST, PER_PEER_NONE };

struct snapshot {
	/* Of the same instant. What judges compares the former: the latter may be set. */
	uint64_t mono_ns, wall_ns;
	const char *instance; /* 16 hex digits, new at each start */
	const char *host, *version;
	uint64_t start_wall_ns, start_mono_ns;
	enum verdict verdict; /* of the host */
	enum cause cause;
	const char *reason;
	const char *config_hash;
	bool last_reload_ok;
	uint64_t last_reload_success_wall_ns;
	uint64_t unknown_keys;
	uint64_t names_failing; /* host names of the peer list that cannot be resolved now */
	uint64_t peers_refused; /* targets of the peer file that cannot be used */
	const char *peer_file;
	uint64_t peer_file_hangs_wall_ns; /* its file system does not answer since; 0: it does */
	struct snap_journal journal;
	enum per_peer_mode per_peer;
	uint64_t max_series;
	bool also_node_exporter, also_rdma_exporter; /* their names are told besides ours */
	bool starting;		 /* not every device has told its rails yet: none is missed */
	bool counters_only;	 /* of another root than /sys: no device is opened */
	uint64_t rails_expected; /* 0: not configured */
	uint64_t loop_lag_ns;	 /* worst of main's last second */
	struct snap_fabric fabric;
	size_t n_classes;
	struct snap_class *classes; /* as configured */
	size_t n_rails, n_sessions, n_loopbacks, n_peers, n_devices, n_findings;
	struct snap_rail *rails;       /* sorted by name */
	struct snap_session *sessions; /* sorted by peer, rail, peer_rail, class */
	/* Of rails to themselves, sorted alike; verdict is that of the books alone. */
	struct snap_session *loopbacks;
	struct snap_peer *peers;
	struct snap_device *devices; /* sorted by name */
	struct snap_finding *findings;
};

/* The rules of a port; NULL: nothing is known of it. */
const struct snap_port_rules *snapshot_port_rules(const struct snap_device *d, unsigned port);

/* The order of counters in a device, for qsort(). */
int snap_value_cmp(const void *a, const void *b);
/* A counter of the device; port 0: of no port. NULL: it has none such now. */
const struct counter_value *snap_device_value(const struct snap_device *d, const char *name,
					      enum counter_source source, uint8_t port);
/* The memory of the last snapshot that is gone, kept for the next: a host that goes on as it was
 * makes its snapshots of the same few chunks. */
struct snapshot_pool;

struct snapshot_pool *snapshot_pool_new(void); /* NULL: no memory */
/* The owner's; it goes with the last snapshot of it. NULL is fine. */
void snapshot_pool_unref(struct snapshot_pool *pool);

/* A snapshot with one reference and an arena for everything it points to, which a pool keeps; pool
 * NULL: nothing is kept. NULL: no memory. */
struct snapshot *snapshot_new(struct snapshot_pool *pool);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s); /* NULL is fine */
/* Zeroed memory owned by the snapshot; NULL when out of memory. */
void *snapshot_alloc(struct snapshot *s, size_t n, size_t size);
/* A copy of the string owned by the snapshot; "" when out of memory. */
const char *snapshot_str(struct snapshot *s, const char *text);
const char *snapshot_printf(struct snapshot *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
