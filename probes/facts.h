/* Facts: the plain vocabulary in which a worker tells main what it sees. No pointers, no verbs
 * types: ids cross the floors. Names here are the ones of metrics and JSON (docs/METRICS.md). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/hist.h"

#define FACT_NAME 64	/* bytes of a peer, rail, class, device or counter name with NUL */
#define FACT_NETDEV 16	/* IFNAMSIZ */
#define FACT_ADDRESS 64 /* textual address, with zone */
#define FACT_TEXT 240	/* a sentence for people */
#define RAIL_MAX 16	/* rails of one device */
#define CLASS_MAX 8	/* traffic classes of a configuration */
#define PORT_MAX 16	/* ports of a device that are followed; the rest is counted */
#define GID_MAX 1024	/* non-zero GIDs of a device that are followed */
#define FAILURES_KEPT 8 /* files that cannot be read and are told by name; likewise */
#define RESETS_KEPT 8	/* resets of counters that are told by name; the rest is counted */
#define PRIORITIES 8	/* of 802.1Q */
#define TRAFFIC_CLASSES 8
#define DSCP_COUNT 64
#define BOND_MEMBERS 4	 /* of a port's bond that are told by name; the rest is left out */
#define HEALTH_MAX 12	 /* reporters of a device's health */
#define HEALTH_NAME 32	 /* bytes of the name of one with NUL */
#define COUNTER_MAX 4096 /* counters of a device that are followed; the rest is counted */

/* The operations, and `ack`: the transport completion of a send, which has no schedule. */
enum op { OP_SEND, OP_READ, OP_WRITE, OP_ATOMIC };
#define OP_COUNT 4
#define STREAM_ACK OP_COUNT /* streams of round trips: the ops, then ack */
#define STREAM_COUNT (OP_COUNT + 1)

enum session_state {
	SESSION_IDLE,
	SESSION_RESOLVING,
	SESSION_CONNECTING,
	SESSION_UP,
	SESSION_DRAINING,
	SESSION_BACKOFF,
	SESSION_DISABLED,
};
#define SESSION_STATE_COUNT 7

/* Genuine failures of a probe that was sent. */
enum fail_reason {
	FAIL_TIMEOUT,
	FAIL_RETRY_EXCEEDED,
	FAIL_RNR_RETRY_EXCEEDED,
	FAIL_REMOTE_ACCESS,
	FAIL_REMOTE_OPERATION,
	FAIL_LOCAL_QP_ERROR,
	FAIL_CORRUPT,
	FAIL_OTHER,
};
#define FAIL_COUNT 8

/* Sent, and nobody's loss. */
enum abort_reason {
	ABORT_FLUSHED,
	ABORT_DRAIN,
	ABORT_RELOAD,
	ABORT_PEER_LEAVING,
	ABORT_WORKER_LOST,
	ABORT_LOCAL_PORT_DOWN,
};
#define ABORT_COUNT 6

/* Due, and not sent. */
enum skip_reason {
	SKIP_LOCAL_PORT_DOWN,
	SKIP_NOT_CONNECTED,
	SKIP_QP_STALLED,
	SKIP_PEER_UNRESPONSIVE,
	SKIP_BUDGET,
	SKIP_WORKER_STUCK,
	SKIP_DEVICE_ABSENT,
};
#define SKIP_COUNT 7

enum connect_failure {
	CONNECT_RESOLVE,
	CONNECT_ROUTE,
	CONNECT_UNREACHABLE,
	CONNECT_REJECTED,
	CONNECT_STALE,
	CONNECT_TIMEOUT,
	CONNECT_WRONG_DEVICE,
	CONNECT_HELLO,
	CONNECT_VERSION,
	CONNECT_NO_RESOURCES,
	CONNECT_OTHER,
};
#define CONNECT_COUNT 11

/* Why somebody who came to us was turned away. */
enum refuse_reason {
	REFUSE_MALFORMED, /* its request is none of ours */
	REFUSE_VERSION,
	REFUSE_NOT_LISTED,
	REFUSE_CAP,	     /* qps_per_device */
	REFUSE_HALF_OPEN,    /* too many, in all or of one address, have not said hello yet */
	REFUSE_NO_RESOURCES, /* no memory, or the device makes no more queue pairs */
	REFUSE_LEAVING,
	REFUSE_SECRET_MISSING, /* it has none, we have one */
	REFUSE_SECRET_UNKNOWN, /* it has one, we have none */
	REFUSE_SECRET_DIFFERS,
	REFUSE_HELLO, /* connected, and said no proper hello in time */
};
#define REFUSE_COUNT 11

