/* Queue pairs: what a NIC does. One request of a QP is under way at a time, in order; a lost one is
 * sent again after the ACK timeout, retry_count times. */
#include "fake_priv.h"

#include <errno.h>

#define MARKER 0xDEADBEEFDEADBEEFULL
#define RNR_DELAY_NS 640000 /* min_rnr_timer 12 */

static void start_head(struct fake_qp *qp);

struct fake_qp *fake_qp_find(const struct fake_device *dev, uint32_t qpn)
{
	for (struct fake_qp *qp = dev->qps; qp; qp = qp->next)
		if (qp->qp.qp_num == qpn)
			return qp;
	return NULL;
}

/* --- completions --- */

void fake_push(struct fake_cq *cq, const struct ibv_wc *wc)
{
	struct fake_cqe *e = calloc(1, sizeof(*e));
	struct fake_channel *ch = (struct fake_channel *)cq->cq.channel;

	fake_check(cq->n < (unsigned)cq->cq.cqe, "the completion queue overflows");
	e->wc = *wc;
	*cq->tail = e;
	cq->tail = &e->next;
	cq->n++;
	if (!cq->armed)
		return;
	cq->armed = false;
	if (cq->dev->knobs.lose_events)
		return;
	fake_check(ch->n_pending < 16, "completion events pile up");
	ch->pending[ch->n_pending++] = cq;
	signal_set(&ch->signal, true);
}

int fake_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	FAKE_GUARD;
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int i;

	if (fake_call(CALL_POLL_CQ))
		return -1;
	for (i = 0; i < n && cq->head; i++) {
		struct fake_cqe *e = cq->head;

		wc[i] = e->wc;
		cq->head = e->next;
		if (!cq->head)
			cq->tail = &cq->head;
		cq->n--;
		free(e);
	}
	return i;
}

int fake_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	FAKE_GUARD;

	(void)solicited_only;
	((struct fake_cq *)ibcq)->armed = true;
	return 0;
}

static enum ibv_wc_opcode opcode_of(const struct fake_wr *wr)
{
	if (wr->opcode == IBV_WR_RDMA_READ)
		return IBV_WC_RDMA_READ;
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return IBV_WC_RDMA_WRITE;
	return wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_SEND;
}

/* Takes wr, which is in no list any more. */
static void complete(struct fake_qp *qp, struct fake_wr *wr, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = wr->wr_id,
		.status = status,
		.opcode = opcode_of(wr),
		.vendor_err = status ? 0x80u + status : 0,
		.qp_num = qp->qp.qp_num,
	};

	if (status == IBV_WC_SUCCESS && !wr->signalled) {
		qp->n_send++;
		qp->unsignalled++;
		free(wr->payload);
		free(wr);
		return;
	}
	qp->n_send -= qp->unsignalled;
	qp->unsignalled = 0;
	qp->dev->send_completions++;
	fake_push((struct fake_cq *)qp->qp.send_cq, &wc);
	if (qp->dev->knobs.double_completions)
		fake_push((struct fake_cq *)qp->qp.send_cq, &wc);
	free(wr->payload);
	free(wr);
}

static struct fake_wr *take_head(struct fake_qp *qp)
{
	struct fake_wr *wr = qp->head;

	qp->head = wr->next;
	if (!qp->head)
		qp->tail = &qp->head;
	qp->n_send--;
	qp->running = 0;
	return wr;
}

/* --- error state --- */

static void raise_last_wqe(struct fake_qp *qp)
{
	struct ibv_async_event ev = {.event_type = IBV_EVENT_QP_LAST_WQE_REACHED,
				     .element.qp = &qp->qp};

	fake_raise((struct fake_context *)qp->qp.context, &ev);
}

static void late_last_wqe(const struct action *a)
{
	struct fake_qp *qp = fake_qp_find(a->dev, a->qpn);

	if (qp)
		raise_last_wqe(qp);
}

