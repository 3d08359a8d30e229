/* Connections as the rail sees them: completions, echo, HELLO, drain marker. */
#include <errno.h>
#include <string.h>

#include "probes/qpmap.h"
#include "probes/rail_priv.h"
#include "probes/spsc.h"

#define POLL_BATCH 32
#define POLL_ROUNDS 64 /* then timers get their turn, however busy the CQ is */

void rail_note_conn(struct rail *r, enum rail_note_type type, struct rail_conn *c)
{
	/* The queue holds more notes than all connections can ever have outstanding. */
	spsc_push(r->p.notes, &(struct rail_note){.type = type, .conn = c});
}

void rail_conn_attach(struct rail *r, struct rail_conn *c)
{
	if (qpmap_get(r->conns, c->qpn) == c)
		return; /* its first message came before the command */
	if (qpmap_put(r->conns, c->qpn, c) < 0)
		c->failed = true; /* max_conns is control's own bound: cannot happen */
}

/* The CQ is polled before commands are read, so a peer's hello may be here while the word that its
 * connection exists still waits. Dropped, it would cost the whole attempt. */
static struct rail_conn *conn_of(struct rail *r, uint32_t qpn)
{
	struct rail_conn *c = qpmap_get(r->conns, qpn);
	struct rail_cmd cmd;

	for (size_t i = 0; !c && spsc_peek(r->p.commands, i, &cmd); i++)
		if (cmd.type == RAIL_ATTACH && cmd.conn->qpn == qpn) {
			c = cmd.conn;
			rail_conn_attach(r, c);
		}
	return c;
}

/* A free send buffer, or NULL. One send queue entry stays free for the marker. */
static uint8_t *take_slot(struct rail_conn *c, uint8_t *ret_slot)
{
	if (c->fifo_len + 1 >= c->tx_depth)
		return NULL;
	for (uint8_t i = 0; i < TX_SLOTS; i++)
		if (!(c->slots_used & (1u << i))) {
			*ret_slot = i;
			return c->mem.tx + (size_t)i * c->mem.tx_size;
		}
	return NULL;
}

/* That a reply was acknowledged is no news worth waking for: the next signalled request tells it
 * too. As many may wait for that as leave room for the replies that a peer can ask for at once. */
static bool needs_signal(const struct rail_conn *c, enum tx_kind kind)
{
	if (c->role == CONN_ACTIVE || (kind != TX_REPLY && kind != TX_KEEPALIVE))
		return true;
	return c->unsignalled + ECHO_BOUND + 1 >= c->tx_depth;
}

static int post(struct rail_conn *c, struct ibv_send_wr *wr, struct tx_record rec)
{
	bool signalled = needs_signal(c, (enum tx_kind)rec.kind);
	struct ibv_send_wr *bad;
	int err;

	wr->wr_id = rec.wr_id;
	if (signalled)
		wr->send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(c->qp, wr, &bad);
	if (err)
		return err;
	c->unsignalled = signalled ? 0 : c->unsignalled + 1;
	c->fifo[(c->fifo_head + c->fifo_len++) % TX_FIFO] = rec;
	if (rec.slot < TX_SLOTS)
		c->slots_used |= 1u << rec.slot;
	return 0;
}

static int post_bytes(struct rail *r, struct rail_conn *c, enum tx_kind kind, uint64_t wr_id,
		      uint8_t slot, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(c->mem.tx + (size_t)slot * c->mem.tx_size),
		.length = len,
		.lkey = c->mem.lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = len <= c->max_inline ? IBV_SEND_INLINE : 0,
	};

	c->sent_ns = r->poll_ns;
	return post(c, &wr,
		    (struct tx_record){.wr_id = wr_id ? wr_id : r->next_seq++,
				       .kind = (uint8_t)kind,
				       .op = OP_SEND,
				       .slot = slot});
}

static void failed(struct rail *r, struct rail_conn *c, uint32_t status, uint32_t vendor_err,
		   uint32_t op)
{
	if (c->failed)
		return; /* only the first error tells a cause; the rest is flushed by it */
	c->failed = true;
	if (c->draining)
		return;
	spsc_push(r->p.notes, &(struct rail_note){.type = NOTE_FAILED,
						  .conn = c,
						  .status = status,
						  .vendor_err = vendor_err,
						  .op = op});
}

static void send_early(struct rail *r, struct rail_conn *c, const uint8_t *data, uint32_t len)
{
	uint8_t slot;
	uint8_t *buf = take_slot(c, &slot);

	if (!buf || len > c->mem.tx_size) {
		failed(r, c, IBV_WC_GENERAL_ERR, 0, OP_SEND);
		return;
	}
	memcpy(buf, data, len);
	if (post_bytes(r, c, TX_HELLO, 0, slot, len))
		failed(r, c, IBV_WC_GENERAL_ERR, 0, OP_SEND);
}

