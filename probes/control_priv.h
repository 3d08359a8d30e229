/* Inside of control: shared by control*.c only. One file a noun: control.c (loop and wishes),
 * control_rails.c, control_session.c, control_conn.c, control_active.c, control_passive.c,
 * control_async.c, control_tell.c. */
#pragma once
#include <rdma/rdma_cma.h>
#include "core/clock.h"
#include "probes/auth.h"
#include "probes/control.h"
#include "probes/endpoint.h"
#include "probes/rail.h"
#include "probes/rail_select.h"
#include "probes/session_fsm.h"
#include "probes/timer_heap.h"

#define ATTEMPT_NS (8 * NSEC_PER_SEC) /* a connect attempt, all steps; the CM's own is 100 s */
#define RESOLVE_MS 2000		      /* each of address and route */
#define RESOLVE_DEAD_MS 500	      /* the same, when the peer did not answer the last time */
#define GOODBYE_NS (200 * NSEC_PER_MSEC)
#define MARKER_NS (1 * NSEC_PER_SEC)	  /* for the marker's flush */
#define LAST_WQE_NS (100 * NSEC_PER_MSEC) /* for the event, after the marker's flush */
#define STOP_NS (2 * NSEC_PER_SEC)	  /* for all drains at a stop */
#define BACKOFF_BASE_NS (500 * NSEC_PER_MSEC)
#define BACKOFF_CAP_NS (10 * NSEC_PER_SEC)
#define BACKOFF_FLOOR_NS (20 * NSEC_PER_MSEC)
#define RESCAN_NS (5 * NSEC_PER_SEC)	     /* safety net under the events */
#define PORT_SETTLE_NS (300 * NSEC_PER_MSEC) /* a link goes down in steps; seen: 250 ms */
#define GID_SETTLE_NS (100 * NSEC_PER_MSEC)  /* bursts of GID_CHANGE become one scan */
#define LISTEN_BACKLOG 1024
#define MIN_RNR_TIMER 12 /* 0.64 ms; rdma_cm leaves 0, which is 655 ms */
#define RNR_RETRY 3	 /* finite: 7 is for ever */
#define KEEPALIVE_LOST 3 /* keep-alives in a row that did not come: the initiator is dead */
#define KEEPALIVE_MIN_MS 100
#define KEEPALIVE_MAX_MS (3600 * 1000)
#define PAUSE_NS (1 * NSEC_PER_SEC)   /* we were away so long: silence proves nothing */
#define SETTLED_NS (5 * NSEC_PER_SEC) /* a session that was up so long begins its back-off anew */
#define WAKE_NS                                                                                    \
	(1 * NSEC_PER_SEC) /* a peer that comes and goes ends our back-off so often at most */
#define STALL_NS                                                                                   \
	(3 * NSEC_PER_SEC) /* resolving says no word for so long after its own time is up */
#define NO_ANSWER_TEXT "no answer to the connection request"
#define GOODBYE_TEXT "peer said goodbye"

enum conn_phase {
	CONN_OPENING,	 /* no QP yet */
	CONN_LIVE,	 /* QP exists and is the rail's too */
	CONN_SUSPECT,	 /* broken on our side: is the port about to go down? */
	CONN_GOODBYE,	 /* our last message is on its way */
	CONN_MARKING,	 /* QP in error, waiting for the marker's flush */
	CONN_LAST_WQE,	 /* flushed, waiting for the event */
	CONN_FORGETTING, /* the rail lets go of it */
	CONN_HELD,	 /* only the id is left, until the port can send again */
};

/* What an rdma_cm_id's context points to: a conn or a listener. */
enum cm_kind { CM_CONN, CM_LISTENER };
struct cm_owner {
	enum cm_kind kind;
};

/* Names a passive session; a new connection with the same key replaces the old. Our address is part
 * of it: a list that names no rails may lead to several addresses of one of ours. */
struct passive_key {
	uint64_t host, rail, peer_rail;
	uint32_t class_hash;
	uint32_t path;
	struct in6_addr local;
};

/* Of one reason to refuse: what was told lately, and what was not. */
struct gate_limit {
	uint64_t since_ns;
	uint32_t told, held;
};

