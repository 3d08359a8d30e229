/* Asynchronous events: get, copy, acknowledge, then act. An event that was read and not
 * acknowledged blocks the destruction of its object, so nothing happens between the two.
 *
 * Port and device events come on both contexts: they are taken from our own; events of QPs, CQs
 * and SRQs come on librdmacm's context alone. */
#include <errno.h>

#include "probes/async.h"
#include "probes/control_priv.h"
#include "probes/worker.h"

struct seen {
	enum ibv_event_type type;
	uint32_t port, qpn;
};

static bool read_event(struct ibv_context *ctx, struct seen *ret)
{
	struct ibv_async_event ev;

	if (ibv_get_async_event(ctx, &ev))
		return false;
	*ret = (struct seen){.type = ev.event_type};
	switch (ev.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ret->qpn = ev.element.qp->qp_num;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		ret->port = (uint32_t)ev.element.port_num;
		break;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
	case IBV_EVENT_WQ_FATAL:
		break;
	default: /* newer than this library: counted as other */
		break;
	}
	ibv_ack_async_event(&ev);
	return true;
}

static void poke_counters(const struct control *c)
{
	if (c->p.poke_counters)
		c->p.poke_counters(c->p.counters_arg);
}

static void own_event(struct control *c, const struct seen *e)
{
	switch (e->type) {
	case IBV_EVENT_DEVICE_FATAL:
		c->device_gone = true;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		rails_rescan_soon(c, 0);
		poke_counters(c);
		break;
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
		rails_rescan_soon(c, GID_SETTLE_NS);
		poke_counters(c);
		break;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_WQ_FATAL:
	default:
		break;
	}
	tell_async(c, async_event_index(e->type), e->port);
}

/* false: a port or device event, which our own context counts. */
static bool object_event(struct control *c, const struct seen *e)
{
	switch (e->type) {
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		conn_last_wqe(c, e->qpn);
		return true;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		conn_qp_event(c, e->qpn, ibv_event_type_str(e->type));
		return true;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		/* The rail reposts every buffer as it is consumed: the limit is only an alarm.
		 * Armed again a little later, for below the limit it would fire at once. */
		c->limit_rearm_ns = c->p.now_ns() + NSEC_PER_SEC;
		return true;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
		/* Completions are lost: every QP on it must be made anew. */
		c->device_gone = true;
		return true;
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_WQ_FATAL:
		return true;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
	default:
		return false;
	}
}

void async_drain(struct control *c)
{
	struct ibv_context *own = endpoint_own(c->endpoint);
	struct ibv_context *verbs = endpoint_verbs(c->endpoint);
	struct seen e;

	while (own && read_event(own, &e))
		own_event(c, &e);
	if (own && (errno == EIO || errno == ENODEV))
		c->device_gone = true;
	while (verbs && read_event(verbs, &e))
		if (object_event(c, &e))
			tell_async(c, async_event_index(e.type), 0);
}