void rail_conn_send_hello(struct rail *r, struct rail_conn *c)
{
	send_early(r, c, c->hello_out, c->hello_out_len);
}

void rail_conn_send_auth(struct rail *r, struct rail_conn *c)
{
	send_early(r, c, c->auth_out, c->auth_out_len);
}

void rail_conn_goodbye(struct rail *r, struct rail_conn *c, uint32_t why)
{
	enum wire_type type = why == WIRE_REJECT_NONE ? WIRE_GOODBYE : WIRE_REFUSAL;
	uint8_t slot;
	uint8_t *buf = c->failed ? NULL : take_slot(c, &slot);

	if (buf) {
		wire_put_header(&(struct wire_header){.type = (uint8_t)type,
						      .length = WIRE_HEADER_LEN,
						      .seq = why},
				buf);
		if (post_bytes(r, c, TX_GOODBYE, 0, slot, WIRE_HEADER_LEN) == 0)
			return;
	}
	rail_note_conn(r, NOTE_GOODBYE_SENT, c);
}

static void tell_marker(struct rail *r, struct rail_conn *c)
{
	if (!c->marker_posted || c->marker_told || c->fifo_len)
		return;
	c->marker_told = true;
	rail_note_conn(r, NOTE_MARKER, c);
}

/* IBA 10.3.1: after the QP is in error, a work request posted on it comes back flushed behind all
 * others; its completion proves that the send queue is empty. */
void rail_conn_mark(struct rail *r, struct rail_conn *c)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	if (post(c, &wr,
		 (struct tx_record){.wr_id = MARKER_WR_ID, .kind = TX_MARKER, .slot = TX_SLOTS}))
		return; /* never flushed: control's deadline ends the drain */
	c->marker_posted = true;
	(void)r;
}

void rail_conn_forget(struct rail *r, struct rail_conn *c)
{
	rail_poll(r, LOOK_ALL);
	qpmap_del(r->conns, c->qpn);
	rail_note_conn(r, NOTE_FORGOTTEN, c);
}

int rail_conn_post_send(struct rail *r, struct rail_conn *c, uint64_t seq, uint32_t len)
{
	uint8_t slot;
	uint8_t *buf = take_slot(c, &slot);

	if (!buf)
		return ENOMEM;
	wire_put_header(
		&(struct wire_header){.type = WIRE_PROBE, .length = (uint16_t)len, .seq = seq},
		buf);
	return post_bytes(r, c, TX_PROBE, seq, slot, len);
}

static void aim_at_scratch(const struct rail_session *s, struct ibv_send_wr *wr, uint32_t len)
{
	uint64_t at = s->scratch.addr + wire_scratch_offset(s->key_hash, s->scratch.len, len);

	if (wr->opcode == IBV_WR_RDMA_WRITE) {
		wr->wr.rdma.remote_addr = at;
		wr->wr.rdma.rkey = s->scratch.rkey;
	} else {
		wr->wr.atomic.remote_addr = at;
		wr->wr.atomic.rkey = s->scratch.rkey;
		wr->wr.atomic.compare_add = 1;
	}
}

int rail_conn_post_onesided(struct rail_conn *c, enum op op, uint64_t seq, uint32_t len)
{
	static const enum ibv_wr_opcode opcodes[OP_COUNT] = {
		[OP_READ] = IBV_WR_RDMA_READ,
		[OP_WRITE] = IBV_WR_RDMA_WRITE,
		[OP_ATOMIC] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->mem.sink,
		.length = len,
		.lkey = c->mem.sink_lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcodes[op],
		.wr.rdma = {.remote_addr = c->session->pattern.addr,
			    .rkey = c->session->pattern.rkey},
	};

	if (op == OP_READ)
		/* so that a READ that moves nothing cannot pass */
		memset(c->mem.sink, WIRE_SINK_POISON, len);
	else
		aim_at_scratch(c->session, &wr, len);
	if (op == OP_WRITE && len <= c->max_inline)
		wr.send_flags = IBV_SEND_INLINE;
	return post(c, &wr,
		    (struct tx_record){
			    .wr_id = seq, .kind = TX_PROBE, .op = (uint8_t)op, .slot = TX_SLOTS});
}

