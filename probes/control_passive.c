/* The connections that peers open to us: we only answer on them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/control_priv.h"
#include "probes/table.h"

static struct in6_addr peer_of(struct rdma_cm_id *id)
{
	const struct sockaddr *sa = rdma_get_peer_addr(id);
	struct in6_addr a = {0};

	if (sa->sa_family == AF_INET) {
		a.s6_addr[10] = a.s6_addr[11] = 0xff;
		memcpy(&a.s6_addr[12], &((const struct sockaddr_in *)(const void *)sa)->sin_addr,
		       4);
	} else if (sa->sa_family == AF_INET6) {
		a = ((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	}
	return a;
}

static bool listed(const struct control *c, const struct in6_addr *peer)
{
	if (c->cfg.accept_any)
		return true;
	for (uint32_t i = 0; i < c->n_accept; i++)
		if (IN6_ARE_ADDR_EQUAL(&c->accept[i], peer))
			return true;
	return false;
}

/* Own sessions keep their places also while they are not connected: whoever comes in must not lock
 * them out. */
static bool has_room(const struct control *c)
{
	uint32_t own = c->n_active > c->n_sessions ? c->n_active : c->n_sessions;

	return own + c->n_passive < c->cfg.qps_per_device;
}

static enum wire_reject judge_request(struct control *c, const struct rdma_cm_event *ev,
				      const struct in6_addr *peer, struct wire_request *req)
{
	enum wire_result r;

	if (!listed(c, peer))
		return WIRE_REJECT_NOT_LISTED;
	if (c->stopping)
		return WIRE_REJECT_LEAVING;
	r = wire_get_request(ev->param.conn.private_data, ev->param.conn.private_data_len, req);
	if (r == WIRE_TOO_OLD)
		return WIRE_REJECT_VERSION;
	if (r == WIRE_MALFORMED)
		return WIRE_REJECT_MALFORMED;
	if (!has_room(c))
		return WIRE_REJECT_NO_RESOURCES;
	return WIRE_REJECT_NONE;
}

static void refuse(struct rdma_cm_id *id, enum wire_reject why)
{
	uint8_t data[WIRE_REJECT_LEN];

	wire_put_reject(why, data);
	rdma_reject(id, data, sizeof(data));
	/* Rejecting alone leaks the id. */
	rdma_destroy_id(id);
}

static bool same_key(const struct passive_key *a, const struct passive_key *b)
{
	return a->host == b->host && a->rail == b->rail && a->peer_rail == b->peer_rail &&
	       a->class_hash == b->class_hash && a->path == b->path &&
	       IN6_ARE_ADDR_EQUAL(&a->local, &b->local);
}

/* A peer that returns has left its old connection to us, perhaps without a word. */
static void replace_older(struct control *c, struct conn *conn)
{
	char peer[FACT_ADDRESS], other[FACT_ADDRESS], text[FACT_TEXT];
	struct conn *next;

	for (struct conn *old = c->conns; old; old = next) {
		next = old->next;
		if (old == conn || old->rc.role != CONN_PASSIVE || old->phase != CONN_LIVE ||
		    !same_key(&old->key, &conn->key))
			continue;
		if (old->instance != conn->instance &&
		    !IN6_ARE_ADDR_EQUAL(&old->peer, &conn->peer)) {
			rail_address_text(&old->peer, other);
			rail_address_text(&conn->peer, peer);
			snprintf(text, sizeof(text), "%s and %s connect under one host name", other,
				 peer);
			tell_duplicate(c, old, text);
		}
		conn_drain(c, old, ABORT_FLUSHED, false);
	}
}

static int accept_conn(struct control *c, struct conn *conn, const struct rdma_conn_param *theirs)
{
	const struct ibv_device_attr *attr = endpoint_attr(c->endpoint);
	struct rdma_conn_param param = {
		/* In the event both stand from our side: what they will have us respond to. */
		.responder_resources = theirs->responder_resources && attr->max_qp_rd_atom > 0,
		.initiator_depth = theirs->initiator_depth && attr->max_qp_init_rd_atom > 0,
		.rnr_retry_count = RNR_RETRY,
	};
	uint8_t timeout = (uint8_t)c->cfg.ack_timeout;

	/* Else the passive QP gets a longer one than the active (core/cma.c). */
	rdma_set_option(conn->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			sizeof(timeout));
	return rdma_accept(conn->id, &param) ? -errno : 0;
}

