/* Receive buffers: shared queues of the device, or where it has none (irdma, siw) a queue of
 * each QP. Posted ahead, and again as soon as what they brought was read. */
#include "probes/rail_priv.h"

static int post_own(struct rail_conn *c, uint32_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(c->mem.rx + (size_t)i * c->mem.rx_size),
		.length = c->mem.rx_size,
		.lkey = c->mem.lkey,
	};
	struct ibv_recv_wr *bad, wr = {.wr_id = RX_TAG | i, .sg_list = &sge, .num_sge = 1};

	return ibv_post_recv(c->qp, &wr, &bad);
}

int rail_conn_fill(struct rail_conn *c)
{
	for (uint32_t i = 0; i < c->rx_depth; i++) {
		int err;

		if (c->rx_out >> i & 1u)
			continue;
		err = post_own(c, i);
		if (err)
			return err;
		c->rx_out |= 1u << i;
	}
	return 0;
}

static const uint8_t *take_own(struct rail_conn *c, uint32_t i)
{
	if (!c || i >= c->rx_depth || !(c->rx_out >> i & 1u))
		return NULL;
	c->rx_out &= ~(1u << i);
	return c->mem.rx + (size_t)i * c->mem.rx_size;
}

const uint8_t *rail_rx_take(struct rail *r, struct rail_queue *q, struct rail_conn *c,
			    uint64_t wr_id)
{
	uint64_t i = wr_id & ~RX_TAG;

	if (!q->q.srq)
		return take_own(c, (uint32_t)i);
	if (i < q->q.rx_first || i - q->q.rx_first >= q->rx_ready || !r->rx_out[i])
		return NULL;
	r->rx_out[i] = false;
	q->rx_posted--;
	r->rx_free[q->q.rx_first + q->rx_free_len++] = (uint32_t)i;
	return r->rx.address[i];
}

void rail_rx_more(struct rail *r, struct rail_queue *q, uint32_t more)
{
	for (uint32_t i = 0; i < more && q->rx_ready < q->q.rx_len; i++)
		r->rx_free[q->q.rx_first + q->rx_free_len++] = q->q.rx_first + q->rx_ready++;
	rail_rx_refill(r, q);
}

void rail_rx_refill(struct rail *r, struct rail_queue *q)
{
	while (q->rx_free_len) {
		uint32_t i = r->rx_free[q->q.rx_first + q->rx_free_len - 1];
		struct ibv_sge sge = {
			.addr = (uintptr_t)r->rx.address[i],
			.length = r->rx.size,
			.lkey = r->rx.lkey[i],
		};
		struct ibv_recv_wr *bad, wr = {.wr_id = RX_TAG | i, .sg_list = &sge, .num_sge = 1};

		if (ibv_post_srq_recv(q->q.srq, &wr, &bad))
			return; /* stays on the stack: tried again at the next completion */
		r->rx_out[i] = true;
		q->rx_free_len--;
		q->rx_posted++;
	}
}
