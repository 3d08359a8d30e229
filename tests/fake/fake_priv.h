/* Inside of the fake: one lock over everything, one queue of what is to happen. */
#pragma once
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "fake_fabric.h"

#define CM_DATA_MAX 200
#define REQ_DATA 56 /* what the CM leaves of a REQ, a REP and a REJ */
#define REP_DATA 196
#define REJ_DATA 148

/* A descriptor that is readable while the queue behind it is not empty. */
struct signal {
	int fd;
	bool raised;
};

struct fake_wr {
	struct fake_wr *next;
	uint64_t uid, wr_id;
	enum ibv_wr_opcode opcode;
	struct ibv_sge sge; /* length 0: none */
	uint8_t *payload;   /* inline data, or what a READ brings */
	uint64_t remote_addr, compare_add;
	uint32_t rkey;
	uint32_t attempt, rnr_attempt;
	bool delivered, signalled;
};

struct fake_cqe {
	struct ibv_wc wc;
	struct fake_cqe *next;
};

struct fake_channel {
	struct ibv_comp_channel channel; /* first */
	struct signal signal;
	struct fake_cq *pending[64];
	unsigned n_pending, cqs;
};

struct fake_cq {
	struct ibv_cq cq; /* first */
	struct fake_device *dev;
	struct fake_cqe *head, **tail;
	unsigned n, qps, got, acked;
	bool armed;
};

struct fake_recv {
	uint64_t wr_id;
	struct ibv_sge sge;
};

struct fake_queue {
	struct fake_recv *ring;
	uint32_t head, n, max;
};

struct fake_srq {
	struct ibv_srq srq; /* first */
	struct fake_device *dev;
	struct fake_queue queue;
	uint32_t limit;
	unsigned qps;
	struct fake_srq *next; /* of the device */
};

struct fake_pd {
	struct ibv_pd pd; /* first */
	struct fake_device *dev;
	unsigned users;
};

struct fake_mr {
	struct ibv_mr mr; /* first */
	struct fake_mr *next;
	struct fake_device *dev;
	int access;
};

struct fake_qp {
	struct ibv_qp qp; /* first */
	struct fake_qp *next;
	struct fake_device *dev, *peer;
	enum ibv_qp_state state;
	struct fake_queue receives; /* without SRQ */
	uint32_t peer_qpn, max_send, max_inline, n_send;
	uint32_t unsignalled; /* done, but their places are free only with the next completion */
	uint8_t ack_timeout, retry_count, rnr_retry;
	uint32_t sgid_index;
	uint8_t dgid[16];
	struct fake_wr *head, **tail;
	uint64_t running;    /* uid of the head that is under way */
	bool no_reads;	     /* without responder resources: serves no READ, no atomic */
	bool no_reads_out;   /* without initiator depth */
	unsigned got, acked; /* async events */
};

struct fake_async {
	struct fake_async *next;
	struct ibv_async_event ev;
};

struct fake_context {
	struct ibv_context ctx; /* first */
	struct fake_context *next;
	struct fake_device *dev;
	struct signal signal;
	struct fake_async *head, **tail;
	unsigned objects;
	bool cm; /* librdmacm's own of that process */
	uint64_t process;
	uint32_t life; /* of the device, when it was opened */
};

struct fake_gid {
	bool present;
	enum ibv_gid_type type;
	struct in6_addr addr;
};

struct fake_failure {
	unsigned calls, at, times; /* at: call number that fails first; 0: none */
	int err;
};

struct fake_answer {
	unsigned times;
	enum rdma_cm_event_type event;
	int status;
	uint8_t data[CM_DATA_MAX], len;
};

struct fake_device {
	struct ibv_device dev; /* first */
	unsigned index;
	struct fake_knobs knobs;
	bool port_active, dark, removed;
	struct fake_gid gid[FABRIC_GIDS];
	unsigned n_gids;
	uint32_t life; /* how often it was removed */
	struct fake_context *contexts;
	struct fake_cq *cq;    /* the last that was made */
	struct fake_srq *srqs; /* the last that was made is the first */
	unsigned n_cqs, n_srqs;
	struct fake_mr *mrs;
	struct fake_qp *qps;
	uint32_t n_qps, next_qpn;
	uint64_t srq_taken, send_completions;
	uint64_t reads, writes, atomics; /* served */
	struct fake_answer answer;
	uint8_t tos;
	unsigned rejects;
	uint8_t rejected[REJ_DATA];
};

enum id_state {
	ID_NEW,
	ID_BOUND,
	ID_LISTENING,
	ID_ADDR,
	ID_ROUTE,
	ID_CONNECTING, /* REQ sent */
	ID_REQUESTED,  /* REQ got */
	ID_ACCEPTED,   /* REP sent */
	ID_CONNECTED,
	ID_CLOSED,
};

struct fake_event {
	struct rdma_cm_event ev; /* first */
	struct fake_event *next;
	struct fake_id *id, *listener;
	uint32_t peer_qpn; /* CONNECT_RESPONSE */
	uint8_t data[256];
};