enum drain_outcome { DRAIN_LAST_WQE, DRAIN_MARKER, DRAIN_TIMEOUT };
#define DRAIN_COUNT 3

/* Why an operation that the configuration turns on is not run on a session. It has no schedule and
 * no books there: what was never possible is not lost. */
enum op_lack {
	OP_LACK_NONE,
	OP_LACK_DEVICE,	   /* our device cannot */
	OP_LACK_PEER,	   /* the peer's device or daemon cannot */
	OP_LACK_PEER_SIZE, /* the peer takes or offers less than our size */
};
#define OP_LACK_COUNT 4

static inline bool op_lacks_valid(const uint8_t lack[OP_COUNT])
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (lack[op] >= OP_LACK_COUNT)
			return false;
	return true;
}

enum gid_type { GID_TYPE_UNKNOWN, GID_TYPE_IB, GID_TYPE_ROCE_V1, GID_TYPE_ROCE_V2 };
enum link_layer { LINK_LAYER_UNKNOWN, LINK_LAYER_INFINIBAND, LINK_LAYER_ETHERNET };
/* By what a port tells the priority of a packet that comes in. */
enum port_trust { TRUST_UNKNOWN, TRUST_PCP, TRUST_DSCP };
/* Who says what a port's rate should be; the partner: both ends have agreed on a faster mode. */
enum rate_source { RATE_OF_NOBODY, RATE_OF_CONFIGURATION, RATE_OF_PARTNER };
enum worker_loop { WORKER_RAIL, WORKER_CONTROL, WORKER_COUNTER };
#define WORKER_LOOPS 3

/* Where a counter came from: two sources never become one series. The last three are no directories
 * but RDMA netlink, for counters that somebody has to switch on, the statistics of the port's
 * netdev, and those of the legs of its bond, whose names have that of the leg before them:
 * "ens1f0np0/rx_prio3_pause". */
enum counter_source {
	SOURCE_COUNTERS,
	SOURCE_COUNTERS_EXT,
	SOURCE_HW_COUNTERS,
	SOURCE_OPTIONAL,
	SOURCE_ETHTOOL,
	SOURCE_LEG,
};
#define COUNTER_SOURCE_COUNT 6

enum read_error {
	READ_EINVAL,
	READ_EACCES,
	READ_EIO,
	READ_ENODEV,
	READ_TIMEOUT,
	READ_PARSE,
	READ_OTHER,
};
#define READ_ERROR_COUNT 7

/* Asynchronous events by name without IBV_EVENT_, lower case; the last is `other`. The table of
 * names stands in facts.c in this order; verbs numbers are mapped by name in probes/async.c. */
#define ASYNC_EVENT_COUNT 22
extern const char *const async_event_names[ASYNC_EVENT_COUNT];
/* true: belongs to a port; its `port` label is set. */
bool async_event_is_port(unsigned event);

const char *op_name(enum op op);	  /* "send" */
const char *stream_name(unsigned stream); /* "send" ... "ack" */
const char *session_state_name(enum session_state state);
const char *fail_reason_name(enum fail_reason reason);
const char *abort_reason_name(enum abort_reason reason);
const char *skip_reason_name(enum skip_reason reason);
const char *connect_failure_name(enum connect_failure failure);
const char *refuse_reason_name(enum refuse_reason why);
const char *drain_outcome_name(enum drain_outcome outcome);
/* "the peer offers no memory to write to"; "" for OP_LACK_NONE. */
const char *op_lack_text(enum op op, enum op_lack lack);
const char *gid_type_name(enum gid_type type);	       /* "RoCE v2", "RoCE v1", "IB", "" */
const char *port_trust_name(enum port_trust trust);    /* "dscp", "pcp", "" */
const char *rate_source_name(enum rate_source source); /* "configuration", "partner", "" */
const char *link_layer_name(enum link_layer layer);    /* "Ethernet", "InfiniBand", "unknown" */
const char *worker_loop_name(enum worker_loop loop);
const char *counter_source_name(enum counter_source source); /* "counters", ... */
const char *read_error_name(enum read_error error);

