/* The connections that we open: resolve, route, connect, hello. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "probes/control_priv.h"
#include "probes/scan.h"

#define REJECT_STALE 10		 /* IB_CM_REJ_STALE_CONN */
#define REJECT_INVALID_SERVICE 8 /* nobody listens */

union sock_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static union sock_address to_sockaddr(const struct in6_addr *a, uint32_t scope)
{
	union sock_address s = {0};

	if (IN6_IS_ADDR_V4MAPPED(a)) {
		s.in.sin_family = AF_INET;
		memcpy(&s.in.sin_addr, &a->s6_addr[12], 4);
	} else {
		s.in6.sin6_family = AF_INET6;
		s.in6.sin6_addr = *a;
		s.in6.sin6_scope_id = scope;
	}
	return s;
}

static int set_options(struct control *c, struct session *s, struct rdma_cm_id *id)
{
	const struct class_config *cls = &c->cfg.classes[s->wish.class_index];
	uint8_t tos = (uint8_t)cls->tos, timeout = (uint8_t)c->cfg.ack_timeout;

	/* Both before the route is resolved, or they come too late (core/cma.c). */
	if (cls->tos >= 0 &&
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return -errno;
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return -errno;
	return 0;
}

static uint32_t resolve_ms(const struct session *s)
{
	return s->pool == POOL_DEAD ? RESOLVE_DEAD_MS : RESOLVE_MS;
}

/* The kernel ends each step of resolving in its time: who hears nothing even then does not wait for
 * the peer. */
static void await_step(struct control *c, struct conn *conn)
{
	timer_heap_set(c->timers, &conn->timer.node,
		       c->p.now_ns() + resolve_ms(conn->session) * NSEC_PER_MSEC + STALL_NS);
}

int active_start(struct control *c, struct session *s)
{
	struct control_rail *rail = &c->rails[s->wish.rail];
	struct conn *conn = conn_new(c, CONN_ACTIVE, s->wish.rail);
	union sock_address src, dst;
	int r;

	if (!conn)
		return -ENOMEM;
	conn->session = s;
	s->conn = conn;
	await_step(c, conn);
	r = conn_want_proof(c, conn);
	if (r < 0)
		return r;
	if (rdma_create_id(c->channel, &conn->id, conn, RDMA_PS_TCP))
		return -errno;
	r = set_options(c, s, conn->id);
	if (r < 0)
		return r;
	memcpy(&dst, &s->wish.address, sizeof(dst));
	if (dst.sa.sa_family == AF_INET)
		dst.in.sin_port = htons(c->cfg.cm_port);
	else
		dst.in6.sin6_port = htons(c->cfg.cm_port);
	src = to_sockaddr(&rail->source, dst.sa.sa_family == AF_INET6 ? dst.in6.sin6_scope_id : 0);
	if (src.sa.sa_family != dst.sa.sa_family)
		return -EAFNOSUPPORT;
	return rdma_resolve_addr(conn->id, &src.sa, &dst.sa, (int)resolve_ms(s)) ? -errno : 0;
}

static void fail(struct control *c, struct conn *conn, enum connect_failure failure, int code,
		 const char *text)
{
	session_connect_failed(c, conn->session, failure, code, text);
}

static void address_resolved(struct control *c, struct conn *conn)
{
	const struct rail_fact *rail = &c->rails[conn->rail].fact;
	struct rdma_cm_id *id = conn->id;

	/* NULL with a node GUID of zero: librdmacm cannot tell the device. */
	if (!id->verbs) {
		fail(c, conn, CONNECT_RESOLVE, 0, "the route leads to no RDMA device");
		return;
	}
	if (id->verbs != endpoint_verbs(c->endpoint) || id->port_num != rail->port) {
		fail(c, conn, CONNECT_WRONG_DEVICE, 0, "the route leads over another device");
		return;
	}
	await_step(c, conn);
	if (rdma_resolve_route(id, (int)resolve_ms(conn->session)))
		fail(c, conn, CONNECT_ROUTE, errno, strerror(errno));
}

static void make_request(struct control *c, struct conn *conn, uint8_t out[WIRE_REQUEST_LEN])
{
	struct session *s = conn->session;

	wire_put_request(
		&(struct wire_request){
			.instance = c->cfg.instance,
			.generation = c->cfg.generation,
			.host_hash = hash_str(c->cfg.host),
			.rail_hash = hash_str(c->rails[conn->rail].fact.name),
			.peer_rail_hash = hash_str(s->wish.peer_rail),
			.class_hash = (uint32_t)hash_str(c->cfg.classes[s->wish.class_index].name),
			.has_secret = conn->auth != NULL,
		},
		out);
}

static void route_resolved(struct control *c, struct conn *conn)
{
	const struct ibv_device_attr *attr = endpoint_attr(c->endpoint);
	uint8_t request[WIRE_REQUEST_LEN];
	struct rdma_conn_param param = {
		.private_data = request,
		.private_data_len = sizeof(request),
		/* One READ or atomic outstanding; a device may have none. */
		.initiator_depth = attr->max_qp_init_rd_atom > 0,
		.responder_resources = attr->max_qp_rd_atom > 0,
		.retry_count = (uint8_t)c->cfg.retry_count,
		.rnr_retry_count = RNR_RETRY,
	};
	char text[FACT_TEXT];
	int r;

	/* Passive ones may have come before our sessions did, and drains may hang. */
	if (c->n_active + c->n_passive >= c->cfg.qps_per_device) {
		fail(c, conn, CONNECT_NO_RESOURCES, 0, "qps_per_device are all in use");
		return;
	}
	r = conn_make_qp(c, conn);
	if (r < 0) {
		if (r == -ENOSPC)
			snprintf(text, sizeof(text),
				 "the device's queues have room for %u connections, and all are "
				 "taken",
				 endpoint_qps(c->endpoint));
		else
			endpoint_error_text("no QP", -r, text, sizeof(text));
		tell_device(c, text);
		c->no_qp_told = true;
		fail(c, conn, CONNECT_NO_RESOURCES, -r, "no QP can be made");
		return;
	}
	if (c->no_qp_told)
		tell_device(c, "");
	c->no_qp_told = false;
	make_request(c, conn, request);
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + ATTEMPT_NS);
	if (rdma_connect(conn->id, &param)) {
		fail(c, conn, CONNECT_OTHER, errno, strerror(errno));
		return;
	}
	session_enter_state(c, conn->session, SEV_RESOLVED, "");
}

