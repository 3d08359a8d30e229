/* The rail thread's logic: post, poll, timers, echo. It never calls what can block: no rdma_cm, no
 * create, modify or destroy, no file, no allocation. Time and clock come from outside, so that the
 * same code runs in the worker's thread and in tests.
 *
 * Memory: control allocates conns and sessions and lends them by ATTACH and ADD; the rail gives
 * them back by FORGOTTEN and REMOVED. Between those the rail alone touches what is below
 * "the rail's own". */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include "probes/timer_heap.h"
#include "probes/wire.h"
#include "probes/wish.h"

struct rail;
struct spsc;
struct table;

#define ECHO_BOUND 4 /* unanswered SENDs per session: a frozen peer's SRQ is not filled by us */
#define TX_DEPTH 7   /* send queue entries asked for; one is kept for the marker */
#define TX_SLOTS (TX_DEPTH - 1) /* buffers to send from; the marker needs none */
#define TX_FIFO 8		/* a ring for TX_DEPTH requests */
#define RX_PER_QP 8	/* receives of a QP without SRQ: HELLO, goodbye, ECHO_BOUND, some more */
#define TX_SLOT_MIN 512 /* a HELLO fits */
#define MARKER_WR_ID 0xDEADBEEFDEADBEEFULL
#define MEDIAN_LEN 15 /* round trips that the suspicion of a retransmission looks back on */
#define SELF_DELAY_NS (10 * NSEC_PER_MSEC) /* own lateness that spoils a round trip */

enum conn_role { CONN_ACTIVE, CONN_PASSIVE };

/* Registered memory of one connection. */
struct conn_memory {
	uint8_t *tx;   /* TX_SLOTS x tx_size */
	uint8_t *sink; /* what READs bring, what WRITEs take, what atomics found */
	uint8_t *rx;   /* RX_PER_QP x rx_size; NULL with an SRQ */
	uint32_t tx_size, sink_size, rx_size;
	uint32_t lkey, sink_lkey;
};

enum tx_kind { TX_HELLO, TX_PROBE, TX_REPLY, TX_GOODBYE, TX_KEEPALIVE, TX_NUDGE, TX_MARKER };

struct tx_record {
	uint64_t wr_id;
	uint8_t kind; /* enum tx_kind */
	uint8_t op;   /* TX_PROBE */
	uint8_t slot; /* TX_SLOTS: none */
};

struct rail_session;

struct rail_conn {
	/* by control, before ATTACH */
	struct ibv_qp *qp;
	uint32_t qpn;
	enum conn_role role;
	struct conn_memory mem;
	uint32_t max_inline;
	uint32_t tx_depth; /* of the send queue, at most TX_DEPTH */
	uint32_t rx_depth; /* of the receive queue; 0 with an SRQ */
	void *owner;
	uint8_t hello_out[WIRE_MAX_HELLO]; /* to be sent by SEND_HELLO */
	uint32_t hello_out_len;
	uint8_t auth_out[WIRE_MAX_AUTH]; /* to be sent by SEND_AUTH */
	uint32_t auth_out_len;
	uint8_t *hello_raw; /* WIRE_MAX_HELLO bytes for the HELLO as it came; NULL: not wanted */

	/* read by control after NOTE_AUTH, which comes once too: a CHALLENGE's or PROOF's body */
	uint8_t auth_in[WIRE_MAC_LEN];
	uint32_t refused_why; /* after NOTE_REFUSED: enum wire_reject */
	uint32_t hello_raw_len;

	/* read by control after NOTE_HELLO; the rail takes one HELLO per connection only */
	struct wire_hello hello_in;

	/* When the peer last sent anything: one word, written by the rail, read by control. */
	_Atomic uint64_t heard_ns;

	/* the rail's own */
	struct rail_session *session;
	uint64_t sent_ns;		/* our last SEND */
	struct tx_record fifo[TX_FIFO]; /* RC completes in order */
	uint32_t fifo_head, fifo_len;
	uint32_t slots_used;  /* bit per tx slot */
	uint32_t unsignalled; /* posted last, whose completions do not come */
	uint32_t rx_out;      /* bit per buffer that the receive queue has; at first control's */
	/* Each is told to control once, however often the peer repeats itself. */
	bool hello_seen, auth_seen, refusal_seen, goodbye_seen, failed;
	bool draining, marker_posted, marker_told;
};

struct echo_slot {
	uint64_t seq; /* 0: free */
	uint64_t posted_ns, deadline_ns;
	bool failed; /* by its deadline: a reply now is late */
	bool self_delayed;
	bool keepalive; /* in no books; counts as an unanswered SEND, for it takes a receive there
			 */
};

/* The one requester work request of a QP. */
struct probe_wr {
	uint64_t seq; /* 0: none outstanding */
	uint64_t posted_ns, deadline_ns;
	enum op op;
	bool failed, self_delayed;
};

struct median {
	uint64_t value[MEDIAN_LEN];
	uint32_t n, at;
};

struct rail_session {
	/* by control, before ADD */
	uint64_t id;
	uint32_t row, rail_index, class_index;
	bool loopback;	   /* to our own rail: its round trips are not the rail's */
	uint64_t key_hash; /* of the names: the phase */
	struct wire_region pattern, scratch; /* by UP */
	uint64_t keepalive_ns;		     /* by UP: a message at least so often; 0: none */