/* The books of one operation of one session (CONTRACT: the books). Written by the rail thread
 * only; every field but the schedule only grows, except in_flight and the streaks. */
struct op_books {
	/* What a probe that succeeds changes stands first: it is published without the rest. */
	uint64_t booked_until_ns; /* every instant <= this has been booked; UINT64_MAX: not begun */
	uint64_t scheduled;
	uint64_t sent;
	uint64_t in_flight;
	uint64_t ok;
	uint64_t ok_streak;
	uint64_t miss_streak;
	uint64_t rtt_sum_ns; /* over ok + late - self_delayed */
	uint64_t rtt_count;
	uint64_t last_attempt_wall_ns; /* 0: never */
	uint64_t last_success_wall_ns;
	uint64_t last_success_ns; /* CLOCK_MONOTONIC, to compare with; the one above may be set */

	uint64_t interval_ns; /* 0: the operation is off */
	uint64_t phase_ns;    /* due instants are phase_ns + k * interval_ns, CLOCK_MONOTONIC */
	uint64_t failed[FAIL_COUNT];
	uint64_t aborted[ABORT_COUNT];
	uint64_t not_attempted[SKIP_COUNT];
	uint64_t late;	       /* subset of failed */
	uint64_t self_delayed; /* subset of ok, kept out of latency */
	uint64_t retransmits_suspected;
	/* A miss is a failure, or a skip for qp_stalled, not_connected or peer_unresponsive. */
	uint64_t misses;
	uint64_t double_misses; /* misses that directly followed a miss */
};

/* Bytes from the start that a probe changes which is sent in its turn and succeeds. */
#define OP_BOOKS_RUNNING offsetof(struct op_books, interval_ns)

uint64_t op_books_failed(const struct op_books *b); /* sums over the reasons */
uint64_t op_books_aborted(const struct op_books *b);
uint64_t op_books_not_attempted(const struct op_books *b);
/* scheduled = sent + not attempted; sent = ok + failed + aborted + in flight; and late is part of
 * failed, self_delayed of ok. */
bool op_books_balanced(const struct op_books *b);

/* A session's row, rail thread's part. */
struct session_books {
	uint64_t session_id; /* 0: the row is free */
	uint64_t ack_sum_ns, ack_count;
	struct op_books op[OP_COUNT];
};

/* Texts of an error below by which the judge knows more than connect_failure tells. */
#define SAID_STALLED "rdma_cm of this host does not answer"
#define SAID_CLOSED "accepted, and closed at once"
#define SAID_SECRET_WANTED "the peer wants a shared secret, we have none"
#define SAID_NO_SECRET "the peer has no shared secret, we have one"
#define SAID_SECRET_DIFFERS "the peer's shared secret is another one"
#define SAID_UNPROVEN "the peer did not prove the shared secret"

/* What last went wrong on a session, for the one line that an operator reads. */
struct session_error {
	uint64_t wall_ns;	 /* 0: nothing yet */
	uint64_t mono_ns;	 /* the same instant */
	int32_t connect_failure; /* enum connect_failure, or -1: a work completion */
	int32_t code;		 /* CM event status or errno, or enum ibv_wc_status */
	uint32_t vendor_err;
	uint32_t op;	      /* enum op of the completion */
	char text[FACT_NAME]; /* "retry exceeded", "connection refused", ... */
};

/* A session's row, control thread's part. */
struct session_conn {
	uint64_t session_id;	/* 0: the row is free */
	uint64_t gone_id;	/* of a free row: the session that it no longer has, or never had */
	uint64_t since_wall_ns; /* of the state */
	uint64_t since_mono_ns; /* the same instant */
	uint32_t state;		/* enum session_state */
	uint32_t attempts_in_row; /* connects since it was last up */
	uint32_t qpn, remote_qpn;
	uint32_t udp_source_port; /* 0: none or unknown */
	uint32_t gid_index;
	uint8_t local_gid[16], remote_gid[16];
	uint8_t op_lack[OP_COUNT]; /* enum op_lack; of the peer: as its last hello said */
	uint8_t pad[4];
	char reason[FACT_NAME]; /* why disabled or in back-off */
	struct session_error error;
};

