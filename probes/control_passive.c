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

static void refuse(struct rdma_cm_id *id, enum refuse_reason why)
{
	uint8_t data[WIRE_REJECT_LEN];

	wire_put_reject(gate_reject(why), data);
	rdma_reject(id, data, sizeof(data));
	/* Rejecting alone leaks the id. */
	rdma_destroy_id(id);
}

bool passive_key_equal(const struct passive_key *a, const struct passive_key *b)
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
		    !passive_key_equal(&old->key, &conn->key))
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

static void take_in(struct control *c, struct conn *conn, const struct rdma_cm_event *ev)
{
	uint8_t data[WIRE_REJECT_LEN];

	if (conn_want_proof(c, conn) < 0 || conn_make_qp(c, conn) < 0) {
		wire_put_reject(WIRE_REJECT_NO_RESOURCES, data);
		rdma_reject(conn->id, data, sizeof(data));
		gate_tell(c, REFUSE_NO_RESOURCES,
			  &(struct refused){.address = conn->peer,
					    .host_hash = conn->key.host,
					    .host = "",
					    .rail = conn->rail});
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + ATTEMPT_NS);
	if (accept_conn(c, conn, &ev->param.conn) < 0)
		conn_drain(c, conn, ABORT_FLUSHED, false);
}

void passive_request(struct control *c, struct listener *l, const struct rdma_cm_event *ev)
{
	struct rdma_cm_id *id = ev->id;
	struct in6_addr peer = peer_of(id);
	struct wire_request req = {0};
	enum refuse_reason why;
	bool welcome = gate_judge(c, ev, &peer, &req, &why);
	struct passive_key key = {req.host_hash,  req.rail_hash, req.peer_rail_hash,
				  req.class_hash, req.path,	 l->address};
	struct conn *conn = NULL;

	if (welcome && !gate_has_room(c, &peer, &key)) {
		welcome = false;
		why = REFUSE_CAP;
	} else if (welcome) {
		why = REFUSE_NO_RESOURCES;
		welcome = id->verbs == endpoint_verbs(c->endpoint);
	}
	if (welcome)
		conn = conn_new(c, CONN_PASSIVE, l->rail);
	if (!conn) {
		refuse(id, why);
		gate_tell(c, why,
			  &(struct refused){.address = peer,
					    .host_hash = req.host_hash,
					    .host = "",
					    .rail = l->rail});
		return;
	}
	conn->id = id;
	id->context = conn;
	conn->peer = peer;
	conn->instance = req.instance;
	conn->key = key;
	take_in(c, conn, ev);
}

/* Established, or the first message came before RTU did: both count. */
static void welcome(struct control *c, struct conn *conn)
{
	if (conn->welcomed)
		return;
	conn->welcomed = true;
	conn_established(c, conn);
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

/* Its words are good, and it has proved what it had to: it takes the place of the one before, and
 * learns where our memory is. */
static void greet(struct control *c, struct conn *conn)
{
	conn->greeted = true;
	replace_older(c, conn);
	sessions_wake_peer(c, &conn->peer);
	conn->keepalive_ns = keepalive_of(&conn->rc.hello_in);
	expect_word(c, conn, c->p.now_ns());
	conn_send_hello(c, conn, WIRE_HELLO_REPLY);
}

static void challenge(struct control *c, struct conn *conn)
{
	struct auth *a = &conn->auth->a;
	struct ibv_qp_attr attr = {0};
	struct ibv_qp_init_attr init;

	/* A number that could not be learnt fits no proof. */
	ibv_query_qp(conn->rc.qp, &attr, IBV_QP_DEST_QPN, &init);
	a->initiator = (struct auth_end){conn->peer, attr.dest_qp_num};
	a->responder = (struct auth_end){conn->key.local, conn->rc.qpn};
	a->hello_len = conn->rc.hello_raw_len;
	memcpy(a->initiator_nonce, conn->rc.hello_in.nonce, WIRE_NONCE_LEN);
	conn_make_nonce(c, a->responder_nonce);
	conn->auth->challenged = true;
	conn_send_auth(c, conn, WIRE_CHALLENGE, a->responder_nonce, WIRE_NONCE_LEN);
}

void passive_hello(struct control *c, struct conn *conn)
{
	const struct wire_hello *h = &conn->rc.hello_in;

	if (conn->phase != CONN_LIVE)
		return;
	if (!h->version || (conn->auth && !h->has_nonce)) {
		gate_count(c, REFUSE_HELLO, conn->rail);
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	if (!conn->welcomed)
		rdma_notify(conn->id, IBV_EVENT_COMM_EST);
	welcome(c, conn);
	if (conn->auth)
		challenge(c, conn);
	else
		greet(c, conn);
}

void passive_proof(struct control *c, struct conn *conn)
{
	if (conn->phase != CONN_LIVE || conn->greeted)
		return;
	if (!conn->auth || !conn->auth->challenged) {
		gate_count(c, REFUSE_HELLO, conn->rail);
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	if (auth_accept(&conn->auth->a, c->cfg.secret, conn->rc.auth_in)) {
		greet(c, conn);
		return;
	}
	gate_tell(c, REFUSE_SECRET_DIFFERS,
		  &(struct refused){.address = conn->peer,
				    .host_hash = conn->key.host,
				    .host = conn->rc.hello_in.host,
				    .rail = conn->rail});
	conn_refuse(c, conn, WIRE_REJECT_SECRET_DIFFERS);
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