	/* the rail's own */
	struct session_books books;
	struct rail_conn *conn; /* NULL: not up */
	struct timer_node timer;
	uint64_t next_due[OP_COUNT];
	uint64_t turn[OP_COUNT]; /* of the budget */
	uint64_t demand;	 /* in the budget: 0 unless up */
	struct echo_slot echo[ECHO_BOUND];
	struct probe_wr wr;
	struct median median[STREAM_COUNT];
	/* BOOKS_* that changed since the last publication; in the one before it */
	uint32_t dirty, was_dirty;
	uint32_t lacks; /* bit per op that is not run on this session, whatever is configured */
	uint64_t deadline_ns; /* no probe that is out misses its own before that */
	uint64_t nudged_ns;   /* last asked whether the peer's NIC is there */
	uint64_t free_ns;     /* when the QP last became free */
	bool waiting;	      /* something is due, and waits for that */
	bool started; /* instants are booked: since it first was up, or first failed to connect */
};

/* Post the receives of a QP without SRQ that are not posted: by control before ATTACH, from then on
 * by the rail. 0 or a positive errno. */
int rail_conn_fill(struct rail_conn *c);

/* Receive buffers of SRQs: entry i of the arrays below is posted with wr_id RX_TAG | i. */
#define RX_TAG 0x5200000000000000ULL
struct rx_buffers {
	uint32_t size; /* bytes each, also where the device has no SRQ */
	uint8_t **address;
	uint32_t *lkey;
};

/* A completion queue with the SRQ of the QPs on it, whose buffers are rx_len from rx_first on. */
struct rail_queues {
	struct ibv_cq *cq;
	struct ibv_srq *srq; /* NULL: the device has none */
	uint32_t rx_first, rx_len;
};
#define QUEUE_SETS_MAX 16

enum rail_cmd_type {
	RAIL_CONFIG,	 /* ops; value: probes a second */
	RAIL_ENDPOINT,	 /* channel, rx */
	RAIL_QUEUES,	 /* queues: one more to poll, the first has index 0 */
	RAIL_PORT,	 /* index: rail; value: up */
	RAIL_RECEIVES,	 /* index: queues; value: how many more of their buffers can be posted */
	RAIL_ADD,	 /* session; value: its lacks */
	RAIL_START,	 /* session: begin to book instants (first connect failed) */
	RAIL_REMOVE,	 /* session; value: enum abort_reason */
	RAIL_ATTACH,	 /* conn */
	RAIL_SEND_HELLO, /* conn: send conn->hello_out */
	RAIL_SEND_AUTH,	 /* conn: send conn->auth_out */
	RAIL_UP,	 /* conn, session: probe over it; value: its lacks from now on */
	RAIL_DRAIN, /* conn: no more probes; value: enum abort_reason, or FAIL_BASE + fail_reason */
	RAIL_GOODBYE, /* conn: tell the peer that we leave; value: enum wire_reject, why it is
			 refused */
	RAIL_MARK,    /* conn: QP is in error, post the marker */
	RAIL_FORGET,  /* conn: poll the CQs to empty, then never touch it again */
	RAIL_STOP,
};
#define FAIL_BASE 100u

struct rail_cmd {
	enum rail_cmd_type type;
	uint32_t index, value;
	struct rail_conn *conn;
	struct rail_session *session;
	union {
		struct op_config ops[OP_COUNT];
		struct {
			struct ibv_comp_channel *channel;
			struct rx_buffers rx;
		};
		struct rail_queues queues;
	};
};

enum rail_note_type {
	NOTE_HELLO,	   /* conn: hello_in is valid */
	NOTE_AUTH,	   /* conn: auth_in is valid */
	NOTE_REFUSED,	   /* conn: refused_why is valid */
	NOTE_FAILED,	   /* conn: first error completion; status, vendor_err, op */
	NOTE_GOODBYE,	   /* conn: the peer leaves in good order */
	NOTE_GOODBYE_SENT, /* conn: ours is on the other side, or never will be */
	NOTE_MARKER,	   /* conn: marker flushed, all sends accounted for */
	NOTE_FORGOTTEN,	   /* conn is control's again */
	NOTE_REMOVED,	   /* session is control's again, its row final */
	NOTE_ATTENTION,	   /* session: a miss or a recovery */
	NOTE_CORRUPT,	   /* session: a READ succeeded with other data than the pattern; damage */
	NOTE_CQ_ERROR,	   /* polling failed; status: errno */
};

struct rail_note {
	enum rail_note_type type;
	uint32_t status, vendor_err, op;
	struct wire_damage damage;
	struct rail_conn *conn;
	struct rail_session *session;
};

struct rail_params {
	struct table *table;
	struct spsc *commands; /* of struct rail_cmd; the rail consumes */
	struct spsc *notes;    /* of struct rail_note; the rail produces */
	uint32_t max_conns, max_sessions, max_receives;
	uint64_t (*now_ns)(void);
	uint64_t (*wall_ns)(void);
};

struct rail *rail_new(const struct rail_params *p); /* NULL with errno */
void rail_free(struct rail *r);
/* One round: commands, completions, timers. Returns when it wants to run again (now_ns() scale),
 * TIMER_NEVER without timers, 0 after RAIL_STOP. */
uint64_t rail_step(struct rail *r);
/* Arm the CQs after a step that found them empty; true when completions may have come meanwhile and
 * another step is due. */
bool rail_arm(struct rail *r);
/* Sleep until wake_ns, a completion or a command, but never longer than a heartbeat may take. */
void rail_wait(struct rail *r, uint64_t wake_ns);
/* Thread body: steps and waits until RAIL_STOP. */
void rail_run(struct rail *r);
