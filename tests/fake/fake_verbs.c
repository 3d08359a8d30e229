/* The objects of libibverbs. */
#include "fake_priv.h"

#include <errno.h>
#include <fcntl.h>

#undef ibv_query_port
#undef ibv_reg_mr

#define MAX_CQE 65536
#define MAX_QUEUES 64
#define MAX_SRQ_WR 32768
#define MAX_QP_WR 16384

static struct fake_device *device_of(const struct ibv_context *ctx)
{
	return ((const struct fake_context *)ctx)->dev;
}

static int call_on(const struct ibv_context *ctx, enum fabric_call call)
{
	int err = fake_call(call);

	return err ? err : fake_context_dead(ctx) ? EIO : 0;
}

static int max_cqe(const struct fake_device *dev)
{
	return dev->knobs.max_cqe ? dev->knobs.max_cqe : MAX_CQE;
}

static int max_cq(const struct fake_device *dev)
{
	return dev->knobs.max_cq ? dev->knobs.max_cq : MAX_QUEUES;
}

static int max_srq(const struct fake_device *dev)
{
	return dev->knobs.max_srq ? dev->knobs.max_srq : MAX_QUEUES;
}

/* --- devices and contexts --- */

struct ibv_device **ibv_get_device_list(int *num)
{
	FAKE_GUARD;
	struct ibv_device **list;
	int n = 0;

	errno = fake_call(CALL_GET_DEVICE_LIST);
	if (errno)
		return NULL;
	list = calloc(fabric.n_devices + 1, sizeof(struct ibv_device *));
	for (unsigned i = 0; i < fabric.n_devices; i++)
		if (!fabric.device[i].removed)
			list[n++] = &fabric.device[i].dev;
	if (num)
		*num = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

struct fake_context *fake_context_new(struct fake_device *dev)
{
	struct fake_context *c = calloc(1, sizeof(*c));

	signal_open(&c->signal);
	c->ctx = (struct ibv_context){
		.device = &dev->dev,
		.async_fd = c->signal.fd,
		.ops = {.poll_cq = fake_poll_cq,
			.req_notify_cq = fake_req_notify_cq,
			.post_send = fake_post_send,
			.post_recv = fake_post_recv,
			.post_srq_recv = fake_post_srq_recv},
	};
	c->dev = dev;
	c->process = fake_process();
	c->life = dev->life;
	c->tail = &c->head;
	c->next = dev->contexts;
	dev->contexts = c;
	return c;
}

void fake_context_free(struct fake_context *c)
{
	struct fake_context **at = &c->dev->contexts;

	fake_check(!c->objects, "a context is closed with objects on it");
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	while (c->head) {
		struct fake_async *a = c->head;

		c->head = a->next;
		free(a);
	}
	signal_close(&c->signal);
	free(c);
}

struct fake_context *fake_cm_context(struct fake_device *dev)
{
	struct fake_context *c = dev->contexts;

