/* librdmacm: ids, events, and the handshake between two of them. */
#include "fake_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#define CM_RETRY_NS 4000000000ULL /* a message of the CM that got lost is sent again */
#define CM_RETRIES 15
#define DREQ_RETRY_NS 100000000ULL
#define REJECT_INVALID_SERVICE 8
#define REJECT_CONSUMER 28

static struct fake_id *find_id(uint64_t uid)
{
	for (struct fake_id *id = fabric.ids; id; id = id->next)
		if (id->uid == uid)
			return id;
	return NULL;
}

static int failed(int err)
{
	errno = err;
	return err ? -1 : 0;
}

/* --- event channel --- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	FAKE_GUARD;
	struct fake_event_channel *ch;

	if (failed(fake_call(CALL_CREATE_EVENT_CHANNEL)))
		return NULL;
	ch = calloc(1, sizeof(*ch));
	signal_open(&ch->signal);
	ch->channel.fd = ch->signal.fd;
	ch->tail = &ch->head;
	fake_made(OBJECT_EVENT_CHANNEL);
	return &ch->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	FAKE_GUARD;
	struct fake_event_channel *ch = (struct fake_event_channel *)channel;

	fake_check(!ch->ids, "an event channel with ids on it is destroyed");
	signal_close(&ch->signal);
	fake_gone(OBJECT_EVENT_CHANNEL);
	free(ch);
}

static struct fake_event *queue_event(struct fake_id *id, enum rdma_cm_event_type event, int status)
{
	struct fake_event *e = calloc(1, sizeof(*e));
	struct fake_event_channel *ch = id->channel;

	e->ev.event = event;
	e->ev.status = status;
	e->ev.id = &id->id;
	e->id = id;
	*ch->tail = e;
	ch->tail = &e->next;
	signal_set(&ch->signal, true);
	return e;
}

/* Private data always arrives at its full length. */
static void carry(struct fake_event *e, const uint8_t *data, uint8_t len, uint8_t full)
{
	if (len)
		memcpy(e->data, data, len);
	e->ev.param.conn.private_data = e->data;
	e->ev.param.conn.private_data_len = full;
}

void fake_cm_event(struct fake_id *id, enum rdma_cm_event_type event, int status,
		   const uint8_t *data, uint8_t len)
{
	struct fake_event *e = queue_event(id, event, status);

	if (event == RDMA_CM_EVENT_REJECTED)
		carry(e, data, len, REJ_DATA);
}

static void answer_now(const struct action *a)
{
	struct fake_id *id = find_id(a->uid);

	if (id)
		fake_cm_event(id, a->event, a->status, a->data, a->len);
}

/* An id gets an event a little later, if it is still there. */
static void event_later(const struct fake_id *id, enum rdma_cm_event_type event, int status,
			uint64_t delay_ns)
{
	fake_later(
		&(struct action){
			.run = answer_now, .uid = id->uid, .event = event, .status = status},
		delay_ns);
}

/* What a test put in place of the answer. */
static bool told_answer(struct fake_id *id, enum rdma_cm_event_type lowest,
			enum rdma_cm_event_type highest)
{
	struct fake_answer *w = &id->dev->answer;
	struct action a = {.run = answer_now,
			   .uid = id->uid,
			   .event = w->event,
			   .status = w->status,
			   .len = w->len};

	if (!w->times || w->event < lowest || w->event > highest)
		return false;
	w->times--;
	memcpy(a.data, w->data, w->len);
	fake_later(&a, FABRIC_DELAY_NS);
	return true;
}

/* --- ids --- */

static struct fake_id *id_new(struct fake_event_channel *ch, void *context)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	id->uid = fabric.next_uid++;
	id->channel = ch;
	id->id.channel = &ch->channel;
	id->id.context = context;
	id->id.ps = RDMA_PS_TCP;
	id->ack_timeout = 19; /* what 6.1 takes when nobody says */
	id->next = fabric.ids;
	fabric.ids = id;
	ch->ids++;
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ret, void *context,
		   enum rdma_port_space ps)
{
	FAKE_GUARD;

