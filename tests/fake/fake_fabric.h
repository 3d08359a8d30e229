/* A fabric in one process, for tests: takes the place of libibverbs and librdmacm at link time.
 * Devices with addresses, rdma_cm between them, RC queue pairs, shared receive queues, completion
 * and event channels with real descriptors; every call can be told to fail, every path to drop or
 * delay, every device to misbehave as real ones are known to.
 *
 * It is as strict as hardware is unforgiving: what a driver would answer with a leak, a hang or a
 * corrupted ring (destroying what is in use, an event not acknowledged, memory not registered, a
 * queue overrun) aborts the test with a sentence.
 *
 * Nothing happens by itself: fabric_step() runs what is due by the clock that fabric_begin() was
 * given, which may be a virtual one. All of it may be called from any thread. */
#pragma once
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define FABRIC_DEVICES 8
#define FABRIC_GIDS 300
#define FABRIC_DELAY_NS 5000 /* one way, until told otherwise */

struct fake_device;

/* Calls that can be told to fail. */
enum fabric_call {
	CALL_GET_DEVICE_LIST,
	CALL_OPEN_DEVICE,
	CALL_QUERY_DEVICE,
	CALL_QUERY_PORT,
	CALL_QUERY_GID_TABLE,
	CALL_ALLOC_PD,
	CALL_CREATE_COMP_CHANNEL,
	CALL_CREATE_CQ,
	CALL_CREATE_SRQ,
	CALL_MODIFY_SRQ,
	CALL_REG_MR,
	CALL_CREATE_QP,
	CALL_QUERY_QP,
	CALL_MODIFY_QP,
	CALL_POST_SEND,
	CALL_POST_SRQ_RECV,
	CALL_POST_RECV,
	CALL_POLL_CQ,
	CALL_GET_ASYNC_EVENT,
	CALL_CREATE_EVENT_CHANNEL,
	CALL_CREATE_ID,
	CALL_BIND_ADDR,
	CALL_LISTEN,
	CALL_SET_OPTION,
	CALL_RESOLVE_ADDR,
	CALL_RESOLVE_ROUTE,
	CALL_CONNECT,
	CALL_CONNECT_RESPONSE, /* INIT->RTR->RTS inside rdma_get_cm_event() */
	CALL_ACCEPT,
	CALL_REJECT,
	CALL_DISCONNECT,
	CALL_COUNT,
};

enum fabric_object {
	OBJECT_CONTEXT, /* by ibv_open_device(); librdmacm's own is never closed, as in reality */
	OBJECT_PD,
	OBJECT_COMP_CHANNEL,
	OBJECT_CQ,
	OBJECT_SRQ,
	OBJECT_MR,
	OBJECT_QP,
	OBJECT_EVENT_CHANNEL,
	OBJECT_ID,
	OBJECT_CM_EVENT, /* got and to be acknowledged */
	OBJECT_COUNT,
};

enum last_wqe { LAST_WQE_ONCE, LAST_WQE_NEVER, LAST_WQE_TWICE, LAST_WQE_LATE };

/* How a device behaves. All zero is a good one. */
struct fake_knobs {
	enum last_wqe last_wqe;
	uint64_t last_wqe_late_ns;
	uint32_t max_inline;	/* 0: as asked for; else more is refused */
	int max_cqe, max_qp_wr; /* 0: many */
	int max_cq, max_srq;	/* 0: many */
	bool no_srq;		/* irdma */
	bool iwarp;		/* a READ writes into the requester's memory */
	bool lose_receives;	/* those of a QP in error never come back (E810) */
	bool no_atomics;	/* irdma, siw */
	bool no_reads_out;	/* max_qp_init_rd_atom 0: it cannot begin a READ */
	bool no_reads_in;	/* max_qp_rd_atom 0: it serves none */
	uint8_t hello_without;	/* type of a TLV that its HELLOs leave out, as older daemons */
	bool no_link_layer;	/* EFA */
	bool hardware;		/* a port that is down retries, instead of failing at once as rxe */
	bool lose_marker;	/* a work request posted on a QP in error never comes back */
	bool corrupt_reads;	/* READs from this device arrive with one bit flipped */
	bool shift_reads;	/* ... one byte off */
	bool empty_reads;  /* ... not at all, and succeed: rxe of 6.1 after a response that could
			    * not leave (rxe_resp.c read_reply, rxe_comp.c COMPST_ERROR) */
	bool refuse_reads; /* as if the region were gone */
	bool no_receives;  /* its SRQ looks empty to peers */
	bool lose_events;  /* completions raise none */
	bool double_completions;      /* every send completion comes twice */
	bool lose_rtu;		      /* its RTUs are lost: the peer's ESTABLISHED waits */
	uint64_t closes_after_ns;     /* it ends what it accepted after that; 0: it does not */
	bool garbles_sends;	      /* what it sends arrives as nonsense */
	bool hangs_resolving;	      /* of its addresses no event tells */
	bool hangs_routing;	      /* nor of its routes */
	bool deaf_cm;		      /* requests to it get no answer */
	bool prefer_v1;		      /* its ids take the RoCE v1 GID of an address that has both */
	bool no_verbs;		      /* ADDR_RESOLVED without a device (node GUID of zero) */
	struct fake_device *route_to; /* ADDR_RESOLVED over that device instead */
};