	while (c && !(c->cm && c->process == fake_process() && c->life == dev->life))
		c = c->next;
	if (!c)
		c = fake_context_new(dev);
	c->cm = true;
	return c;
}

bool fake_context_dead(const struct ibv_context *ctx)
{
	const struct fake_context *c = (const struct fake_context *)ctx;

	return c->dev->removed || c->life != c->dev->life;
}

bool fabric_hangs_up(const struct ibv_context *ctx)
{
	FAKE_GUARD;

	return fake_context_dead(ctx);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	FAKE_GUARD;
	struct fake_device *dev = (struct fake_device *)device;

	errno = fake_call(CALL_OPEN_DEVICE);
	if (!errno && dev->removed)
		errno = EIO;
	if (errno)
		return NULL;
	fake_made(OBJECT_CONTEXT);
	return &fake_context_new(dev)->ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	FAKE_GUARD;

	fake_context_free((struct fake_context *)ctx);
	fake_gone(OBJECT_CONTEXT);
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	FAKE_GUARD;
	struct fake_device *dev = device_of(ctx);
	int err = call_on(ctx, CALL_QUERY_DEVICE);

	if (err)
		return err;
	*attr = (struct ibv_device_attr){
		.phys_port_cnt = 1,
		.max_cqe = max_cqe(dev),
		.max_qp_wr = dev->knobs.max_qp_wr ? dev->knobs.max_qp_wr : MAX_QP_WR,
		.max_cq = max_cq(dev),
		.max_srq = dev->knobs.no_srq ? 0 : max_srq(dev),
		.max_srq_wr = MAX_SRQ_WR,
		.max_qp = 65536,
		.max_qp_rd_atom = !dev->knobs.no_reads_in,
		.max_qp_init_rd_atom = !dev->knobs.no_reads_out,
		.atomic_cap = dev->knobs.no_atomics ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA,
	};
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	FAKE_GUARD;
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;
	struct fake_device *dev = device_of(ctx);
	int err = call_on(ctx, CALL_QUERY_PORT);

	if (err)
		return err;
	fake_check(port == 1, "a port that does not exist is asked for");
	attr->state = dev->port_active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	attr->active_mtu = IBV_MTU_1024;
	attr->link_layer =
		dev->knobs.no_link_layer ? IBV_LINK_LAYER_UNSPECIFIED : IBV_LINK_LAYER_ETHERNET;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	FAKE_GUARD;
	struct fake_device *dev = device_of(ctx);
	int err = call_on(ctx, CALL_QUERY_GID_TABLE);
	ssize_t n = 0;

	(void)flags;
	fake_check(size == sizeof(*entries), "a GID entry of another size");
	if (err)
		return -err;
	for (unsigned i = 0; i < dev->n_gids && (size_t)n < max; i++) {
		if (!dev->gid[i].present)
			continue;
		entries[n] = (struct ibv_gid_entry){
			.gid_index = i,
			.port_num = 1,
			.gid_type = dev->gid[i].type,
			.ndev_ifindex = 1,
		};
		memcpy(entries[n].gid.raw, &dev->gid[i].addr, 16);
		n++;
	}
	return n;
}

/* --- protection domain and memory --- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	FAKE_GUARD;
	struct fake_pd *pd;

	errno = call_on(ctx, CALL_ALLOC_PD);
	if (errno)
		return NULL;
	pd = calloc(1, sizeof(*pd));
	pd->pd.context = ctx;
	pd->dev = device_of(ctx);
	((struct fake_context *)ctx)->objects++;
	fake_made(OBJECT_PD);
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	FAKE_GUARD;
	struct fake_pd *pd = (struct fake_pd *)ibpd;

	fake_check(!pd->users, "a protection domain in use is freed");
	((struct fake_context *)ibpd->context)->objects--;
	fake_gone(OBJECT_PD);
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length, int access)
{
	FAKE_GUARD;
	struct fake_pd *pd = (struct fake_pd *)ibpd;
	struct fake_mr *mr;

	errno = call_on(ibpd->context, CALL_REG_MR);
	if (!errno && access & IBV_ACCESS_REMOTE_ATOMIC && pd->dev->knobs.no_atomics)
		errno = EOPNOTSUPP;
	if (errno)
		return NULL;
	fake_check(!(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) ||
			   access & IBV_ACCESS_LOCAL_WRITE,
		   "remote write without local write");
	mr = calloc(1, sizeof(*mr));
	mr->mr = (struct ibv_mr){
		.context = ibpd->context,
		.pd = ibpd,
		.addr = addr,
		.length = length,
		.lkey = fabric.next_key++,
		.rkey = fabric.next_key++,
	};
	mr->dev = pd->dev;
	mr->access = access;
	mr->next = pd->dev->mrs;
	pd->dev->mrs = mr;
	pd->users++;
	fake_made(OBJECT_MR);
	return &mr->mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	FAKE_GUARD;
	struct fake_mr *mr = (struct fake_mr *)ibmr, **at = &mr->dev->mrs;

	while (*at != mr)
		at = &(*at)->next;
	*at = mr->next;
	((struct fake_pd *)ibmr->pd)->users--;
	fake_gone(OBJECT_MR);
	free(mr);
	return 0;
}

/* By either key: local and remote ones are never the same number here. */
struct fake_mr *fake_mr_find(const struct fake_device *dev, uint32_t key, uint64_t addr, size_t len)
{
	for (struct fake_mr *mr = dev->mrs; mr; mr = mr->next) {
		uint64_t begin = (uintptr_t)mr->mr.addr;

		if ((mr->mr.lkey == key || mr->mr.rkey == key) && addr >= begin &&
		    len <= mr->mr.length && addr - begin <= mr->mr.length - len)
			return mr;
	}
	return NULL;
}

/* --- completion channel and queue --- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	FAKE_GUARD;
	struct fake_channel *ch;

	errno = call_on(ctx, CALL_CREATE_COMP_CHANNEL);
	if (errno)
		return NULL;
	ch = calloc(1, sizeof(*ch));
	signal_open(&ch->signal);
	ch->channel = (struct ibv_comp_channel){.context = ctx, .fd = ch->signal.fd};
	((struct fake_context *)ctx)->objects++;
	fake_made(OBJECT_COMP_CHANNEL);
	return &ch->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	FAKE_GUARD;
	struct fake_channel *ch = (struct fake_channel *)channel;

	fake_check(!ch->cqs, "a completion channel in use is destroyed");
	((struct fake_context *)channel->context)->objects--;
	signal_close(&ch->signal);
	fake_gone(OBJECT_COMP_CHANNEL);
	free(ch);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *context,
			     struct ibv_comp_channel *channel, int vector)
{
	FAKE_GUARD;
	struct fake_cq *cq;

	(void)vector;
	errno = call_on(ctx, CALL_CREATE_CQ);
	if (!errno && (cqe < 1 || cqe > max_cqe(device_of(ctx))))
		errno = EINVAL;
	if (!errno && device_of(ctx)->n_cqs >= (unsigned)max_cq(device_of(ctx)))
		errno = ENOMEM;
	if (errno)
		return NULL;
	cq = calloc(1, sizeof(*cq));
	cq->cq = (struct ibv_cq){
		.context = ctx, .channel = channel, .cq_context = context, .cqe = cqe};
	cq->dev = device_of(ctx);
	cq->dev->cq = cq;
	cq->dev->n_cqs++;
	cq->tail = &cq->head;
	((struct fake_channel *)channel)->cqs++;
	((struct fake_context *)ctx)->objects++;
	fake_made(OBJECT_CQ);
	return &cq->cq;
}

static void forget_cq_events(struct fake_channel *ch, const struct fake_cq *cq)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ch->n_pending; i++)
		if (ch->pending[i] != cq)
			ch->pending[n++] = ch->pending[i];
	ch->n_pending = n;
	signal_set(&ch->signal, n > 0);
}

int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	FAKE_GUARD;
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	struct fake_channel *ch = (struct fake_channel *)ibcq->channel;

	fake_check(!cq->qps, "a completion queue in use is destroyed");
	fake_check(cq->got == cq->acked, "destroying the CQ waits for ever for an event's ack");
	forget_cq_events(ch, cq);
	ch->cqs--;
	while (cq->head) {
		struct fake_cqe *e = cq->head;

		cq->head = e->next;
		free(e);
	}
	if (cq->dev->cq == cq)
		cq->dev->cq = NULL;
	cq->dev->n_cqs--;
	((struct fake_context *)ibcq->context)->objects--;
	fake_gone(OBJECT_CQ);
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	FAKE_GUARD;
	struct fake_channel *ch = (struct fake_channel *)channel;

	signal_must_not_block(&ch->signal);
	if (!ch->n_pending) {
		errno = EAGAIN;
		return -1;
	}
	*cq = &ch->pending[--ch->n_pending]->cq;
	*context = (*cq)->cq_context;
	((struct fake_cq *)*cq)->got++;
	signal_set(&ch->signal, ch->n_pending > 0);
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *ibcq, unsigned int n)
{
	FAKE_GUARD;
	struct fake_cq *cq = (struct fake_cq *)ibcq;

	cq->acked += n;
	fake_check(cq->acked <= cq->got, "more CQ events are acknowledged than were got");
}

/* --- shared receive queue --- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *ibpd, struct ibv_srq_init_attr *attr)
{
	FAKE_GUARD;
	struct fake_pd *pd = (struct fake_pd *)ibpd;
	struct fake_srq *srq;

	errno = call_on(ibpd->context, CALL_CREATE_SRQ);
	if (!errno && (!attr->attr.max_wr || attr->attr.max_wr > MAX_SRQ_WR))
		errno = EINVAL;
	if (!errno && pd->dev->n_srqs >= (unsigned)max_srq(pd->dev))
		errno = ENOMEM;
	if (errno)
		return NULL;
	srq = calloc(1, sizeof(*srq));
	srq->srq.context = ibpd->context;
	srq->srq.pd = ibpd;
	srq->dev = pd->dev;
	srq->queue.max = attr->attr.max_wr;
	srq->queue.ring = calloc(srq->queue.max, sizeof(*srq->queue.ring));
	srq->next = pd->dev->srqs;
	pd->dev->srqs = srq;
	pd->dev->n_srqs++;
	pd->users++;
	fake_made(OBJECT_SRQ);
	return &srq->srq;
}

int ibv_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	FAKE_GUARD;
	struct fake_srq *srq = (struct fake_srq *)ibsrq;
	int err = call_on(ibsrq->context, CALL_MODIFY_SRQ);

	if (err)
		return err;
	fake_check(mask == IBV_SRQ_LIMIT, "an SRQ is resized");
	srq->limit = attr->srq_limit;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	FAKE_GUARD;
	struct fake_srq *srq = (struct fake_srq *)ibsrq, **at = &srq->dev->srqs;

	fake_check(!srq->qps, "a shared receive queue in use is destroyed");
	((struct fake_pd *)ibsrq->pd)->users--;
	while (*at != srq)
		at = &(*at)->next;
	*at = srq->next;
	srq->dev->n_srqs--;
	fake_gone(OBJECT_SRQ);
	free(srq->queue.ring);
	free(srq);
	return 0;
}

/* --- queue pair: making and breaking are rdma_cm's (fake_cm.c) --- */

int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	FAKE_GUARD;
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int err = call_on(ibqp->context, CALL_QUERY_QP);