	fake_check(ps == RDMA_PS_TCP, "another port space");
	if (failed(fake_call(CALL_CREATE_ID)))
		return -1;
	*ret = &id_new((struct fake_event_channel *)channel, context)->id;
	fake_made(OBJECT_ID);
	return 0;
}

static void id_free(struct fake_id *id)
{
	struct fake_id **at = &fabric.ids;

	while (*at != id)
		at = &(*at)->next;
	*at = id->next;
	id->channel->ids--;
	free(id);
}

static void reject_peer(const struct fake_id *id, const uint8_t *data, uint8_t len)
{
	struct action a = {.run = answer_now,
			   .uid = id->peer,
			   .event = RDMA_CM_EVENT_REJECTED,
			   .status = REJECT_CONSUMER,
			   .len = len};
	struct fake_id *peer = find_id(id->peer);

	if (!peer || peer->state != ID_CONNECTING || fake_dropped(id->dev, peer->dev))
		return;
	if (len)
		memcpy(a.data, data, len);
	fake_later(&a, fake_delay(id->dev, peer->dev));
}

/* Unread events go with their id; requests that a listener has not seen go with it. */
static void purge_events(struct fake_id *id)
{
	struct fake_event_channel *ch = id->channel;
	struct fake_event **at = &ch->head;

	while (*at) {
		struct fake_event *e = *at;

		if (e->id != id && e->listener != id) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		if (e->listener == id) {
			reject_peer(e->id, NULL, 0);
			/* What came for it meanwhile stands further behind. */
			purge_events(e->id);
			id_free(e->id);
		}
		free(e);
	}
	ch->tail = at;
	signal_set(&ch->signal, ch->head);
}

static void dreq_arrives(const struct action *a)
{
	struct fake_id *id = find_id(a->uid);

	if (!id || fake_dropped(a->dev, id->dev))
		return;
	/* It overtook a reply that is not read yet: the CM sends it until it is heard. */
	if (id->state == ID_CONNECTING && a->number < CM_RETRIES) {
		struct action next = *a;

		next.number++;
		fake_later(&next, DREQ_RETRY_NS);
		return;
	}
	if (id->state != ID_CONNECTED && id->state != ID_ACCEPTED)
		return;
	id->state = ID_CLOSED;
	fake_cm_event(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
}

static void send_dreq(const struct fake_id *id)
{
	struct fake_id *peer = find_id(id->peer);

	if (peer && !fake_dropped(id->dev, peer->dev))
		fake_later(&(struct action){.run = dreq_arrives, .dev = id->dev, .uid = peer->uid},
			   fake_delay(id->dev, peer->dev));
}

int rdma_destroy_id(struct rdma_cm_id *ibid)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid, *peer = find_id(id->peer);

	fake_check(!ibid->qp, "an id is destroyed before its QP");
	fake_check(!id->unacked, "destroying the id waits for ever for an event's ack");
	purge_events(id);
	if (id->state == ID_CONNECTED || id->state == ID_ACCEPTED)
		send_dreq(id);
	else if (id->state == ID_REQUESTED)
		reject_peer(id, NULL, 0);
	else if (id->state == ID_CONNECTING && peer)
		peer->doomed = true;
	id_free(id);
	fake_gone(OBJECT_ID);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *ibid, int level, int name, void *value, size_t len)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;

	id->has_ack_timeout |= name == RDMA_OPTION_ID_ACK_TIMEOUT; /* at least it was tried */
	if (failed(fake_call(CALL_SET_OPTION)))
		return -1;
	fake_check(level == RDMA_OPTION_ID && len == 1, "an option that the fake does not know");
	if (name == RDMA_OPTION_ID_TOS) {
		id->tos = *(uint8_t *)value;
	} else {
		fake_check(name == RDMA_OPTION_ID_ACK_TIMEOUT, "another option");
		id->ack_timeout = *(uint8_t *)value;
	}
	return 0;
}

/* --- addresses --- */

static struct in6_addr address_of(const struct sockaddr *sa, uint16_t *ret_port)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;
	struct in6_addr a = {0};

	if (sa->sa_family == AF_INET6) {
		*ret_port = ntohs(in6->sin6_port);
		return in6->sin6_addr;
	}
	*ret_port = ntohs(in->sin_port);
	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	memcpy(&a.s6_addr[12], &in->sin_addr, 4);
	return a;
}