static void rejected(struct control *c, struct conn *conn, const struct rdma_cm_event *ev)
{
	enum wire_reject why =
		wire_get_reject(ev->param.conn.private_data, ev->param.conn.private_data_len);
	enum connect_failure failure = CONNECT_REJECTED;
	const char *text = wire_reject_text(why);

	if (ev->status == REJECT_STALE) {
		failure = CONNECT_STALE;
		text = "the peer still knows our old connection";
	} else if (ev->status == REJECT_INVALID_SERVICE) {
		/* After a goodbye that is no news. */
		text = conn->session->peer_left ? GOODBYE_TEXT
						: "nothing listens on the peer's RDMA port";
	} else if (why == WIRE_REJECT_VERSION) {
		failure = CONNECT_VERSION;
	} else if (why == WIRE_REJECT_NO_RESOURCES) {
		failure = CONNECT_NO_RESOURCES;
	}
	fail(c, conn, failure, ev->status, text);
}

static bool gid_known_as(struct control *c, uint32_t port, uint32_t index, enum gid_type *ret_type,
			 uint8_t gid[16])
{
	for (uint32_t i = 0; i < c->scan->n_addresses; i++) {
		const struct scan_address *a = &c->scan->addresses[i];

		if (a->port != port || a->gid_index != index)
			continue;
		*ret_type = a->gid_type;
		memcpy(gid, a->gid, 16);
		return true;
	}
	return false;
}

/* Which GIDs the QP really uses: not what we asked for, what verbs says. */
static bool learn_gids(struct control *c, struct conn *conn, struct session_conn *pub,
		       enum gid_type *ret_type)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(conn->rc.qp, &attr, IBV_QP_AV | IBV_QP_DEST_QPN, &init))
		return false;
	pub->qpn = conn->rc.qpn;
	pub->remote_qpn = attr.dest_qp_num;
	pub->gid_index = attr.ah_attr.grh.sgid_index;
	memcpy(pub->remote_gid, attr.ah_attr.grh.dgid.raw, 16);
	return gid_known_as(c, attr.ah_attr.port_num, pub->gid_index, ret_type, pub->local_gid);
}

static void established(struct control *c, struct conn *conn, const struct rdma_cm_event *ev)
{
	struct session_conn *pub = &conn->session->pub;
	enum gid_type type = GID_TYPE_UNKNOWN;

	conn_established(c, conn);
	/* In the event it stands from our side. */
	conn->no_reads = !ev->param.conn.initiator_depth;
	if (!learn_gids(c, conn, pub, &type))
		rails_rescan_soon(c, 0); /* an address that came after the last scan */
	if (type == GID_TYPE_ROCE_V1 && !c->cfg.allow_rocev1) {
		fail(c, conn, CONNECT_WRONG_DEVICE, 0, "the connection uses RoCE v1");
		return;
	}
	pub->udp_source_port = 0;
	if (type == GID_TYPE_ROCE_V2)
		pub->udp_source_port = wire_udp_source_port(ntohs(rdma_get_src_port(conn->id)),
							    ntohs(rdma_get_dst_port(conn->id)));
	publish_session(c, conn->session);
	if (conn->auth)
		conn_make_nonce(c, conn->auth->a.initiator_nonce);
	conn_send_hello(c, conn, WIRE_HELLO);
}

static struct in6_addr address_of(const struct wish_session *w)
{
	struct in6_addr a = {0};