	(void)mask;
	if (err)
		return err;
	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	attr->qp_state = qp->state;
	attr->dest_qp_num = qp->peer_qpn;
	attr->ah_attr.port_num = 1;
	attr->ah_attr.is_global = 1;
	attr->ah_attr.grh.sgid_index = (uint8_t)qp->sgid_index;
	memcpy(attr->ah_attr.grh.dgid.raw, qp->dgid, 16);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	FAKE_GUARD;
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int err = call_on(ibqp->context, CALL_MODIFY_QP);

	if (err)
		return err;
	if (mask == IBV_QP_MIN_RNR_TIMER)
		return qp->state == IBV_QPS_RTS ? 0 : EINVAL;
	fake_check(mask == IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR,
		   "a QP is modified in a way that only rdma_cm may");
	fake_qp_error(qp);
	return 0;
}

/* --- asynchronous events --- */

void fake_raise(struct fake_context *c, const struct ibv_async_event *ev)
{
	struct fake_async *a = calloc(1, sizeof(*a));

	a->ev = *ev;
	*c->tail = a;
	c->tail = &a->next;
	signal_set(&c->signal, true);
}

static bool of_a_qp(const struct ibv_async_event *ev)
{
	static const bool qp_event[] = {
		[IBV_EVENT_QP_FATAL] = true,	  [IBV_EVENT_QP_REQ_ERR] = true,
		[IBV_EVENT_QP_ACCESS_ERR] = true, [IBV_EVENT_COMM_EST] = true,
		[IBV_EVENT_SQ_DRAINED] = true,	  [IBV_EVENT_PATH_MIG] = true,
		[IBV_EVENT_PATH_MIG_ERR] = true,  [IBV_EVENT_QP_LAST_WQE_REACHED] = true,
		[IBV_EVENT_WQ_FATAL] = false,
	};

	return ev->event_type < sizeof(qp_event) / sizeof(qp_event[0]) && qp_event[ev->event_type];
}