/* One way from one device to another. */
struct fabric_path {
	uint64_t delay_ns;
	bool drop;
	uint32_t loss_permille;
	uint64_t jitter_ns; /* up to so much more */
};

void fabric_begin(uint64_t (*now_ns)(void));
/* Loss and jitter are drawn from this number. */
void fabric_seed(uint64_t seed);
/* Every object that was made is gone, or the test ends here. */
void fabric_end(void);
/* Run what is due; when the next is, UINT64_MAX: nothing. */
uint64_t fabric_step(void);
uint64_t fabric_when(void); /* the latter alone */

/* A device with one active port; address may be NULL. */
struct fake_device *fabric_add_device(const char *name, const char *address);
/* The calling thread works for dev: failures told for dev concern its calls. */
void fabric_use(struct fake_device *dev);
/* The same, for one of several processes that have the device open: each has a context of
 * librdmacm's own. Without it all are one process. */
void fabric_use_process(struct fake_device *dev, uint64_t process);
/* A process has ended, and everything that it had made is destroyed. */
void fabric_process_ends(struct fake_device *dev, uint64_t process);
/* IPv4 or IPv6; the GID's index. GID_CHANGE is raised. */
unsigned fabric_add_address(struct fake_device *dev, const char *address, enum ibv_gid_type type);
void fabric_remove_address(struct fake_device *dev, const char *address);
void fabric_set_port(struct fake_device *dev, bool active);
void fabric_set_knobs(struct fake_device *dev, const struct fake_knobs *knobs);
void fabric_set_path(struct fake_device *from, struct fake_device *to,
		     const struct fabric_path *path);
/* Nothing leaves it and nothing reaches it: a host that lost its power. */
void fabric_set_dark(struct fake_device *dev, bool dark);
/* Verbs answer EIO; with events: DEVICE_FATAL, and DEVICE_REMOVAL to every bound id. */
void fabric_remove_device(struct fake_device *dev, bool events);
/* A device of that name is there again; what was open stays dead. */
void fabric_return_device(struct fake_device *dev);
/* Polling its descriptor says POLLERR: its device was removed. */
bool fabric_hangs_up(const struct ibv_context *ctx);

/* The nth of these calls from now on (1: the next) fails with err, and times - 1 after it. */
void fabric_fail(struct fake_device *dev, enum fabric_call call, unsigned nth, unsigned times,
		 int err);
unsigned fabric_calls(const struct fake_device *dev, enum fabric_call call); /* so far */

/* The next address, route or connect of dev gets this for an answer: ADDR_ERROR, ROUTE_ERROR,
 * REJECTED, UNREACHABLE or CONNECT_ERROR; so many times. */
void fabric_answer(struct fake_device *dev, enum rdma_cm_event_type event, int status,
		   unsigned times, const void *data, uint8_t len);
/* Every connected id of dev gets the event. */
void fabric_cm_event(struct fake_device *dev, enum rdma_cm_event_type event, int status);
/* A port or device event on all contexts; with a qpn one of that QP. */
void fabric_async_event(struct fake_device *dev, enum ibv_event_type event, uint32_t qpn);
/* The QP goes to error by itself: what was posted on it is flushed, no event tells. */
void fabric_break_qp(struct fake_device *dev, uint32_t qpn);
/* A completion out of nowhere on the device's CQ. */
void fabric_complete(struct fake_device *dev, const struct ibv_wc *wc);
/* A message from nowhere arrives on a QP: takes a receive, if there is one. */
bool fabric_deliver(struct fake_device *dev, uint32_t qpn, const void *data, uint32_t len);
/* A connection request from a stranger's address arrives at dev; the answer is dropped. */
void fabric_request(struct fake_device *dev, const char *from, const char *to, const uint8_t *data,
		    uint8_t len);

unsigned fabric_objects(enum fabric_object kind);	   /* alive now */
uint32_t fabric_srq_posted(const struct fake_device *dev); /* receives that wait */
/* Completions of requests so far: each may cost a wake-up. */
uint64_t fabric_send_completions(const struct fake_device *dev);
uint64_t fabric_srq_taken(const struct fake_device *dev); /* consumed so far */
/* One-sided requests that it served. */
uint64_t fabric_reads(const struct fake_device *dev);
uint64_t fabric_writes(const struct fake_device *dev);
uint64_t fabric_atomics(const struct fake_device *dev);
uint32_t fabric_qps(const struct fake_device *dev);
bool fabric_has_qp(const struct fake_device *dev, uint32_t qpn);
uint32_t fabric_last_qpn(const struct fake_device *dev); /* made last */
/* How many requests it rejected, and the private data of the last. */
unsigned fabric_rejects(const struct fake_device *dev, uint8_t *ret_data, size_t len);
uint8_t fabric_tos(const struct fake_device *dev); /* of the last connect; 0: not set */