/* The responder: same bytes back, with our own processing time in the header. */
static void echo(struct rail *r, struct rail_conn *c, const uint8_t *data,
		 const struct wire_header *h)
{
	uint8_t slot;
	uint8_t *buf = take_slot(c, &slot);

	if (!buf || h->length > c->mem.tx_size)
		return; /* more unanswered probes than the protocol allows: not our debt */
	memcpy(buf, data, h->length);
	wire_put_header(&(struct wire_header){.type = WIRE_REPLY,
					      .length = h->length,
					      .seq = h->seq,
					      .hold_ns = r->p.now_ns() - r->poll_ns},
			buf);
	if (post_bytes(r, c, TX_REPLY, 0, slot, h->length))
		failed(r, c, IBV_WC_GENERAL_ERR, 0, OP_SEND);
}

/* Our own as the initiator, or the responder's word that it heard one. */
int rail_conn_post_keepalive(struct rail *r, struct rail_conn *c, uint64_t seq)
{
	uint8_t slot;
	uint8_t *buf = take_slot(c, &slot);

	if (!buf)
		return ENOMEM;
	wire_put_header(&(struct wire_header){.type = WIRE_KEEPALIVE,
					      .length = WIRE_HEADER_LEN,
					      .seq = seq},
			buf);
	return post_bytes(r, c, TX_KEEPALIVE, 0, slot, WIRE_HEADER_LEN);
}

int rail_conn_post_nudge(struct rail *r, struct rail_conn *c)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	return post(c, &wr,
		    (struct tx_record){.wr_id = r->next_seq++, .kind = TX_NUDGE, .slot = TX_SLOTS});
}

static void take_keepalive(struct rail *r, struct rail_conn *c, uint64_t seq)
{
	if (c->session)
		rail_session_alive(r, c->session, seq);
	else if (c->role == CONN_PASSIVE)
		rail_conn_post_keepalive(r, c, seq);
}

static void take_hello(struct rail *r, struct rail_conn *c, const uint8_t *data, size_t len)
{
	if (c->hello_seen)
		return;
	c->hello_seen = true;
	if (!wire_get_hello(data, len, &c->hello_in) || (c->hello_raw && len > WIRE_MAX_HELLO))
		memset(&c->hello_in, 0, sizeof(c->hello_in)); /* version 0: malformed */
	else if (c->hello_raw)
		memcpy(c->hello_raw, data, c->hello_raw_len = (uint32_t)len);
	rail_note_conn(r, NOTE_HELLO, c);
}

/* Only where proof is wanted, in its turn, and of the one length: all else is dropped, and
 * control's clock ends the connection. */
static void take_auth(struct rail *r, struct rail_conn *c, const struct wire_header *h,
		      const uint8_t *data, size_t len)
{
	size_t size = h->type == WIRE_PROOF ? WIRE_MAC_LEN : WIRE_NONCE_LEN;

	if (!c->hello_raw || c->auth_seen || len != WIRE_HEADER_LEN + size ||
	    (h->type == WIRE_PROOF) != (c->role == CONN_PASSIVE))
		return;
	c->auth_seen = true;
	memcpy(c->auth_in, data + WIRE_HEADER_LEN, size);
	rail_note_conn(r, NOTE_AUTH, c);
}

static void take_refusal(struct rail *r, struct rail_conn *c, uint64_t why)
{
	if (c->role != CONN_ACTIVE || c->refusal_seen)
		return;
	c->refusal_seen = true;
	c->refused_why = why <= WIRE_REJECT_SECRET_DIFFERS ? (uint32_t)why : WIRE_REJECT_NONE;
	rail_note_conn(r, NOTE_REFUSED, c);
}

static void received(struct rail *r, struct rail_conn *c, const uint8_t *data, size_t len)
{
	struct wire_header h;

	if (!c)
		return;
	if (!wire_get_header(data, len, &h)) {
		failed(r, c, IBV_WC_BAD_RESP_ERR, 0, OP_SEND);
		return;
	}
	/* Control may have read of the disconnect before we looked at what came ahead of it. */
	if (c->draining && h.type != WIRE_GOODBYE)
		return;
	atomic_store_explicit(&c->heard_ns, r->poll_ns, memory_order_relaxed);
	switch ((enum wire_type)h.type) {
	case WIRE_HELLO:
	case WIRE_HELLO_REPLY:
		if ((h.type == WIRE_HELLO) == (c->role == CONN_PASSIVE))
			take_hello(r, c, data, len);
		break;
	case WIRE_PROBE:
		if (c->role == CONN_PASSIVE)
			echo(r, c, data, &h);
		break;
	case WIRE_REPLY:
		if (c->session)
			rail_session_reply(r, c->session, h.seq, r->poll_ns);
		break;
	case WIRE_GOODBYE:
		if (!c->goodbye_seen)
			rail_note_conn(r, NOTE_GOODBYE, c);
		c->goodbye_seen = true;
		break;
	case WIRE_KEEPALIVE:
		take_keepalive(r, c, h.seq);
		break;
	case WIRE_CHALLENGE:
	case WIRE_PROOF:
		take_auth(r, c, &h, data, len);
		break;
	case WIRE_REFUSAL:
		take_refusal(r, c, h.seq);
		break;
	}
}