/* Whose request was refused, as far as it is known. */
struct refused {
	struct in6_addr address;
	uint64_t host_hash; /* 0: unknown */
	const char *host;   /* "": unknown */
	uint32_t rail;	    /* index */
};

/* Of a connection on which both sides prove that they know the shared secret. */
struct conn_auth {
	struct auth a;
	uint8_t reply[WIRE_MAX_HELLO]; /* active: as it came */
	bool challenged;
};

struct session;
struct conn;

/* Sessions in the order of their coming. */
struct turn_list {
	struct session *first, **last; /* last: only when n */
	uint32_t n;
};

/* Attempts at peers that are new or were up, and at those that did not answer the last time. */
enum turn_pool_kind { POOL_FRESH, POOL_DEAD };
#define POOL_COUNT 2
struct turn_pool {
	struct turn_list waiting, flying;
};
enum turn { TURN_NONE, TURN_WAITS, TURN_FLIES };

/* One node of control.timers; exactly one of the two owners is set. */
struct control_timer {
	struct timer_node node; /* first */
	struct session *session;
	struct conn *conn;
};

struct conn {
	struct cm_owner owner; /* first: see cm_owner */
	struct conn *next, **link;
	struct rail_conn rc; /* lent to the rail between ATTACH and FORGOTTEN */
	enum conn_phase phase;
	struct rdma_cm_id *id;
	uint32_t rail; /* index */
	uint32_t set;  /* of queues; if has_place */
	bool has_place, has_memory, established, last_wqe, welcomed;
	bool no_reads;		 /* the peer granted no READ nor atomic */
	uint64_t quiet_until_ns; /* no CM message before */
	struct {
		uint32_t status, vendor_err, op;
	} error; /* of the completion that broke it */
	struct control_timer timer;
	struct session *session; /* active; NULL once the session let go */
	struct conn_auth *auth;	 /* NULL: no secret is asked for */
	/* passive */
	struct passive_key key;
	uint64_t instance;
	struct in6_addr peer;
	bool refusing;	       /* it hears why, then it is ended */
	bool greeted;	       /* its HELLO came and is in rc.hello_in */
	uint64_t keepalive_ns; /* as it stated; 0: it did not */
	uint64_t silent_at_ns; /* when it has been silent for too long, as last reckoned */
};

struct session {
	struct wish_session wish;
	struct rail_session rs;	    /* lent to the rail between ADD and REMOVED */
	struct session_conn pub;    /* what the table shows */
	struct conn *conn;	    /* NULL: none */
	struct control_timer timer; /* retry */
	enum turn turn;		    /* its place in control.pools */
	enum turn_pool_kind pool;   /* unless TURN_NONE */
	struct session *turn_next, **turn_link;
	uint64_t turn_ns;	  /* when its turn began */
	uint64_t up_ns, woken_ns; /* when it last came up, when its back-off was last ended */
	bool stale_retried, removing, gone_from_rail;
	bool peer_left;	  /* it said goodbye and has not been up since */
	bool other_told;  /* main knows that somebody else answers at its address */
	unsigned attempt; /* for the back-off */
};

struct listener {
	struct cm_owner owner;
	struct rdma_cm_id *id; /* NULL: to be tried again */
	struct in6_addr address;
	uint32_t rail; /* index */
	uint64_t retry_ns;
	unsigned attempt;
};

struct control_rail {
	struct rail_fact fact;
	struct in6_addr source;
	uint32_t n_listeners;
	struct listener *listener[RAIL_ADDRESS_MAX];
	struct rail_totals totals;
	uint64_t bucket_ns, bucket_at_ns; /* time in hand for attempts, as of when */
};