static void last_wqe(struct fake_qp *qp)
{
	const struct fake_knobs *k = &qp->dev->knobs;

	switch (k->last_wqe) {
	case LAST_WQE_ONCE:
	case LAST_WQE_TWICE:
		raise_last_wqe(qp);
		break;
	case LAST_WQE_NEVER:
		break;
	case LAST_WQE_LATE:
		fake_later(&(struct action){.run = late_last_wqe,
					    .dev = qp->dev,
					    .qpn = qp->qp.qp_num},
			   k->last_wqe_late_ns);
		break;
	}
}

static struct fake_recv take_receive(struct fake_queue *q)
{
	struct fake_recv r = q->ring[q->head];

	q->head = (q->head + 1) % q->max;
	q->n--;
	return r;
}

static void flush_receives(struct fake_qp *qp)
{
	while (qp->receives.n && !qp->dev->knobs.lose_receives) {
		struct ibv_wc wc = {.wr_id = take_receive(&qp->receives).wr_id,
				    .status = IBV_WC_WR_FLUSH_ERR,
				    .qp_num = qp->qp.qp_num};

		fake_push((struct fake_cq *)qp->qp.recv_cq, &wc);
	}
}

void fake_qp_error(struct fake_qp *qp)
{
	if (qp->state == IBV_QPS_ERR)
		return;
	qp->state = IBV_QPS_ERR;
	while (qp->head)
		complete(qp, take_head(qp), IBV_WC_WR_FLUSH_ERR);
	flush_receives(qp);
	if (qp->qp.srq)
		last_wqe(qp);
}

void fake_qp_gone(struct fake_qp *qp)
{
	while (qp->head) {
		struct fake_wr *wr = take_head(qp);

		free(wr->payload);
		free(wr);
	}
	qp->state = IBV_QPS_RESET;
}

static void break_with(struct fake_qp *qp, enum ibv_wc_status status)
{
	complete(qp, take_head(qp), status);
	fake_qp_error(qp);
}

/* --- receiving --- */

static void check_limit(struct fake_srq *srq)
{
	struct ibv_async_event ev = {.event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
				     .element.srq = &srq->srq};

	if (!srq->limit || srq->queue.n >= srq->limit)
		return;
	srq->limit = 0; /* one shot */
	fake_raise((struct fake_context *)srq->srq.context, &ev);
}

/* false: no receive is posted. */
bool fake_receive(struct fake_qp *qp, const uint8_t *data, uint32_t len)
{
	struct fake_srq *srq = (struct fake_srq *)qp->qp.srq;
	struct fake_queue *q = srq ? &srq->queue : &qp->receives;
	struct fake_recv r;
	struct ibv_wc wc;

	if (!q->n)
		return false;
	r = take_receive(q);
	qp->dev->srq_taken += srq != NULL;
	wc = (struct ibv_wc){
		.wr_id = r.wr_id,
		.status = len > r.sge.length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV,
		.byte_len = len,
		.qp_num = qp->qp.qp_num,
	};
	if (wc.status == IBV_WC_SUCCESS && len)
		memcpy((void *)(uintptr_t)r.sge.addr, data, len);
	fake_push((struct fake_cq *)qp->qp.recv_cq, &wc);
	if (srq)
		check_limit(srq);
	return true;
}

static int post_receive(struct fake_device *dev, struct fake_queue *q, struct ibv_recv_wr *wr)
{
	fake_check(wr->num_sge == 1 && !wr->next,
		   "a receive in a form that the fake does not know");
	fake_check(fake_mr_find(dev, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length),
		   "a receive is posted into memory that is not registered");
	if (q->n == q->max)
		return ENOMEM;
	q->ring[(q->head + q->n++) % q->max] = (struct fake_recv){wr->wr_id, wr->sg_list[0]};
	return 0;
}

int fake_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	FAKE_GUARD;
	struct fake_srq *srq = (struct fake_srq *)ibsrq;
	int err = fake_call(CALL_POST_SRQ_RECV);

	*bad = wr;
	return err ? err : post_receive(srq->dev, &srq->queue, wr);
}

int fake_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	FAKE_GUARD;
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int err = fake_call(CALL_POST_RECV);

	*bad = wr;
	fake_check(!qp->qp.srq, "a receive is posted on a QP that has an SRQ");
	if (!err)
		err = post_receive(qp->dev, &qp->receives, wr);
	if (!err && qp->state == IBV_QPS_ERR)
		flush_receives(qp);
	return err;
}