static void put_address(struct sockaddr_storage *ss, const struct in6_addr *a, uint16_t port)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	if (IN6_IS_ADDR_V4MAPPED(a)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, &a->s6_addr[12], 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_addr = *a;
	}
}

static void put_route(struct fake_id *id)
{
	put_address(&id->id.route.addr.src_storage, &id->src, id->src_port);
	put_address(&id->id.route.addr.dst_storage, &id->dst, id->dst_port);
}

static bool port_taken(const struct in6_addr *addr, uint16_t port)
{
	for (struct fake_id *id = fabric.ids; id; id = id->next)
		if ((id->state == ID_BOUND || id->state == ID_LISTENING) && id->src_port == port &&
		    !memcmp(&id->src, addr, sizeof(*addr)))
			return true;
	return false;
}

int rdma_bind_addr(struct rdma_cm_id *ibid, struct sockaddr *addr)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;
	unsigned gid;

	if (failed(fake_call(CALL_BIND_ADDR)))
		return -1;
	id->src = address_of(addr, &id->src_port);
	id->dev = fake_device_of(&id->src, &gid);
	/* rdma_cm has one errno for both. */
	if (!id->dev || id->dev->removed || port_taken(&id->src, id->src_port)) {
		id->dev = NULL;
		return failed(EADDRNOTAVAIL);
	}
	id->state = ID_BOUND;
	ibid->verbs = &fake_cm_context(id->dev)->ctx;
	ibid->port_num = 1;
	put_route(id);
	return 0;
}

int rdma_listen(struct rdma_cm_id *ibid, int backlog)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;

	fake_check(id->state == ID_BOUND && backlog >= 64, "listening in the wrong way");
	if (failed(fake_call(CALL_LISTEN)))
		return -1;
	id->state = ID_LISTENING;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *ibid, struct sockaddr *src, struct sockaddr *dst,
		      int timeout_ms)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;
	struct fake_device *to;
	unsigned gid;
	uint16_t unused;

	if (failed(fake_call(CALL_RESOLVE_ADDR)))
		return -1;
	id->src = address_of(src, &unused);
	id->dst = address_of(dst, &id->dst_port);
	id->dev = fake_device_of(&id->src, &gid);
	if (!id->dev || id->dev->removed) {
		id->dev = NULL;
		return failed(EADDRNOTAVAIL);
	}
	id->src_port = fabric.next_port++;
	id->state = ID_ADDR;
	if (id->dev->knobs.hangs_resolving ||
	    told_answer(id, RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_ERROR))
		return 0;
	to = fake_device_of(&id->dst, &gid);
	if (!to || fake_dropped(id->dev, to) || fake_dropped(to, id->dev))
		event_later(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT,
			    (uint64_t)timeout_ms * 1000000);
	else
		event_later(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, fake_delay(id->dev, to));
	return 0;
}

/* In the owner's thread, as librdmacm does while it gets the event. */
static void bind_to_device(struct fake_id *id)
{
	const struct fake_knobs *k = &id->dev->knobs;
	struct fake_device *dev = k->route_to ? k->route_to : id->dev;

	put_route(id);
	id->id.port_num = 1;
	id->id.verbs = k->no_verbs ? NULL : &fake_cm_context(dev)->ctx;
}

int rdma_resolve_route(struct rdma_cm_id *ibid, int timeout_ms)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;

	(void)timeout_ms;
	if (id->state == ID_CLOSED)
		return failed(EINVAL);
	fake_check(id->has_ack_timeout, "a route is resolved before the ACK timeout is set");
	if (failed(fake_call(CALL_RESOLVE_ROUTE)))
		return -1;
	id->state = ID_ROUTE;
	id->dev->tos = id->tos;
	if (!id->dev->knobs.hangs_routing &&
	    !told_answer(id, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_ERROR))
		event_later(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, FABRIC_DELAY_NS);
	return 0;
}

/* --- queue pair --- */

