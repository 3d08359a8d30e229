/* Inside of the rail: shared by rail*.c only. */
#pragma once
#include "core/clock.h"
#include "probes/budget.h"
#include "probes/rail.h"

struct rail_queue {
	struct rail_queues q;
	uint32_t rx_ready; /* buffers handed over so far */
	uint32_t rx_posted;
	uint32_t rx_free_len; /* of this one's part of rail.rx_free */
	/* Armed, and found empty after that: whatever comes raises an event, which the next sleep
	 * sees. False once completions or an event were seen. Arming costs two system calls, and
	 * most rounds find the CQ as they left it. */
	bool armed;
};

/* Which CQs a round of polling asks. */
enum rail_look {
	LOOK_UNARMED, /* those that may have something without an event */
	LOOK_WOKEN, /* an event came, and is not read yet: until one is found that has something */
	LOOK_ALL,
};

struct rail {
	struct rail_params p;
	struct rail_queue queue[QUEUE_SETS_MAX];
	uint32_t n_queues;		  /* 0 until the first RAIL_QUEUES */
	struct ibv_comp_channel *channel; /* of all CQs */
	struct rx_buffers rx;
	struct qpmap *conns;
	struct timer_heap *timers;
	struct op_config ops[OP_COUNT];
	bool port_up[RAIL_MAX];
	uint64_t next_seq; /* generations: never 0, below RX_TAG, never the marker */
	uint32_t *
		rx_free; /* stacks of buffers that are not posted, of each queue from rx_first on */
	bool *rx_out; /* per buffer: the SRQ has it; a completion of another one is a driver's slip
		       */
	uint64_t step_ns;     /* when this step began */
	uint64_t asleep_ns;   /* waiting time since then: not our delay */
	uint64_t lag_ns;      /* how long completions may have waited when it began */
	uint64_t poll_ns;     /* when a CQ last had something in it; not before step_ns */
	uint64_t beat_ns;     /* last sign of life */
	uint64_t look_ns;     /* when all CQs were last polled */
	struct budget budget; /* demand: of the sessions that are up */
	bool woken;	      /* by an event, not read yet */
	bool cq_failed;
	bool stopped;
};

/* rail_conn.c */
void rail_conn_attach(struct rail *r, struct rail_conn *c);
void rail_conn_send_hello(struct rail *r, struct rail_conn *c);
void rail_conn_send_auth(struct rail *r, struct rail_conn *c);
/* why: enum wire_reject; none: a goodbye. */
void rail_conn_goodbye(struct rail *r, struct rail_conn *c, uint32_t why);
void rail_conn_mark(struct rail *r, struct rail_conn *c);
void rail_conn_forget(struct rail *r, struct rail_conn *c);
/* Poll until the CQs are empty (bounded). */
void rail_poll(struct rail *r, enum rail_look look);
/* A batch of one CQ; the number, 0 also when it is broken. */
unsigned rail_poll_queue(struct rail *r, struct rail_queue *q);
/* Post a probe's work request; 0 or a positive errno. */
int rail_conn_post_send(struct rail *r, struct rail_conn *c, uint64_t seq, uint32_t len);
/* READ, WRITE or atomic. */
int rail_conn_post_onesided(struct rail_conn *c, enum op op, uint64_t seq, uint32_t len);
int rail_conn_post_keepalive(struct rail *r, struct rail_conn *c, uint64_t seq);
/* A WRITE of nothing: the peer's NIC answers it alone, it takes no receive there, and needs no
 * memory (IBA C9-88). */
int rail_conn_post_nudge(struct rail *r, struct rail_conn *c);
void rail_note_conn(struct rail *r, enum rail_note_type type, struct rail_conn *c);

/* rail_rx.c */
/* The buffer that a completion brings; NULL: not one of ours. c may be NULL. */
const uint8_t *rail_rx_take(struct rail *r, struct rail_queue *q, struct rail_conn *c,
			    uint64_t wr_id);
/* So many more buffers of the queue can be posted. */
void rail_rx_more(struct rail *r, struct rail_queue *q, uint32_t more);
/* Give back to the SRQ what was taken. */
void rail_rx_refill(struct rail *r, struct rail_queue *q);

/* rail_session.c */
void rail_session_add(struct rail *r, struct rail_session *s, uint32_t lacks);
void rail_session_start(struct rail *r, struct rail_session *s, uint64_t now);
void rail_session_up(struct rail *r, struct rail_session *s, struct rail_conn *c, uint32_t lacks);
/* value as in RAIL_DRAIN. */
void rail_session_down(struct rail *r, struct rail_session *s, uint32_t value);
void rail_session_remove(struct rail *r, struct rail_session *s, uint32_t reason);
void rail_session_tick(struct rail *r, struct rail_session *s, uint64_t now);
/* The next tick would judge that a probe has missed its deadline. */
bool rail_session_overdue(const struct rail_session *s, uint64_t now);
void rail_session_reply(struct rail *r, struct rail_session *s, uint64_t seq, uint64_t now);
/* The peer has heard our keep-alive. */
void rail_session_alive(struct rail *r, struct rail_session *s, uint64_t seq);
/* The work request of a probe completed: status is enum ibv_wc_status. */
void rail_session_sent(struct rail *r, struct rail_session *s, uint64_t seq,
		       enum ibv_wc_status status, uint64_t now);
