#include "probes/queue_sets.h"

#include <errno.h>

#define FIRST_PLACES 32
#define RX_SPARE 16 /* of each set: drivers lose one now and then */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Completions that a QP may have outstanding besides its SRQ's. */
static uint32_t cqe_per_place(const struct queue_sets *s)
{
	return TX_DEPTH + 1 + (s->has_srq ? RX_PER_PLACE : RX_PER_QP);
}

/* How many places fit into a queue of that depth. */
static uint32_t fitting(int depth, uint32_t per_place)
{
	return depth > RX_SPARE ? ((uint32_t)depth - RX_SPARE) / per_place : 0;
}

/* Places of set i when those before it have so many. The last that a device may have takes the
 * rest. */
static uint32_t places_of(const struct queue_sets *s, uint32_t i, uint32_t before, uint32_t qps)
{
	uint32_t want = i ? before : FIRST_PLACES, rest = qps - before;

	if (i + 1 == s->n_max)
		want = rest;
	return min_u32(min_u32(want, rest), s->set_max);
}

void queue_sets_plan(struct queue_sets *s, const struct ibv_device_attr *attr, uint32_t qps)
{
	*s = (struct queue_sets){.has_srq = attr->max_srq > 0};
	s->n_max = min_u32(QUEUE_SETS_MAX, attr->max_cq > 0 ? (uint32_t)attr->max_cq : 1);
	s->set_max = fitting(attr->max_cqe, cqe_per_place(s));
	if (s->has_srq) {
		s->n_max = min_u32(s->n_max, (uint32_t)attr->max_srq);
		s->set_max = min_u32(s->set_max, fitting(attr->max_srq_wr, RX_PER_PLACE));
	}
	for (uint32_t i = 0; i < s->n_max; i++)
		s->qps += places_of(s, i, s->qps, qps);
}

uint32_t queue_sets_receives(uint32_t qps)
{
	return RX_PER_PLACE * qps + RX_SPARE * QUEUE_SETS_MAX;
}

int queue_sets_add(struct queue_sets *s, struct ibv_pd *pd, struct ibv_comp_channel *channel,
		   const char **ret_what)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_sge = 1}};
	struct queue_set new = {0};

	*ret_what = "no completion queue";
	for (uint32_t i = 0; i < s->n; i++) {
		new.places += s->set[i].places;
		new.q.rx_first += s->set[i].q.rx_len;
	}
	new.places = s->n < s->n_max ? places_of(s, s->n, new.places, s->qps) : 0;
	if (!new.places)
		return -ENOSPC;
	errno = 0;
	new.q.cq = ibv_create_cq(pd->context, (int)(new.places *cqe_per_place(s) + RX_SPARE), NULL,
				 channel, 0);
	if (!new.q.cq)
		return errno ? -errno : -EIO;
	if (s->has_srq) {
		*ret_what = "no shared receive queue";
		new.q.rx_len = new.places *RX_PER_PLACE + RX_SPARE;
		attr.attr.max_wr = new.q.rx_len;
		new.q.srq = ibv_create_srq(pd, &attr);
		if (!new.q.srq) {
			int err = errno ? errno : EIO;

			ibv_destroy_cq(new.q.cq);
			return -err;
		}
	}
	s->set[s->n++] = new;
	return 0;
}

struct queue_set *queue_sets_free_place(struct queue_sets *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->set[i].used < s->set[i].places)
			return &s->set[i];
	return NULL;
}

void queue_sets_free(struct queue_sets *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->set[i].q.srq)
			ibv_destroy_srq(s->set[i].q.srq);
		ibv_destroy_cq(s->set[i].q.cq);
	}
	s->n = 0;
}