int rdma_create_qp(struct rdma_cm_id *ibid, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;
	struct fake_qp *qp;

	fake_check(attr->send_cq && attr->recv_cq && attr->qp_type == IBV_QPT_RC,
		   "a QP without CQ, or of another kind");
	if (failed(fake_call(CALL_CREATE_QP)))
		return -1;
	if (id->dev->removed)
		return failed(EIO);
	if (id->doomed || !ibid->verbs || ibid->verbs != pd->context ||
	    !fake_qp_fits(id->dev, attr))
		return failed(EINVAL);
	qp = fake_qp_new(pd, attr);
	ibid->qp = &qp->qp;
	id->qpn = qp->qp.qp_num;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *ibid)
{
	FAKE_GUARD;

	fake_check(ibid->qp, "a QP is destroyed twice");
	fake_qp_free((struct fake_qp *)ibid->qp);
	ibid->qp = NULL;
}

/* --- handshake --- */

static void deliver_request(struct fake_id *listener, struct fake_device *dev,
			    const struct fake_id *from, const struct action *a)
{
	struct fake_id *id = id_new(listener->channel, listener->id.context);
	struct fake_event *e;

	id->state = ID_REQUESTED;
	id->dev = dev;
	id->src = from->dst;
	id->src_port = from->dst_port;
	id->dst = from->src;
	id->dst_port = from->src_port;
	id->peer = from->uid;
	id->retry_count = from->retry_count;
	id->rnr_retry = from->rnr_retry;
	id->id.verbs = listener->id.verbs;
	id->id.port_num = 1;
	put_route(id);
	e = queue_event(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	e->listener = listener;
	e->ev.listen_id = &listener->id;
	carry(e, a->data, a->len, REQ_DATA);
	e->ev.param.conn.responder_resources = from->initiator_depth;
	e->ev.param.conn.initiator_depth = from->responder_resources;
	e->ev.param.conn.retry_count = from->retry_count;
	e->ev.param.conn.rnr_retry_count = from->rnr_retry;
}

static struct fake_id *find_listener(const struct in6_addr *addr, uint16_t port)
{
	for (struct fake_id *id = fabric.ids; id; id = id->next)
		if (id->state == ID_LISTENING && id->src_port == port &&
		    !memcmp(&id->src, addr, sizeof(*addr)))
			return id;
	return NULL;
}

static bool again(const struct action *a, struct fake_id *waiting)
{
	struct action next = *a;

	if (a->number == CM_RETRIES) {
		fake_cm_event(waiting, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
		return false;
	}
	next.number++;
	fake_later(&next, CM_RETRY_NS);
	return true;
}

static void request_arrives(const struct action *a)
{
	struct fake_id *from = find_id(a->uid), *listener;
	struct fake_device *to;
	unsigned gid;

	if (!from || from->state != ID_CONNECTING)
		return;
	to = fake_device_of(&from->dst, &gid);
	if (!to || fake_dropped(from->dev, to) || to->knobs.deaf_cm) {
		again(a, from);
		return;
	}
	listener = find_listener(&from->dst, from->dst_port);
	if (!listener) {
		event_later(from, RDMA_CM_EVENT_REJECTED, REJECT_INVALID_SERVICE,
			    fake_delay(to, from->dev));
		return;
	}
	deliver_request(listener, to, from, a);
	from->peer = fabric.ids->uid; /* the one just made */
}

void fabric_request(struct fake_device *dev, const char *from, const char *to, const uint8_t *data,
		    uint8_t len)
{
	FAKE_GUARD;
	struct fake_id stranger = {.src = fake_parse(from),
				   .dst = fake_parse(to),
				   .src_port = 40000,
				   .dst_port = 10480,
				   .retry_count = 6,
				   .initiator_depth = 1,
				   .responder_resources = 1};
	struct fake_id *listener = find_listener(&stranger.dst, stranger.dst_port);
	struct action a = {.len = len};

	fake_check(listener, "nobody listens for the stranger");
	memcpy(a.data, data, len);
	deliver_request(listener, dev, &stranger, &a);
}

int rdma_connect(struct rdma_cm_id *ibid, struct rdma_conn_param *param)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;
	struct action a = {.run = request_arrives, .uid = id->uid, .len = param->private_data_len};
	struct fake_device *to;
	unsigned gid;

	if (id->state == ID_CLOSED)
		return failed(EINVAL);
	fake_check(ibid->qp, "connecting without a QP");
	fake_check(param->retry_count >= 1 && param->retry_count <= 6 &&
			   param->rnr_retry_count <= 6,
		   "a retry count that is for ever");
	fake_check_depths(id->dev, param);
	if (failed(fake_call(CALL_CONNECT)))
		return -1;
	if (param->private_data_len > REQ_DATA)
		return failed(EINVAL);
	id->retry_count = param->retry_count;
	id->peer_rnr_retry = param->rnr_retry_count;
	id->initiator_depth = param->initiator_depth;
	id->responder_resources = param->responder_resources;
	id->state = ID_CONNECTING;
	if (told_answer(id, RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_REJECTED))
		return 0;
	memcpy(a.data, param->private_data, a.len);
	to = fake_device_of(&id->dst, &gid);
	fake_later(&a, to ? fake_delay(id->dev, to) : FABRIC_DELAY_NS);
	return 0;
}

static void reply_arrives(const struct action *a)
{
	struct fake_id *from = find_id(a->uid2), *to = find_id(a->uid);
	struct fake_event *e;

	if (!from)
		return;
	if (!to || to->state != ID_CONNECTING) {
		fake_cm_event(from, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER, NULL, 0);
		return;
	}
	if (fake_dropped(from->dev, to->dev)) {
		again(a, from);
		return;
	}
	e = queue_event(to, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	carry(e, NULL, 0, REP_DATA);
	e->peer_qpn = from->qpn;
	e->ev.param.conn.responder_resources = from->initiator_depth;
	e->ev.param.conn.initiator_depth = from->responder_resources;
}

int rdma_accept(struct rdma_cm_id *ibid, struct rdma_conn_param *param)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid, *peer = find_id(id->peer);

	if (id->state == ID_CLOSED) /* by the removal of its device */
		return failed(EINVAL);
	fake_check(id->state == ID_REQUESTED && ibid->qp, "accepting in the wrong way");
	fake_check(id->has_ack_timeout, "the passive side leaves the ACK timeout to chance");
	fake_check(param->rnr_retry_count <= 6, "a retry count that is for ever");
	fake_check_depths(id->dev, param);
	if (failed(fake_call(CALL_ACCEPT)))
		return -1;
	if (id->doomed || (id->peer && !peer))
		return failed(EINVAL);
	id->state = ID_ACCEPTED;
	if (!peer) { /* a stranger: nobody hears it */
		id->responder_resources = param->responder_resources;
		fake_qp_connect((struct fake_qp *)ibid->qp, id, id->dev, 0xffffff);
		return 0;
	}
	/* The request's count rules the passive side, the reply's the active one. */
	id->rnr_retry = peer->peer_rnr_retry;
	peer->rnr_retry = param->rnr_retry_count;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	fake_qp_connect((struct fake_qp *)ibid->qp, id, peer->dev, peer->qpn);
	fake_later(&(struct action){.run = reply_arrives, .uid = peer->uid, .uid2 = id->uid},
		   fake_delay(id->dev, peer->dev));
	return 0;
}

int rdma_reject(struct rdma_cm_id *ibid, const void *data, uint8_t len)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;

	if (id->state == ID_CLOSED)
		return failed(EINVAL);
	fake_check(id->state == ID_REQUESTED, "rejecting what is no request");
	if (failed(fake_call(CALL_REJECT)))
		return -1;
	id->dev->rejects++;
	memset(id->dev->rejected, 0, REJ_DATA);
	memcpy(id->dev->rejected, data, len);
	reject_peer(id, data, len);
	id->state = ID_CLOSED;
	return 0;
}