struct control {
	struct control_params p;
	struct worker_config cfg;
	struct endpoint *endpoint;
	struct rdma_event_channel *channel; /* NULL: not there yet */
	struct timer_heap *timers;	    /* of sessions and conns */
	struct control_rail rails[RAIL_MAX];
	uint32_t n_rails;
	struct device_scan *scan;
	struct rail_pick *picks;
	struct session **sessions; /* by row */
	uint32_t n_rows, n_sessions;
	struct conn *conns;
	uint32_t n_active, n_passive; /* QPs */
	uint32_t sets_told;	      /* sets of queues that the rail knows */
	struct turn_pool pools[POOL_COUNT];
	struct in6_addr *accept;
	uint32_t n_accept, n_listed; /* the first ones are of the list of peers */
	struct in6_addr *sorted;     /* the same by number; NULL: to be made */
	struct gate_limit refusals[REFUSE_COUNT];
	uint64_t rescan_ns, open_retry_ns, stop_ns, limit_rearm_ns; /* TIMER_NEVER: not due */
	char device_reason[FACT_TEXT];
	bool stalled, stalls_routing; /* told: resolving hangs, and at which step */
	bool no_qp_told;	      /* the reason is that no QP could be made */
	bool stopping, main_gone, device_gone;
	int exit_code; /* >= 0: end now */
};

/* control_tell.c: facts to main and the table */
void tell_rail(struct control *c, uint32_t rail);
void tell_session(struct control *c, struct session *s, enum session_state old);
void tell_removed(struct control *c, const struct wish_session *w);
void tell_corrupt(struct control *c, const struct session *s, const struct wire_damage *d);
void tell_attention(struct control *c, const struct session *s);
void tell_async(struct control *c, unsigned event, uint32_t port);
void tell_drain(struct control *c, const struct conn *conn, enum drain_outcome outcome);
void tell_device(struct control *c, const char *text); /* only when it changed */
/* Of the connections of one key, the older one may have said its name. */
void tell_duplicate(struct control *c, const struct conn *older, const char *text);
void tell_answered(struct control *c, struct session *s, const char *host);
/* Resolving hangs in the kernel, or does so no more; only when that changed. */
void tell_stalled(struct control *c, bool stalled);
void tell_refused(struct control *c, enum wire_reject why, const struct refused *who,
		  const char *text);
void tell_simple(struct control *c, enum fact_type type);
void publish_session(struct control *c, struct session *s);
void publish_qps(struct control *c);
/* Never lost: waits for the rail to make room. */
void command(struct control *c, const struct rail_cmd *cmd);
void command_conn(struct control *c, enum rail_cmd_type type, struct conn *conn, uint32_t value);

/* control_rails.c */
void rails_rescan(struct control *c);
void rails_rescan_soon(struct control *c, uint64_t in_ns);
void rails_listen_retry(struct control *c, uint64_t now);
uint64_t rails_next_retry(const struct control *c);
void rails_close(struct control *c);
/* As of the last scan: the rail's port is active and its source address there. */
bool rails_port_active(const struct control *c, uint32_t rail);
/* As of the last scan; true for a GID that could not be learnt (all zero). */
bool rails_has_gid(const struct control *c, const uint8_t gid[16]);
/* Ask the port and the GID table now: whether a failure of a connection on this rail is our own
 * port's doing. */
bool rails_port_down_now(struct control *c, uint32_t rail, const uint8_t gid[16]);

/* control_session.c */
void session_add(struct control *c, const struct wish_session *w);
void session_remove(struct control *c, const struct wish_session *w);
void session_enter_state(struct control *c, struct session *s, enum session_event event,
			 const char *why);
/* From the peer's hello: what is not run on the session. no_reads: the peer granted none. */
void session_learn_lacks(struct control *c, struct session *s, const struct wire_hello *h,
			 bool no_reads);
uint32_t session_lacks(const struct session_conn *pub);	  /* bit per op that is not run */
void session_start(struct control *c, struct session *s); /* its turn has come */
void session_timer(struct control *c, struct session *s);
/* The attempt failed; code is a CM status or errno. */
void session_connect_failed(struct control *c, struct session *s, enum connect_failure failure,
			    int code, const char *text);
/* A connection that was up broke; value as in RAIL_DRAIN. */
void session_broken(struct control *c, struct session *s, int wc_status, uint32_t vendor_err,
		    uint32_t op, const char *text, uint32_t value);
void session_left(struct control *c, struct session *s);
void session_conn_gone(struct control *c, struct session *s);
void session_maybe_free(struct control *c, struct session *s);
/* Peers at this address are alive: end their back-off. */
void sessions_wake_peer(struct control *c, const struct in6_addr *peer);
void sessions_wake_rail(struct control *c, uint32_t rail);
/* After a scan: sessions whose local GID is gone are torn down. */
void sessions_check_gids(struct control *c);
/* Begin to book what is due on a rail whose sessions cannot even try. */
void sessions_start_booking(struct control *c, uint32_t rail);