/* --- a request on its way --- */

static struct fake_wr *running(struct fake_qp *qp, uint64_t uid)
{
	return qp && qp->running == uid && qp->head ? qp->head : NULL;
}

static bool brings_data(const struct fake_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* On iWARP the answer is a WRITE of the peer's into our memory. */
static void check_sink(const struct fake_qp *qp, const struct fake_wr *wr)
{
	const struct fake_mr *mr =
		fake_mr_find(qp->dev, wr->sge.lkey, wr->sge.addr, wr->sge.length);
	bool open = mr && mr->access & IBV_ACCESS_REMOTE_WRITE;

	fake_check(open == qp->dev->knobs.iwarp,
		   "where a READ lands is open to the peer, or on iWARP it is not");
}

static void answer_arrives(const struct action *a)
{
	struct fake_qp *qp = fake_qp_find(a->dev, a->qpn);
	struct fake_wr *wr = running(qp, a->uid);

	if (!wr || fake_dropped(qp->peer, qp->dev))
		return;
	if (a->status != IBV_WC_SUCCESS) {
		break_with(qp, (enum ibv_wc_status)a->status);
		return;
	}
	if (wr->opcode == IBV_WR_RDMA_READ)
		check_sink(qp, wr);
	if (brings_data(wr) && wr->payload)
		memcpy((void *)(uintptr_t)wr->sge.addr, wr->payload, wr->sge.length);
	complete(qp, take_head(qp), IBV_WC_SUCCESS);
	start_head(qp);
}

static void answer(struct fake_qp *requester, uint64_t uid, int status)
{
	fake_later(&(struct action){.run = answer_arrives,
				    .dev = requester->dev,
				    .qpn = requester->qp.qp_num,
				    .uid = uid,
				    .status = status},
		   fake_delay(requester->peer, requester->dev));
}

static void transmit(struct fake_qp *qp, struct fake_wr *wr);

static void rnr_passed(const struct action *a)
{
	struct fake_qp *qp = fake_qp_find(a->dev, a->qpn);
	struct fake_wr *wr = running(qp, a->uid);

	if (!wr)
		return;
	if (wr->rnr_attempt++ >= qp->rnr_retry)
		break_with(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	else
		transmit(qp, wr);
}

#define HEADER_LEN 24
#define TYPE_HELLO_REPLY 2

/* A HELLO as a daemon sends it that does not know one of its parts. */
static uint32_t leave_out(uint8_t *m, uint32_t len, uint8_t tlv)
{
	if (len < HEADER_LEN || m[5] > TYPE_HELLO_REPLY)
		return len;
	for (uint32_t at = HEADER_LEN; at + 2 <= len; at += 2u + m[at + 1]) {
		uint32_t part = 2u + m[at + 1];

		if (m[at] != tlv)
			continue;
		memmove(m + at, m + at + part, len - at - part);
		len -= part;
		m[6] = (uint8_t)(len >> 8);
		m[7] = (uint8_t)len;
		break;
	}
	return len;
}

static bool deliver(const struct fake_qp *requester, struct fake_qp *responder, const uint8_t *data,
		    uint32_t len)
{
	uint8_t *nonsense;
	bool taken;

	if (!requester->dev->knobs.garbles_sends)
		return fake_receive(responder, data, len);
	nonsense = malloc(len + 1);
	memcpy(nonsense, data, len);
	for (uint32_t i = len / 4; i < len; i++)
		nonsense[i] ^= (uint8_t)(0xa5 + i);
	taken = fake_receive(responder, nonsense, len);
	free(nonsense);
	return taken;
}

static void send_arrives(struct fake_qp *requester, struct fake_qp *responder, struct fake_wr *wr)
{
	uint8_t without = requester->dev->knobs.hello_without;

	if (!wr->payload) {
		wr->payload = malloc(wr->sge.length + 1);
		if (wr->sge.length)
			if (wr->sge.length) /* a marker on a QP that is in no error after all has
					       none */
				memcpy(wr->payload, (const void *)(uintptr_t)wr->sge.addr,
				       wr->sge.length);
	}
	if (without)
		wr->sge.length = leave_out(wr->payload, wr->sge.length, without);
	if (!wr->delivered && (responder->dev->knobs.no_receives ||
			       !deliver(requester, responder, wr->payload, wr->sge.length))) {
		fake_later(&(struct action){.run = rnr_passed,
					    .dev = requester->dev,
					    .qpn = requester->qp.qp_num,
					    .uid = wr->uid},
			   RNR_DELAY_NS);
		return;
	}
	wr->delivered = true; /* a duplicate is acknowledged, not delivered again */
	answer(requester, wr->uid, IBV_WC_SUCCESS);
}

static void read_arrives(struct fake_qp *requester, struct fake_qp *responder, struct fake_wr *wr)
{
	const struct fake_knobs *k = &responder->dev->knobs;
	struct fake_mr *mr =
		fake_mr_find(responder->dev, wr->rkey, wr->remote_addr, wr->sge.length);

	if (k->refuse_reads || responder->no_reads || !mr || mr->mr.rkey != wr->rkey ||
	    !(mr->access & IBV_ACCESS_REMOTE_READ)) {
		answer(requester, wr->uid, IBV_WC_REM_ACCESS_ERR);
		return;
	}
	if (k->empty_reads) {
		responder->dev->reads++;
		answer(requester, wr->uid, IBV_WC_SUCCESS);
		return;
	}
	if (!wr->payload)
		wr->payload = malloc(wr->sge.length + 1);
	memcpy(wr->payload, (const void *)(uintptr_t)wr->remote_addr, wr->sge.length);
	if (k->shift_reads)
		memmove(wr->payload, wr->payload + 1, wr->sge.length - 1);
	if (k->corrupt_reads)
		wr->payload[wr->sge.length / 2] ^= 0x10;
	responder->dev->reads++;
	answer(requester, wr->uid, IBV_WC_SUCCESS);
}

static bool reachable(const struct fake_qp *responder, const struct fake_wr *wr, int access)
{
	struct fake_mr *mr =
		fake_mr_find(responder->dev, wr->rkey, wr->remote_addr, wr->sge.length);

	return mr && mr->mr.rkey == wr->rkey && mr->access & access;
}

static void write_arrives(struct fake_qp *requester, struct fake_qp *responder, struct fake_wr *wr)
{
	const void *data = wr->payload ? wr->payload : (const void *)(uintptr_t)wr->sge.addr;

	/* A WRITE of nothing needs neither address nor key. */
	if (!wr->sge.length) {
		answer(requester, wr->uid, IBV_WC_SUCCESS);
		return;
	}
	if (!reachable(responder, wr, IBV_ACCESS_REMOTE_WRITE)) {
		answer(requester, wr->uid, IBV_WC_REM_ACCESS_ERR);
		return;
	}
	memcpy((void *)(uintptr_t)wr->remote_addr, data, wr->sge.length);
	responder->dev->writes++;
	answer(requester, wr->uid, IBV_WC_SUCCESS);
}

/* Done once, however often it has to be sent: the payload is what was found the first time. */
static void atomic_arrives(struct fake_qp *requester, struct fake_qp *responder, struct fake_wr *wr)
{
	uint64_t *word = (uint64_t *)(uintptr_t)wr->remote_addr;

	fake_check(wr->sge.length == 8, "an atomic is not of 8 bytes");
	if (responder->no_reads || wr->remote_addr % 8 ||
	    !reachable(responder, wr, IBV_ACCESS_REMOTE_ATOMIC)) {
		answer(requester, wr->uid, IBV_WC_REM_ACCESS_ERR);
		return;
	}
	if (!wr->payload) {
		wr->payload = malloc(8);
		memcpy(wr->payload, word, 8);
		*word += wr->compare_add;
		responder->dev->atomics++;
	}
	answer(requester, wr->uid, IBV_WC_SUCCESS);
}

static void request_arrives(const struct action *a)
{
	struct fake_qp *qp = fake_qp_find(a->dev, a->qpn), *responder;
	struct fake_wr *wr = running(qp, a->uid);

	if (!wr || fake_dropped(qp->dev, qp->peer))
		return;
	responder = fake_qp_find(qp->peer, qp->peer_qpn);
	if (!responder || responder->state != IBV_QPS_RTS || responder->peer != qp->dev ||
	    responder->peer_qpn != qp->qp.qp_num)
		return;
	if (wr->opcode == IBV_WR_RDMA_READ)
		read_arrives(qp, responder, wr);
	else if (wr->opcode == IBV_WR_RDMA_WRITE)
		write_arrives(qp, responder, wr);
	else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		atomic_arrives(qp, responder, wr);
	else
		send_arrives(qp, responder, wr);
}

static void ack_timeout(const struct action *a)
{
	struct fake_qp *qp = fake_qp_find(a->dev, a->qpn);
	struct fake_wr *wr = running(qp, a->uid);

	if (!wr || wr->attempt != a->number)
		return;
	if (wr->attempt >= qp->retry_count) {
		break_with(qp, IBV_WC_RETRY_EXC_ERR);
		return;
	}
	wr->attempt++;
	transmit(qp, wr);
}

static void transmit(struct fake_qp *qp, struct fake_wr *wr)
{
	struct action a = {
		.dev = qp->dev, .qpn = qp->qp.qp_num, .uid = wr->uid, .number = wr->attempt};

	if (!qp->dev->port_active && !qp->dev->knobs.hardware) {
		break_with(qp, IBV_WC_LOC_QP_OP_ERR);
		return;
	}
	a.run = request_arrives;
	fake_later(&a, fake_delay(qp->dev, qp->peer));
	a.run = ack_timeout;
	fake_later(&a, 4096ULL << qp->ack_timeout);
}

static void start_head(struct fake_qp *qp)
{
	if (qp->running || !qp->head || qp->state != IBV_QPS_RTS)
		return;
	qp->running = qp->head->uid;
	transmit(qp, qp->head);
}

/* --- posting --- */

static struct fake_wr *copy_wr(const struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct fake_wr *w = calloc(1, sizeof(*w));

	w->uid = fabric.next_uid++;
	w->wr_id = wr->wr_id;
	w->opcode = wr->opcode;
	w->signalled = wr->send_flags & IBV_SEND_SIGNALED;
	w->remote_addr = wr->wr.rdma.remote_addr;
	w->rkey = wr->wr.rdma.rkey;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->remote_addr = wr->wr.atomic.remote_addr;
		w->rkey = wr->wr.atomic.rkey;
		w->compare_add = wr->wr.atomic.compare_add;
	}
	fake_check(!qp->no_reads_out || !brings_data(w), "a READ on a QP that may not");
	if (!wr->num_sge)
		return w;
	w->sge = wr->sg_list[0];
	if (wr->send_flags & IBV_SEND_INLINE) {
		fake_check(!brings_data(w), "a READ cannot be inline");
		fake_check(w->sge.length <= qp->max_inline, "more is inline than there is room");
		w->payload = malloc(w->sge.length + 1);
		memcpy(w->payload, (const void *)(uintptr_t)w->sge.addr, w->sge.length);
		return w;
	}
	fake_check(fake_mr_find(qp->dev, w->sge.lkey, w->sge.addr, w->sge.length),
		   "a request is posted with memory that is not registered");
	return w;
}

int fake_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	FAKE_GUARD;
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int err = fake_call(CALL_POST_SEND);

	*bad = wr;
	if (!err && fake_context_dead(ibqp->context))
		err = EIO;
	if (err)
		return err;
	fake_check(!wr->next && wr->num_sge <= 1,
		   "a request in a form that the fake does not know");
	fake_check(qp->n_send < qp->max_send, "the send queue overflows");
	if (qp->state == IBV_QPS_ERR) {
		if (!qp->dev->knobs.lose_marker || wr->wr_id != MARKER)
			complete(qp, copy_wr(qp, wr), IBV_WC_WR_FLUSH_ERR);
		if (qp->dev->knobs.last_wqe == LAST_WQE_TWICE)
			raise_last_wqe(qp);
		return 0;
	}
	if (qp->state != IBV_QPS_RTS)
		return EINVAL;
	*qp->tail = copy_wr(qp, wr);
	qp->tail = &(*qp->tail)->next;
	qp->n_send++;
	start_head(qp);
	return 0;
}