static void ready_to_use(const struct action *a)
{
	struct fake_id *id = find_id(a->uid);

	if (!id || id->state != ID_ACCEPTED || fake_dropped(a->dev, id->dev))
		return;
	id->state = ID_CONNECTED;
	fake_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
}

int rdma_notify(struct rdma_cm_id *ibid, enum ibv_event_type event)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid;

	fake_check(event == IBV_EVENT_COMM_EST, "rdma_cm is told another event");
	if (id->state != ID_ACCEPTED)
		return failed(EINVAL);
	id->state = ID_CONNECTED;
	fake_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *ibid)
{
	FAKE_GUARD;
	struct fake_id *id = (struct fake_id *)ibid, *peer = find_id(id->peer);
	bool reached;

	if (failed(fake_call(CALL_DISCONNECT)))
		return -1;
	if (id->state != ID_CONNECTED && id->state != ID_ACCEPTED)
		return failed(EINVAL);
	if (ibid->qp)
		fake_qp_error((struct fake_qp *)ibid->qp);
	id->state = ID_CLOSED;
	send_dreq(id);
	reached = peer && !fake_dropped(id->dev, peer->dev);
	event_later(id, RDMA_CM_EVENT_DISCONNECTED, reached ? 0 : -ETIMEDOUT,
		    reached ? 2 * fake_delay(id->dev, peer->dev) : CM_RETRIES * CM_RETRY_NS);
	return 0;
}