static void receive_done(struct rail *r, struct rail_queue *q, struct rail_conn *c,
			 const struct ibv_wc *wc)
{
	const uint8_t *data = rail_rx_take(r, q, c, wc->wr_id);

	if (!data)
		return; /* not a buffer of ours */
	if (wc->status == IBV_WC_SUCCESS && wc->byte_len <= r->rx.size)
		received(r, c, data, wc->byte_len);
	else if (c && wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
		failed(r, c, wc->status, wc->vendor_err, OP_SEND);
	/* What is posted on a QP in error comes back at once. */
	if (!q->q.srq && wc->status == IBV_WC_SUCCESS && !c->draining && !c->failed)
		rail_conn_fill(c);
}

/* The record that this completion is of leaves the queue, with those before it: they were not
 * signalled, and RC completes in order. */
static bool retire(struct rail_conn *c, uint64_t wr_id, struct tx_record *ret)
{
	uint32_t n = 0;

	while (n < c->fifo_len && c->fifo[(c->fifo_head + n) % TX_FIFO].wr_id != wr_id)
		n++;
	if (n == c->fifo_len)
		return false; /* stale generation */
	for (uint32_t i = 0; i <= n; i++) {
		*ret = c->fifo[c->fifo_head];
		c->fifo_head = (c->fifo_head + 1) % TX_FIFO;
		c->fifo_len--;
		if (ret->slot < TX_SLOTS)
			c->slots_used &= ~(1u << ret->slot);
	}
	return true;
}

static void send_done(struct rail *r, struct rail_conn *c, const struct ibv_wc *wc)
{
	struct tx_record rec;

	/* NULL: a QP that is forgotten, for rxe does not clean the CQ at destroy. */
	if (!c || !retire(c, wc->wr_id, &rec))
		return;
	if (wc->status != IBV_WC_SUCCESS && rec.kind != TX_MARKER)
		failed(r, c, wc->status, wc->vendor_err, rec.op);
	if (rec.kind == TX_PROBE && c->session)
		rail_session_sent(r, c->session, rec.wr_id, wc->status, r->poll_ns);
	if (rec.kind == TX_GOODBYE)
		rail_note_conn(r, NOTE_GOODBYE_SENT, c);
	tell_marker(r, c);
}

static void completed(struct rail *r, struct rail_queue *q, const struct ibv_wc *wc)
{
	struct rail_conn *c = conn_of(r, wc->qp_num);

	if (wc->wr_id != MARKER_WR_ID && (wc->wr_id & RX_TAG) == RX_TAG)
		receive_done(r, q, c, wc);
	else
		send_done(r, c, wc);
}

static void cq_broke(struct rail *r)
{
	if (!r->cq_failed)
		spsc_push(r->p.notes, &(struct rail_note){.type = NOTE_CQ_ERROR});
	r->cq_failed = true; /* once: control ends the worker */
}

unsigned rail_poll_queue(struct rail *r, struct rail_queue *q)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(q->q.cq, POLL_BATCH, wc);

	if (n < 0)
		cq_broke(r);
	if (n > 0) {
		r->poll_ns = r->p.now_ns();
		q->armed = false;
	}
	for (int i = 0; i < n; i++)
		completed(r, q, &wc[i]);
	if (q->rx_free_len)
		rail_rx_refill(r, q);
	return n < 0 ? 0 : (unsigned)n;
}

/* A batch of each queue in turn: a busy one keeps no other waiting. The newest has the most QPs, so
 * what woke us is looked for there first: reading the event, which tells the queue, would keep its
 * completion waiting for a system call. Queues that raised an event too are found when that is read
 * (rail_arm()). */
void rail_poll(struct rail *r, enum rail_look look)
{
	bool more = true;

	if (look == LOOK_ALL)
		r->look_ns = r->step_ns;
	for (unsigned round = 0; more && round < POLL_ROUNDS; round++) {
		more = false;
		for (uint32_t i = r->n_queues; i-- > 0;) {
			struct rail_queue *q = &r->queue[i];
			unsigned n;

			if (look == LOOK_UNARMED && q->armed)
				continue;
			n = rail_poll_queue(r, q);
			more |= n == POLL_BATCH;
			if (n && look == LOOK_WOKEN)
				break;
		}
		look = LOOK_UNARMED; /* the others are empty, or wait for their event to be read */
	}
}