	if (w->address.sa.sa_family == AF_INET6)
		return w->address.in6.sin6_addr;
	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	memcpy(&a.s6_addr[12], &w->address.in.sin_addr, 4);
	return a;
}

static bool waits_for_hello(const struct conn *conn)
{
	return conn->phase == CONN_LIVE && conn->session && conn->established &&
	       conn->session->pub.state == SESSION_CONNECTING;
}

void active_challenge(struct control *c, struct conn *conn)
{
	const struct session *s = conn->session;
	struct auth *a;

	if (!waits_for_hello(conn) || !conn->auth)
		return;
	a = &conn->auth->a;
	a->initiator = (struct auth_end){c->rails[conn->rail].source, conn->rc.qpn};
	a->responder = (struct auth_end){address_of(&s->wish), s->pub.remote_qpn};
	memcpy(a->responder_nonce, conn->rc.auth_in, WIRE_NONCE_LEN);
	memcpy(a->hello, conn->rc.hello_out, conn->rc.hello_out_len);
	a->hello_len = conn->rc.hello_out_len;
	auth_prove(a, c->cfg.secret, a->proof);
	conn->auth->challenged = true;
	conn_send_auth(c, conn, WIRE_PROOF, a->proof, sizeof(a->proof));
}

void active_refused(struct control *c, struct conn *conn)
{
	if (waits_for_hello(conn))
		fail(c, conn, CONNECT_REJECTED, 0,
		     wire_reject_text((enum wire_reject)conn->rc.refused_why));
}

static bool proved(const struct control *c, const struct conn *conn)
{
	return !conn->auth ||
	       (conn->auth->challenged && auth_sealed(&conn->auth->a, c->cfg.secret,
						      conn->rc.hello_raw, conn->rc.hello_raw_len));
}

void active_hello(struct control *c, struct conn *conn)
{
	const struct wire_hello *h = &conn->rc.hello_in;
	struct session *s = conn->session;

	if (!waits_for_hello(conn))
		return;
	if (!h->version) {
		fail(c, conn, CONNECT_HELLO, 0, "the peer's hello is malformed");
		return;
	}
	if (!proved(c, conn)) {
		fail(c, conn, CONNECT_REJECTED, 0, SAID_UNPROVEN);
		return;
	}
	timer_heap_set(c->timers, &conn->timer.node, TIMER_NEVER);
	s->rs.pattern = h->pattern;
	s->rs.scratch = h->scratch;
	/* It said that it listens for it; an older version would not know the message. */
	s->rs.keepalive_ns = h->keepalive_ms ? (uint64_t)c->cfg.keepalive_ms * NSEC_PER_MSEC : 0;
	session_learn_lacks(c, s, h, conn->no_reads);
	tell_answered(c, s, h->host);
	command(c, &(struct rail_cmd){.type = RAIL_UP,
				      .conn = &conn->rc,
				      .session = &s->rs,
				      .value = session_lacks(&s->pub)});
	session_enter_state(c, s, SEV_HELLO, "");
}

void active_stalled(struct control *c, struct conn *conn)
{
	c->stalls_routing = conn->id->verbs != NULL; /* its address was resolved */
	tell_stalled(c, true);
	fail(c, conn, CONNECT_RESOLVE, 0, SAID_STALLED);
}

/* Whatever it says: the step at which it hung gets an answer again. */
static void note_word_of_resolving(struct control *c, enum rdma_cm_event_type event)
{
	bool address = event == RDMA_CM_EVENT_ADDR_RESOLVED || event == RDMA_CM_EVENT_ADDR_ERROR;
	bool route = event == RDMA_CM_EVENT_ROUTE_RESOLVED || event == RDMA_CM_EVENT_ROUTE_ERROR;

	if (route || (address && !c->stalls_routing))
		tell_stalled(c, false);
}

void active_event(struct control *c, struct conn *conn, const struct rdma_cm_event *ev)
{
	note_word_of_resolving(c, ev->event);
	/* An answer to what is on its way out already was given up: it must not be counted again,
	 * nor bring a session back that the rail has forgotten. */
	if (!conn->session || (conn->phase != CONN_OPENING && conn->phase != CONN_LIVE))
		return;
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		address_resolved(c, conn);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		fail(c, conn, CONNECT_RESOLVE, ev->status, "no answer to ARP or no route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		route_resolved(c, conn);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		fail(c, conn, CONNECT_ROUTE, ev->status, "no path to the peer");
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(c, conn, ev);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(c, conn, ev);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		fail(c, conn, CONNECT_OTHER, ev->status, "connecting failed");
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/* After ESTABLISHED this is a neighbour whose MAC changed: one reconnect. */
		if (conn->session->pub.state == SESSION_UP)
			conn_disconnected(c, conn, "the peer's link address changed");
		else
			fail(c, conn, CONNECT_UNREACHABLE, ev->status, "the peer does not answer");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		conn_disconnected(c, conn, "the peer closed the connection");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		conn_disconnected(c, conn, "the local address changed");
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	}
}