/* A rail of a device, control thread's part. */
struct rail_fact {
	char name[FACT_NAME];
	char device[FACT_NAME];
	char netdev[FACT_NETDEV];
	char address[FACT_ADDRESS]; /* source address of the sessions; "" when it has none */
	uint8_t gid[16];
	uint32_t gid_index;
	uint32_t gid_type; /* enum gid_type */
	uint32_t port;
	uint32_t up; /* port active, address usable, listening */
	uint32_t mtu;
	char reason[FACT_TEXT]; /* why it is not up; "" when it is */
};

/* Per rail totals that control counts (cumulative since the worker's start). */
struct rail_totals {
	uint64_t attempts;
	uint64_t failures[CONNECT_COUNT];
	uint64_t drains[DRAIN_COUNT];
	uint64_t refused[REFUSE_COUNT]; /* who came to us */
};

struct gid_fact {
	uint8_t gid[16];
	uint16_t index;
	uint8_t port;
	uint8_t type; /* enum gid_type */
	char netdev[FACT_NETDEV];
};

#define DSCP_UNMAPPED 0xff /* no entry says which priority, or two say different ones */

/* How a port is set up, by DCB and by files of drivers; what nobody tells is not known. Masks have
 * bit p for priority p. */
struct port_config_fact {
	uint64_t max_kilobits[TRAFFIC_CLASSES]; /* a second, that a class may send; 0: as much as it
						   can, or unknown */
	uint32_t netdev_mtu;			/* 0: unknown */
	uint8_t pfc_known, pfc;			/* priorities with priority flow control */
	uint8_t trust;				/* enum port_trust */
	uint8_t classes_known, max_rates_known;
	uint8_t priority_class[PRIORITIES]; /* traffic class of each priority */
	uint8_t dscp_priority[DSCP_COUNT];  /* valid when trust is TRUST_DSCP */
	uint8_t ecn_np_known, ecn_np;	    /* priorities in which marks are answered by CNP */
	uint8_t ecn_rp_known, ecn_rp;	    /* priorities in which CNP are obeyed */
	uint8_t cnp_dscp_known, cnp_dscp;   /* with which CNP leave */
	uint8_t cnp_priority_known, cnp_priority;
	uint8_t roce_mode;		  /* enum gid_type that rdma_cm takes by default */
	uint8_t roce_tos_known, roce_tos; /* that rdma_cm takes where nobody sets one */
	uint8_t forced_tos_known;
	uint8_t forced_tos; /* that the driver puts in place of whatever anybody sets */
	uint8_t n_members;
	uint8_t legs_known, legs_up; /* bit i for members[i]: it says whether it has link; it has */
	char bond[FACT_NETDEV];	     /* whose member the netdev is, or itself; "": of none */
	char members[BOND_MEMBERS][FACT_NETDEV];
};

#define BYTES_OF_MEGABIT 125000ULL
#define BYTES_OF_KILOBIT 125ULL

/* A wire: what runs on it and what could, as the driver says by ethtool. 0: not known. */
struct link_fact {
	uint32_t megabits, lanes;		/* a second, now */
	uint32_t possible_megabits;		/* of the fastest mode that this end has */
	uint32_t partner_megabits;		/* that the other end says it has */
	uint32_t common_megabits, common_lanes; /* that both have agreed to take if they can, and
						   the fewest lanes on which it is had */
};

struct port_fact {
	uint8_t port;
	uint8_t link_layer; /* enum link_layer */
	uint8_t state_known, phys_state_known, rate_known;
	uint8_t netdev_errno; /* why the netdev has no statistics to tell; 0: it has, or was not
				 asked */
	uint8_t expected_by;  /* enum rate_source */
	uint8_t pad;
	uint32_t state, phys_state; /* numbers before the colon of the sysfs files */
	uint64_t rate_bytes_per_second;
	uint64_t expected_rate_bytes_per_second; /* what it should do; 0: unknown */
	char state_text[FACT_NETDEV], phys_state_text[32];
	char link_layer_text[FACT_NETDEV]; /* as read, trimmed */
	char netdev[FACT_NETDEV];
	char rate_text[48];
	struct port_config_fact config;
	struct link_fact link;		    /* where there are legs: the least of them */
	struct link_fact leg[BOND_MEMBERS]; /* of config.members, where the netdev is the bond */
};

