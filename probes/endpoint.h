/* The verbs objects of a device: two contexts, PD, CQs, SRQs, registered memory. Used by the
 * control thread only; the rail gets what it needs by pointers that live as long as the endpoint.
 *
 * Two contexts: our own for questions and port events, librdmacm's (known once an id is bound to
 * an address of the device) for everything that QPs hang on, because a QP's PD must be of the
 * context of its id. Both close with the process (librdmacm never closes its own once the last
 * device is gone). */
#pragma once
#include <infiniband/verbs.h>
#include "probes/queue_sets.h"

struct endpoint;

struct endpoint_limits {
	uint32_t qps;	    /* active and passive */
	uint32_t send_size; /* largest message we send */
	uint32_t sink_size; /* largest READ, WRITE or atomic */
};

struct endpoint *endpoint_new(const struct endpoint_limits *l);
/* Open our own context. 0, or -errno with a sentence in err that says what to do. */
int endpoint_open_device(struct endpoint *e, const char *device, char *err, size_t errlen);
/* Make PD, the first set of queues, pattern and scratch page on librdmacm's context. */
int endpoint_open(struct endpoint *e, struct ibv_context *verbs, char *err, size_t errlen);
/* Frees what can be freed without asking the device; the process's exit does the rest. */
void endpoint_free(struct endpoint *e);

struct ibv_context *endpoint_own(const struct endpoint *e);   /* NULL before open_device */
struct ibv_context *endpoint_verbs(const struct endpoint *e); /* NULL before open */
const struct ibv_device_attr *endpoint_attr(const struct endpoint *e);
struct ibv_pd *endpoint_pd(const struct endpoint *e);
bool endpoint_has_srq(const struct endpoint *e);
/* How many QPs its queues can have room for: an overflow would break them all. */
uint32_t endpoint_qps(const struct endpoint *e);
uint32_t endpoint_sets(const struct endpoint *e); /* of queues, so far */
const struct queue_set *endpoint_set(const struct endpoint *e, uint32_t set);
/* A place for one QP, in a set that is new where those that exist are full: 0 or -errno, also when
 * none can be made; those that exist are as before. */
int endpoint_take_place(struct endpoint *e, uint32_t *ret_set);
void endpoint_give_place(struct endpoint *e, uint32_t set); /* its QP is destroyed */
struct ibv_comp_channel *endpoint_channel(const struct endpoint *e);
const struct rx_buffers *endpoint_rx(const struct endpoint *e);
void endpoint_pattern(const struct endpoint *e, struct wire_region *ret);
void endpoint_scratch(const struct endpoint *e, struct wire_region *ret, bool *ret_atomics);
/* What our side of an operation lacks; by the device's attributes. */
enum op_lack endpoint_op_lack(const struct endpoint *e, enum op op);

/* Have receive buffers ready for the places of the set that are taken; ret_more is how many more
 * the rail may post now, set also on failure. Without SRQ there is nothing to do: each QP has its
 * own. SRQ depth >= ECHO_BOUND x connections + margin, or frozen peers starve others. */
int endpoint_receives(struct endpoint *e, uint32_t set, uint32_t *ret_more);
/* Arm the SRQs' limits (one shot). */
void endpoint_arm_limits(struct endpoint *e);
/* Registered memory of one connection; 0 or -errno (-ENOMEM: see endpoint_memlock_hint). */
int endpoint_take_memory(struct endpoint *e, struct conn_memory *ret);
void endpoint_give_memory(struct endpoint *e, const struct conn_memory *m);

/* "...: RLIMIT_MEMLOCK is 64 KiB: set LimitMEMLOCK= in the unit" for ENOMEM, else strerror. */
void endpoint_error_text(const char *what, int err, char *out, size_t len);