void passive_request(struct control *c, struct listener *l, const struct rdma_cm_event *ev)
{
	struct rdma_cm_id *id = ev->id;
	struct in6_addr peer = peer_of(id);
	struct wire_request req = {0};
	enum wire_reject why = judge_request(c, ev, &peer, &req);
	struct conn *conn;

	if (why == WIRE_REJECT_NONE && id->verbs != endpoint_verbs(c->endpoint))
		why = WIRE_REJECT_NO_RESOURCES;
	conn = why == WIRE_REJECT_NONE ? conn_new(c, CONN_PASSIVE, l->rail) : NULL;
	if (!conn) {
		refuse(id, why == WIRE_REJECT_NONE ? WIRE_REJECT_NO_RESOURCES : why);
		return;
	}
	conn->id = id;
	id->context = conn;
	conn->peer = peer;
	conn->instance = req.instance;
	conn->key = (struct passive_key){req.host_hash,	 req.rail_hash, req.peer_rail_hash,
					 req.class_hash, req.path,	l->address};
	if (conn_make_qp(c, conn) < 0) {
		uint8_t data[WIRE_REJECT_LEN];

		wire_put_reject(WIRE_REJECT_NO_RESOURCES, data);
		rdma_reject(id, data, sizeof(data));
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	replace_older(c, conn);
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + ATTEMPT_NS);
	if (accept_conn(c, conn, &ev->param.conn) < 0)
		conn_drain(c, conn, ABORT_FLUSHED, false);
}

/* Established, or the first message came before RTU did: both count. */
static void welcome(struct control *c, struct conn *conn)
{
	if (conn->welcomed)
		return;
	conn->welcomed = true;
	conn_established(c, conn);
	sessions_wake_peer(c, &conn->peer);
}

/* What is stated is a stranger's word: bounded. An older version states nothing, and is replaced
 * when it comes back. */
static uint64_t keepalive_of(const struct wire_hello *h)
{
	uint64_t ms = h->keepalive_ms;

	if (!ms)
		return 0;
	if (ms < KEEPALIVE_MIN_MS)
		ms = KEEPALIVE_MIN_MS;
	return (ms > KEEPALIVE_MAX_MS ? KEEPALIVE_MAX_MS : ms) * NSEC_PER_MSEC;
}

static void expect_word(struct control *c, struct conn *conn, uint64_t heard_ns)
{
	conn->silent_at_ns =
		conn->keepalive_ns ? heard_ns + KEEPALIVE_LOST * conn->keepalive_ns : TIMER_NEVER;
	timer_heap_set(c->timers, &conn->timer.node, conn->silent_at_ns);
}

void passive_hello(struct control *c, struct conn *conn)
{
	if (conn->phase != CONN_LIVE)
		return;
	if (!conn->rc.hello_in.version) {
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	if (!conn->welcomed)
		rdma_notify(conn->id, IBV_EVENT_COMM_EST);
	welcome(c, conn);
	conn->greeted = true;
	conn->keepalive_ns = keepalive_of(&conn->rc.hello_in);
	expect_word(c, conn, c->p.now_ns());
	conn_send_hello(c, conn, WIRE_HELLO_REPLY);
}

/* A dead host sends no DREQ, and a passive queue pair that nothing is sent on never notices. */
void passive_check_silence(struct control *c, struct conn *conn)
{
	uint64_t now = c->p.now_ns(), patience = KEEPALIVE_LOST * conn->keepalive_ns;
	uint64_t heard = atomic_load_explicit(&conn->rc.heard_ns, memory_order_relaxed);
	uint64_t beat_ns, beat_wall_ns;

	table_get_beat(c->p.table, WORKER_RAIL, &beat_ns, &beat_wall_ns);
	if (heard + patience > now)
		expect_word(c, conn, heard);
	else if (now > conn->silent_at_ns + PAUSE_NS || beat_ns + PAUSE_NS < now)
		/* It is we who were away: its messages may wait to be read. */
		expect_word(c, conn, now);
	else
		conn_drain(c, conn, ABORT_FLUSHED, false);
}

void passive_event(struct control *c, struct conn *conn, const struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->phase == CONN_LIVE)
			welcome(c, conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		conn_disconnected(c, conn, "the peer closed the connection");
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	}
}
