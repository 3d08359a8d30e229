/* Messages between main and a worker over a SOCK_SEQPACKET pair, one struct a packet. Wishes go
 * down, facts come up. Both ends are of one build, so plain structs do; the first word tells
 * the type and every packet's length must match it (wish_check, fact_check). */
#pragma once
#include <netinet/in.h>
#include "core/mac.h"
#include "probes/facts.h"

#define ACCEPT_CHUNK 64 /* addresses in one WISH_ACCEPT */
#define RDMA_CM_PORT 10480
#define EXCLUDE_MAX 1024 /* bytes of the exclude globs, blank separated */

struct op_config {
	uint64_t interval_ns; /* 0: off */
	uint64_t deadline_ns;
	uint32_t size; /* bytes on the wire of a SEND or of a READ */
	uint32_t pad;
};

/* [rail NAME]: empty strings and prefix_len < 0 match anything. */
struct rail_spec {
	char name[FACT_NAME];
	char device[FACT_NAME];
	char netdev[FACT_NETDEV];
	struct in6_addr subnet; /* IPv4 as v4-mapped */
	int32_t prefix_len;	/* of the v4-mapped form: 96 + n for IPv4; -1: any */
};

struct class_config {
	char name[FACT_NAME];
	int32_t tos; /* -1: not set */
	int32_t sl;  /* -1: not set */
};

struct worker_config {
	uint64_t instance;   /* main's random id, the same for all workers of this start */
	uint32_t generation; /* of this worker process */
	uint32_t n_rails;    /* 0: every active port with a usable address */
	uint32_t n_classes;  /* >= 1 */
	uint32_t ack_timeout, retry_count;
	uint32_t qps_per_device, connects, probes_per_second;
	uint8_t allow_rocev1, accept_any, counters_only, pad;
	uint16_t cm_port, pad2;
	uint32_t keepalive_ms; /* our sessions send at least so often; 0: not stated */
	uint8_t has_secret, pad3[3];
	uint8_t secret[MAC_KEY_LEN]; /* made from the shared secret; zero without one */
	uint64_t counters_interval_ns;
	uint32_t netdev_stats; /* of a port at most; 0: none */
	uint32_t pad4;
	char host[FACT_NAME]; /* this host's mesh name */
	char device[FACT_NAME];
	char sysfs_root[256];
	struct op_config op[OP_COUNT];
	struct rail_spec rails[RAIL_MAX];
	struct class_config classes[CLASS_MAX];
};

enum wish_type {
	WISH_CONFIG = 1, /* first packet, and again at reload */
	WISH_ACCEPT,	 /* source addresses that may connect */
	WISH_SESSION_ADD,
	WISH_SESSION_REMOVE,
	WISH_STOP, /* goodbye, drain, exit */
};

struct wish_accept {
	uint32_t first; /* 1: forget the list before */
	uint32_t
		own; /* 1: these are this host's, as far as known; the list of peers comes before */
	uint32_t n;
	struct in6_addr address[ACCEPT_CHUNK]; /* IPv4 as v4-mapped */
};

struct wish_session {
	uint64_t id; /* unique in main's life, never 0 */
	uint32_t row;
	uint32_t rail; /* index of the worker's rail */
	uint32_t class_index;
	uint32_t loopback; /* 1: of a rail to itself; it does not count for the rail */
	uint32_t reason;   /* REMOVE: enum abort_reason for what is in flight */
	char peer[FACT_NAME];
	char peer_rail[FACT_NAME]; /* "" when the list has none */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address; /* port 0; AF_UNSPEC: not known, so that every attempt fails to resolve */
};

struct wish {
	uint32_t type; /* enum wish_type */
	uint32_t pad;
	union {
		struct worker_config config;
		struct wish_accept accept;
		struct wish_session session;
	};
};

enum fact_type {
	FACT_READY = 1, /* config taken, loops run */
	FACT_RAIL,	/* a rail appeared, changed or went; facts are in the table too */
	FACT_SESSION,	/* a session changed state */
	FACT_REMOVED,	/* a removed session's row is final and free */
	FACT_ATTENTION, /* a probe was missed or the session recovered: judge soon */
	FACT_CORRUPT,	/* a READ of the session succeeded with wrong data; text says how wrong */
	FACT_ASYNC,	/* an asynchronous event */
	FACT_DRAIN,	/* a drain ended; outcome */
	FACT_DEVICE,	/* device-level state in words: why it cannot probe; "" when it can */
	FACT_DUPLICATE, /* two live instances of one host name connect here */
	FACT_REFUSED,  /* a connection request was; number: enum wire_reject; some stand for many */
	FACT_STALLED,  /* rdma_cm does not answer (number 1), or does so again (0) */
	FACT_ANSWERED, /* who answers at a session's address, when it is not who the list says */
	FACT_BYE,      /* stopping is done */
};

struct fact {
	uint32_t type; /* enum fact_type */
	uint32_t rail;
	uint32_t row;
	uint32_t number; /* SESSION: new state; ASYNC: event; DRAIN: outcome; RAIL: n_rails;
			  * STALLED; REFUSED */
	uint32_t old;	 /* SESSION: old state */
	uint32_t port;	 /* ASYNC */
	uint64_t session_id;
	struct rail_fact rail_fact; /* RAIL */
	struct session_conn conn;   /* SESSION: as put in the table */
	/* DUPLICATE, REFUSED: of the name in question, and the name as its bearers say it ("" when
	 * none has said it yet). From the wire: a name of the peer list is to be preferred. The
	 * text of REFUSED begins with the address. ANSWERED: the
	 * name that the other side gave itself, "" when it is the one of the list again. */
	uint64_t host_hash;
	char host[FACT_NAME];
	char text[FACT_TEXT];
};

/* Length that a packet of this type has on the wire; 0 for an unknown type. */
size_t wish_length(uint32_t type);
size_t fact_length(uint32_t type);
/* True when len bytes hold a well-formed message: known type, its length, strings terminated,
 * indices within their bounds. */
bool wish_check(const struct wish *w, size_t len);
bool fact_check(const struct fact *f, size_t len);
/* Send one packet without blocking: 0 or -errno (-EAGAIN: the queue is full). */
int wish_send(int fd, const struct wish *w);
int fact_send(int fd, const struct fact *f);
/* Receive one packet without blocking: 1 got one, 0 nothing there, -errno (-ECONNRESET: end). */
int wish_recv(int fd, struct wish *ret);
int fact_recv(int fd, struct fact *ret);