/* control_turns.c */
void turn_wait(struct control *c, struct session *s);
void turn_end(struct control *c, struct session *s);	 /* it waits or connects no more */
void turn_refresh(struct control *c, struct session *s); /* attempt changed */
/* Begin what may begin; when to look again, TIMER_NEVER: when something happens. */
uint64_t turns_run(struct control *c);

/* control_active.c */
int active_start(struct control *c, struct session *s);
void active_event(struct control *c, struct conn *conn, const struct rdma_cm_event *ev);
void active_hello(struct control *c, struct conn *conn);
void active_challenge(struct control *c, struct conn *conn);
void active_refused(struct control *c, struct conn *conn);
/* A step of resolving did not end in its time. */
void active_stalled(struct control *c, struct conn *conn);

/* control_gate.c */
void gate_take_accept(struct control *c, const struct wish_accept *a);
/* True: a request may come in, as far as it goes by itself. Else why not. The request is filled in
 * as far as it is ours. */
bool gate_judge(struct control *c, const struct rdma_cm_event *ev, const struct in6_addr *peer,
		struct wire_request *ret, enum refuse_reason *ret_why);
/* Below the cap of queue pairs; if not, what this peer left behind is ended. */
bool gate_has_room(struct control *c, const struct in6_addr *peer, const struct passive_key *key);
/* What the one who is refused is told. */
enum wire_reject gate_reject(enum refuse_reason why);
/* Counts it. */
void gate_count(struct control *c, enum refuse_reason why, uint32_t rail);
/* Counts it, and main hears of it, but not of each one of many. */
void gate_tell(struct control *c, enum refuse_reason why, const struct refused *who);

/* control_passive.c */
bool passive_key_equal(const struct passive_key *a, const struct passive_key *b);
void passive_request(struct control *c, struct listener *l, const struct rdma_cm_event *ev);
void passive_event(struct control *c, struct conn *conn, const struct rdma_cm_event *ev);
void passive_hello(struct control *c, struct conn *conn);
void passive_proof(struct control *c, struct conn *conn);
/* Its initiator may be dead: end it, or look again later. */
void passive_check_silence(struct control *c, struct conn *conn);

/* control_conn.c */
struct conn *conn_new(struct control *c, enum conn_role role, uint32_t rail);
int conn_make_qp(struct control *c, struct conn *conn); /* 0 or -errno; attaches to the rail */
/* The rail learns of the sets of queues that it does not know. */
void conn_tell_queues(struct control *c);
void conn_established(struct control *c, struct conn *conn);
void conn_send_hello(struct control *c, struct conn *conn, enum wire_type type);
void conn_send_auth(struct control *c, struct conn *conn, enum wire_type type, const uint8_t *body,
		    size_t size);
/* Before its QP is made, when a secret is set: 0 or -ENOMEM. */
int conn_want_proof(struct control *c, struct conn *conn);
void conn_make_nonce(struct control *c, uint8_t nonce[WIRE_NONCE_LEN]);
/* Say why, and end it. */
void conn_refuse(struct control *c, struct conn *conn, enum wire_reject why);
/* End it, whatever phase it is in; value as in RAIL_DRAIN. */
void conn_drain(struct control *c, struct conn *conn, uint32_t value, bool goodbye);
void conn_timer(struct control *c, struct conn *conn);
/* After a scan: ids that waited for their port are destroyed, and what broke is judged. */
void conns_follow_port(struct control *c);
void conn_note(struct control *c, const struct rail_note *n);
void conn_last_wqe(struct control *c, uint32_t qpn);
void conn_qp_event(struct control *c, uint32_t qpn, const char *text);
struct conn *conn_by_qpn(struct control *c, uint32_t qpn);
void conn_disconnected(struct control *c, struct conn *conn, const char *text);
/* All of them, without a word to anybody: the rail has ended. */
void conns_free(struct control *c);

/* control_async.c: read both async fds to EAGAIN: copy, ack, then act. */
void async_drain(struct control *c);