/* --- getting events --- */

/* What librdmacm does inside rdma_get_cm_event(): the QP goes to RTR and RTS. */
static void take_response(struct fake_id *id, struct fake_event *e)
{
	struct fake_id *peer = find_id(id->peer);
	struct fake_device *dev;
	unsigned gid;
	int err = fake_call(CALL_CONNECT_RESPONSE);

	if (!id->id.qp)
		return; /* destroyed meanwhile: the event says CONNECT_RESPONSE */
	if (err) {
		fake_qp_error((struct fake_qp *)id->id.qp);
		e->ev.event = RDMA_CM_EVENT_CONNECT_ERROR;
		e->ev.status = -err;
		if (peer)
			event_later(peer, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER,
				    fake_delay(id->dev, peer->dev));
		return;
	}
	dev = fake_device_of(&id->dst, &gid);
	fake_qp_connect((struct fake_qp *)id->id.qp, id, dev ? dev : id->dev, e->peer_qpn);
	id->state = ID_CONNECTED;
	e->ev.event = RDMA_CM_EVENT_ESTABLISHED;
	if (peer && peer->dev->knobs.closes_after_ns)
		fake_later(&(struct action){.run = dreq_arrives, .dev = peer->dev, .uid = id->uid},
			   peer->dev->knobs.closes_after_ns);
	if (peer && !id->dev->knobs.lose_rtu)
		fake_later(&(struct action){.run = ready_to_use, .uid = peer->uid, .dev = id->dev},
			   fake_delay(id->dev, peer->dev));
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **ret)
{
	FAKE_GUARD;
	struct fake_event_channel *ch = (struct fake_event_channel *)channel;
	struct fake_event *e = ch->head;

	signal_must_not_block(&ch->signal);
	if (!e)
		return failed(EAGAIN);
	ch->head = e->next;
	if (!ch->head)
		ch->tail = &ch->head;
	signal_set(&ch->signal, ch->head);
	if (e->ev.event == RDMA_CM_EVENT_ADDR_RESOLVED)
		bind_to_device(e->id);
	else if (e->ev.event == RDMA_CM_EVENT_CONNECT_RESPONSE)
		take_response(e->id, e);
	else if (e->ev.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		fake_made(OBJECT_ID);
	if (e->ev.event == RDMA_CM_EVENT_REJECTED || e->ev.event == RDMA_CM_EVENT_UNREACHABLE)
		e->id->state = e->id->state == ID_CONNECTED ? ID_CONNECTED : ID_CLOSED;
	e->id->unacked++;
	if (e->listener)
		e->listener->unacked++;
	fake_made(OBJECT_CM_EVENT);
	*ret = &e->ev;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *ev)
{
	FAKE_GUARD;
	struct fake_event *e = (struct fake_event *)ev;

	e->id->unacked--;
	if (e->listener)
		e->listener->unacked--;
	fake_gone(OBJECT_CM_EVENT);
	memset(e, 0xee, sizeof(*e)); /* who looks at it now sees nonsense */
	free(e);
	return 0;
}