struct fake_event_channel {
	struct rdma_event_channel channel; /* first */
	struct signal signal;
	struct fake_event *head, **tail;
	unsigned ids;
};

struct fake_id {
	struct rdma_cm_id id; /* first; public members are touched by the owner's thread only */
	struct fake_id *next;
	uint64_t uid, peer;
	struct fake_event_channel *channel;
	struct fake_device *dev, *resolved;
	enum id_state state;
	bool has_ack_timeout, doomed;
	uint8_t tos, ack_timeout, retry_count, rnr_retry, peer_rnr_retry;
	uint8_t initiator_depth, responder_resources;
	struct in6_addr src, dst;
	uint16_t src_port, dst_port;
	uint32_t qpn; /* 0: none */
	unsigned unacked;
};

struct action {
	struct action *next; /* while it is not in use */
	uint64_t at_ns, seq;
	void (*run)(const struct action *a);
	struct fake_device *dev;
	uint32_t qpn, number;
	uint64_t uid, uid2;
	int status;
	enum rdma_cm_event_type event;
	uint8_t data[CM_DATA_MAX], len;
};

struct fabric {
	pthread_mutex_t lock;
	uint64_t (*now_ns)(void);
	struct fake_device device[FABRIC_DEVICES];
	unsigned n_devices;
	struct fabric_path path[FABRIC_DEVICES][FABRIC_DEVICES];
	struct fake_failure failure[FABRIC_DEVICES + 1][CALL_COUNT]; /* last: nobody's thread */
	unsigned objects[OBJECT_COUNT];
	unsigned async_unacked; /* but those of QPs, which count their own */
	struct action **queue;	/* a heap by instant, then in order */
	size_t n_queue, queue_cap;
	struct action *spare;
	uint64_t next_action;
	uint64_t random;
	struct fake_id *ids;
	uint64_t next_uid;
	uint32_t next_key;
	uint16_t next_port;
};

extern struct fabric fabric;

void fake_lock(void);
void fake_unlock(void);
void fake_leave(const int *unused);
/* Whose calls these are: see fabric_use_process(). */
uint64_t fake_process(void);
/* true so many times in a thousand. */
bool fake_chance(uint32_t permille);
/* Holds the lock until the end of the block. */
#define FAKE_GUARD const int guard __attribute__((cleanup(fake_leave), unused)) = (fake_lock(), 0)
/* Abort with a sentence unless ok. */
void fake_check(bool ok, const char *sentence);
/* Counts the call; the errno with which it is to fail, or 0. */
int fake_call(enum fabric_call call);
void fake_made(enum fabric_object kind);
void fake_gone(enum fabric_object kind);

int signal_open(struct signal *s);
void signal_close(struct signal *s);
void signal_set(struct signal *s, bool readable);
/* Reading an empty queue would block for ever: only a descriptor that does not block may. */
void signal_must_not_block(const struct signal *s);

/* A copy is queued. */
void fake_later(const struct action *a, uint64_t delay_ns);
uint64_t fake_delay(const struct fake_device *from, const struct fake_device *to);
bool fake_dropped(const struct fake_device *from, const struct fake_device *to);
struct fake_device *fake_device_of(const struct in6_addr *addr, unsigned *ret_gid);
struct in6_addr fake_parse(const char *address);

/* fake_verbs.c */
struct fake_context *fake_context_new(struct fake_device *dev);
void fake_context_free(struct fake_context *c);
/* librdmacm's context of the process that calls; made when it is not there yet. */
struct fake_context *fake_cm_context(struct fake_device *dev);
/* Its device was removed, and perhaps another came in its place. */
bool fake_context_dead(const struct ibv_context *ctx);
struct fake_mr *fake_mr_find(const struct fake_device *dev, uint32_t key, uint64_t addr,
			     size_t len);
void fake_raise(struct fake_context *c, const struct ibv_async_event *ev);
void fake_forget_qp_events(struct fake_context *c, const struct fake_qp *qp);

/* fake_qp.c: the operations that verbs reaches through the context */
int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void fake_push(struct fake_cq *cq, const struct ibv_wc *wc);
bool fake_receive(struct fake_qp *qp, const uint8_t *data, uint32_t len);
struct fake_qp *fake_qp_find(const struct fake_device *dev, uint32_t qpn);
bool fake_qp_fits(const struct fake_device *dev, const struct ibv_qp_init_attr *attr);
struct fake_qp *fake_qp_new(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void fake_qp_free(struct fake_qp *qp);
void fake_qp_connect(struct fake_qp *qp, const struct fake_id *id, struct fake_device *peer,
		     uint32_t peer_qpn);
void fake_qp_error(struct fake_qp *qp);
void fake_check_depths(const struct fake_device *dev, const struct rdma_conn_param *param);
void fake_qp_gone(struct fake_qp *qp); /* its device is: nothing comes back from it */

/* fake_cm.c */
void fake_cm_event(struct fake_id *id, enum rdma_cm_event_type event, int status,
		   const uint8_t *data, uint8_t len);