/* How many of config.members are legs of the port: all where its netdev is their bond, else none,
 * for then they are other ports'. */
unsigned port_fact_legs(const struct port_fact *f);

/* 0: unknown, as for what is no PCI function, or a virtual one. */
struct pci_link {
	uint32_t mega_transfers; /* per second and lane: 16000 for 16 GT/s */
	uint32_t lanes;
};

/* One of a driver's own reporters of a device's health, by devlink. */
struct health_fact {
	char reporter[HEALTH_NAME]; /* "fw_fatal", "tx", ... */
	uint64_t errors, recoveries;
	uint8_t error; /* its state, now: it found an error and has not recovered */
	uint8_t pad[7];
};

struct device_fact {
	char name[FACT_NAME];
	char firmware[FACT_NAME], board[FACT_NAME], hca_type[FACT_NAME];
	char pci_address[32];
	char node_guid[24];
	uint8_t node_guid_zero;
	uint8_t is_vf;
	uint8_t firmware_watched; /* somebody looks whether its firmware takes commands */
	uint8_t has_numa_node;
	uint8_t is_iwarp; /* no RoCE, whatever its GIDs are called */
	uint8_t pad[7];
	uint32_t numa_node;
	struct pci_link pci, pci_possible;     /* now, and what the device and its slot both can */
	uint64_t firmware_stuck_since_wall_ns; /* 0: it does, or nobody looks */
	char firmware_stuck_text[FACT_TEXT];
	uint32_t n_health, pad_health;
	struct health_fact health[HEALTH_MAX]; /* by devlink's order */
};

#define COUNTER_SATURATED 1u /* the value is its width's maximum and sticks there */

struct counter_value {
	char name[FACT_NAME]; /* sysfs file name, verbatim */
	uint64_t value;	      /* as read; port data words are not scaled here */
	uint8_t port;	      /* 0: device level */
	uint8_t source;	      /* enum counter_source */
	uint8_t flags;	      /* COUNTER_* */
	uint8_t pad[5];
};

/* A counter that went back further than a wrap explains: its driver was loaded again, or somebody
 * cleared it. Nobody knows what it counted in between. */
struct counter_reset {
	char name[FACT_NAME];
	uint64_t before, now;
	uint8_t port; /* 0: device level */
	uint8_t source;
	uint8_t pad[6];
};

/* A file that began to fail: told once, until it could be read again. */
struct read_failure {
	char name[FACT_NAME]; /* of the counter, or of the port's attribute */
	uint8_t port;	      /* 0: device level */
	uint8_t source;	      /* enum counter_source; COUNTER_SOURCE_COUNT: an attribute */
	uint8_t error;	      /* enum read_error */
	uint8_t pad[5];
};

struct read_failures {
	uint64_t seen; /* cumulative; the k-th, from 0, is kept[k % FAILURES_KEPT] */
	struct read_failure kept[FAILURES_KEPT];
};

/* One finished round of the counter thread. Only the first n_* entries of arrays are valid. */
struct counter_round {
	uint64_t mono_ns, wall_ns; /* when the round ended; 0: none yet */
	uint64_t success_wall_ns;  /* last round in which anything of the device could be read */
	uint64_t interval_ns;
	uint64_t resets_seen; /* cumulative; the k-th, from 0, is resets[k % RESETS_KEPT] */
	struct counter_reset resets[RESETS_KEPT];
	struct read_failures failures;
	uint64_t read_errors[PORT_MAX + 1]
			    [READ_ERROR_COUNT]; /* [0] device level, else port index+1 */
	struct device_fact device;
	uint32_t n_ports, ports_dropped;
	uint32_t n_gids, gids_dropped;
	uint32_t n_values, values_dropped;
	struct port_fact ports[PORT_MAX];
	struct gid_fact gids[GID_MAX];
	struct counter_value values[COUNTER_MAX];
};
