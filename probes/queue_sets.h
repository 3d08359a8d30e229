/* Completion queues and shared receive queues, in sets: each has room for a number of QPs, and the
 * next is made when those before it are full, as large as all of them together. So a device pays
 * for the QPs that it has and not for those that it may have, and a round of polling asks few
 * queues. Making new ones is what every driver can: resizing is not (rxe's hangs or crashes in some
 * kernels, others have none). A set stays until the end: its queues are never destroyed under a
 * QP, and the rail never loses one. Used by the control thread only. */
#pragma once
#include <infiniband/verbs.h>
#include "probes/rail.h"

/* Receives of a QP on an SRQ: what may be unanswered, and a HELLO or a goodbye. */
#define RX_PER_PLACE (ECHO_BOUND + 1)

struct queue_set {
	struct rail_queues q;
	uint32_t places, used; /* QPs */
	uint32_t rx_ready;     /* receive buffers that exist */
};

struct queue_sets {
	struct queue_set set[QUEUE_SETS_MAX];
	uint32_t n;
	uint32_t qps;	  /* for how many there can be places */
	uint32_t n_max;	  /* sets */
	uint32_t set_max; /* places of one */
	bool has_srq;
};

/* What the device has room for, at most so many QPs. */
void queue_sets_plan(struct queue_sets *s, const struct ibv_device_attr *attr, uint32_t qps);
/* No set of so many QPs has more receives, all together. */
uint32_t queue_sets_receives(uint32_t qps);
/* Make the next set, before any place of it is taken: 0 or -errno, and nothing is left of it;
 * -ENOSPC when all are there. *ret_what: which queue failed. */
int queue_sets_add(struct queue_sets *s, struct ibv_pd *pd, struct ibv_comp_channel *channel,
		   const char **ret_what);
/* A set with a free place, the first one; NULL: all are full. */
struct queue_set *queue_sets_free_place(struct queue_sets *s);
/* Destroys the queues; no QP is left on them. */
void queue_sets_free(struct queue_sets *s);