/* --- life --- */

void fake_check_depths(const struct fake_device *dev, const struct rdma_conn_param *param)
{
	fake_check(!(param->initiator_depth && dev->knobs.no_reads_out) &&
			   !(param->responder_resources && dev->knobs.no_reads_in),
		   "more READs are asked for than the device has");
}

bool fake_qp_fits(const struct fake_device *dev, const struct ibv_qp_init_attr *attr)
{
	const struct fake_knobs *k = &dev->knobs;
	uint32_t most = k->max_qp_wr ? (uint32_t)k->max_qp_wr : UINT32_MAX;

	fake_check(attr->srq || attr->cap.max_recv_wr, "a QP that can receive nothing");
	fake_check(!attr->srq || !k->no_srq, "an SRQ of a device that has none");
	return attr->cap.max_send_wr <= most && attr->cap.max_recv_wr <= most &&
	       (!k->max_inline || attr->cap.max_inline_data <= k->max_inline);
}

struct fake_qp *fake_qp_new(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_device *dev = ((struct fake_pd *)pd)->dev;
	struct fake_qp *qp = calloc(1, sizeof(*qp));

	qp->qp = (struct ibv_qp){.context = pd->context,
				 .pd = pd,
				 .send_cq = attr->send_cq,
				 .recv_cq = attr->recv_cq,
				 .srq = attr->srq,
				 .qp_num = dev->next_qpn++,
				 .qp_type = attr->qp_type};
	qp->dev = dev;
	qp->state = IBV_QPS_INIT;
	qp->tail = &qp->head;
	/* As many as asked for and not one more, so that a caller that counts wrongly is caught. */
	qp->max_send = attr->cap.max_send_wr;
	qp->max_inline = attr->cap.max_inline_data;
	qp->next = dev->qps;
	dev->qps = qp;
	dev->n_qps++;
	((struct fake_pd *)pd)->users++;
	((struct fake_cq *)attr->send_cq)->qps++;
	if (attr->srq)
		((struct fake_srq *)attr->srq)->qps++;
	qp->receives.max = attr->cap.max_recv_wr;
	qp->receives.ring = calloc(attr->cap.max_recv_wr + 1, sizeof(*qp->receives.ring));
	fake_made(OBJECT_QP);
	return qp;
}