/* The kernel drops what was not read when the object goes. */
void fake_forget_qp_events(struct fake_context *c, const struct fake_qp *qp)
{
	struct fake_async **at = &c->head;

	while (*at) {
		struct fake_async *a = *at;

		if (of_a_qp(&a->ev) && a->ev.element.qp == &qp->qp) {
			*at = a->next;
			free(a);
		} else {
			at = &a->next;
		}
	}
	c->tail = at;
	signal_set(&c->signal, c->head);
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *ev)
{
	FAKE_GUARD;
	struct fake_context *c = (struct fake_context *)ctx;
	struct fake_async *a = c->head;

	signal_must_not_block(&c->signal);
	errno = fake_call(CALL_GET_ASYNC_EVENT);
	if (!errno && !a)
		errno = fake_context_dead(ctx) ? EIO : EAGAIN;
	if (errno)
		return -1;
	*ev = a->ev;
	c->head = a->next;
	if (!c->head)
		c->tail = &c->head;
	signal_set(&c->signal, c->head);
	free(a);
	if (of_a_qp(ev))
		((struct fake_qp *)ev->element.qp)->got++;
	else
		fabric.async_unacked++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *ev)
{
	FAKE_GUARD;
	struct fake_qp *qp = of_a_qp(ev) ? (struct fake_qp *)ev->element.qp : NULL;

	if (qp) {
		fake_check(++qp->acked <= qp->got, "a QP's event is acknowledged twice");
		return;
	}
	fake_check(fabric.async_unacked, "an event is acknowledged that nobody got");
	fabric.async_unacked--;
}

/* --- words: what libibverbs says --- */

const char *ibv_event_type_str(enum ibv_event_type event)
{
	return event == IBV_EVENT_QP_FATAL ? "local work queue catastrophic error" : "an event";
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const words[IBV_WC_TM_RNDV_INCOMPLETE + 1] = {
		[IBV_WC_SUCCESS] = "success",
		[IBV_WC_WR_FLUSH_ERR] = "Work Request Flushed Error",
		[IBV_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
	};

	if (status > IBV_WC_TM_RNDV_INCOMPLETE || !words[status])
		return "an error";
	return words[status];
}