void fake_qp_free(struct fake_qp *qp)
{
	struct fake_qp **at = &qp->dev->qps;

	fake_check(qp->got == qp->acked, "destroying the QP waits for ever for an event's ack");
	fake_forget_qp_events((struct fake_context *)qp->qp.context, qp);
	while (*at != qp)
		at = &(*at)->next;
	*at = qp->next;
	qp->dev->n_qps--;
	fake_qp_gone(qp);
	((struct fake_pd *)qp->qp.pd)->users--;
	((struct fake_cq *)qp->qp.send_cq)->qps--;
	if (qp->qp.srq)
		((struct fake_srq *)qp->qp.srq)->qps--;
	free(qp->receives.ring);
	fake_gone(OBJECT_QP);
	free(qp);
}

void fake_qp_connect(struct fake_qp *qp, const struct fake_id *id, struct fake_device *peer,
		     uint32_t peer_qpn)
{
	qp->peer = peer;
	qp->peer_qpn = peer_qpn;
	qp->ack_timeout = id->ack_timeout;
	qp->retry_count = id->retry_count;
	qp->rnr_retry = id->rnr_retry;
	qp->no_reads = !id->responder_resources;
	qp->no_reads_out = !id->initiator_depth;
	memcpy(qp->dgid, &id->dst, 16);
	fake_device_of(&id->src, &qp->sgid_index);
	qp->state = IBV_QPS_RTS;
}
