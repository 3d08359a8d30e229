/* Connections: making the QP, HELLO, and the one way to end them. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "probes/control_priv.h"
#include "probes/table.h"

#define INLINE_WANTED 64 /* the default probe; devices that refuse get 0 */

struct conn *conn_new(struct control *c, enum conn_role role, uint32_t rail)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->owner.kind = CM_CONN;
	conn->rc.role = role;
	conn->rc.owner = conn;
	conn->rail = rail;
	conn->timer.conn = conn;
	conn->next = c->conns;
	conn->link = &c->conns;
	if (conn->next)
		conn->next->link = &conn->next;
	c->conns = conn;
	return conn;
}

static void count_qp(struct control *c, struct conn *conn, int by)
{
	uint32_t *n = conn->rc.role == CONN_ACTIVE ? &c->n_active : &c->n_passive;

	*n += (uint32_t)by;
	publish_qps(c);
}

/* The QP and its memory; the id stays. Sends nothing. */
static void release_qp(struct control *c, struct conn *conn)
{
	timer_heap_set(c->timers, &conn->timer.node, TIMER_NEVER);
	if (conn->rc.qp) {
		rdma_destroy_qp(conn->id);
		count_qp(c, conn, -1);
	}
	conn->rc.qp = NULL;
	if (conn->has_memory)
		endpoint_give_memory(c->endpoint, &conn->rc.mem);
	conn->has_memory = false;
	if (conn->has_place)
		endpoint_give_place(c->endpoint, conn->set);
	conn->has_place = false;
}

static void conn_destroy(struct control *c, struct conn *conn)
{
	release_qp(c, conn);
	if (conn->id)
		rdma_destroy_id(conn->id);
	*conn->link = conn->next;
	if (conn->next)
		conn->next->link = conn->link;
	free(conn->auth);
	free(conn);
}

/* Ending an id that is or was connecting sends a CM message. rxe takes one that cannot leave (port
 * down) as an error of QP 1 itself, and then no connection is possible on the device until it is
 * made anew (rxe_req.c, rxe_requester). A peer cannot hear us now anyway: it waits. */
static bool may_send_mads(struct control *c, const struct conn *conn)
{
	if (c->stopping || !conn->rc.qp)
		return true;
	return c->p.now_ns() >= conn->quiet_until_ns && rails_port_active(c, conn->rail);
}

void conns_follow_port(struct control *c)
{
	struct conn *next;

	for (struct conn *conn = c->conns; conn; conn = next) {
		bool active = rails_port_active(c, conn->rail);

		next = conn->next;
		if (conn->phase == CONN_HELD && c->p.now_ns() >= conn->quiet_until_ns && active)
			conn_destroy(c, conn);
		else if (conn->phase == CONN_SUSPECT && !active)
			timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns());
	}
}

void conns_free(struct control *c)
{
	while (c->conns)
		conn_destroy(c, c->conns);
}

/* What a QP is asked to have; a device may have less than what we like best. */
static struct ibv_qp_cap wanted_cap(const struct control *c, uint32_t max_inline)
{
	uint32_t max_wr = (uint32_t)endpoint_attr(c->endpoint)->max_qp_wr;
	struct ibv_qp_cap cap = {
		.max_send_wr = TX_DEPTH < max_wr ? TX_DEPTH : max_wr,
		.max_send_sge = 1,
		.max_inline_data = max_inline,
	};

	if (!endpoint_has_srq(c->endpoint)) {
		cap.max_recv_wr = RX_PER_QP < max_wr ? RX_PER_QP : max_wr;
		cap.max_recv_sge = 1;
	}
	return cap;
}

static int create_qp(struct control *c, struct conn *conn)
{
	const struct rail_queues *q = &endpoint_set(c->endpoint, conn->set)->q;
	struct ibv_qp_init_attr attr = {
		.send_cq = q->cq,
		.recv_cq = q->cq,
		.srq = q->srq,
		.qp_type = IBV_QPT_RC,
		.cap = wanted_cap(c, INLINE_WANTED),
	};
	struct ibv_qp_cap asked = attr.cap;

	if (rdma_create_qp(conn->id, endpoint_pd(c->endpoint), &attr)) {
		/* A device that has less inline room than asked for refuses the whole QP (E810). */
		asked = attr.cap = wanted_cap(c, 0);
		if (rdma_create_qp(conn->id, endpoint_pd(c->endpoint), &attr))
			return -errno;
		attr.cap.max_inline_data = 0;
	}
	conn->rc.max_inline = attr.cap.max_inline_data;
	/* What it has beyond that is not counted on: the CQ is not made for it. */
	conn->rc.tx_depth = asked.max_send_wr;
	conn->rc.rx_depth = asked.max_recv_wr;
	return 0;
}

/* Where there is no SRQ the receives are there before the peer can send: iWARP would end the
 * connection, RoCE wait for long. */
static int fill_own_queue(struct conn *conn)
{
	int err;

	if (!conn->rc.rx_depth)
		return 0;
	err = rail_conn_fill(&conn->rc);
	return -err;
}

void conn_tell_queues(struct control *c)
{
	for (; c->sets_told < endpoint_sets(c->endpoint); c->sets_told++)
		command(c, &(struct rail_cmd){
				   .type = RAIL_QUEUES,
				   .queues = endpoint_set(c->endpoint, c->sets_told)->q,
			   });
}

/* A place in a set of queues, and the receives that go with it. */
static int take_place(struct control *c, struct conn *conn)
{
	uint32_t more = 0;
	int r;

	if (c->n_active + c->n_passive >= endpoint_qps(c->endpoint))
		return -ENOSPC;
	r = endpoint_take_place(c->endpoint, &conn->set);
	if (r < 0)
		return r;
	conn->has_place = true;
	conn_tell_queues(c);
	r = endpoint_receives(c->endpoint, conn->set, &more);
	if (more)
		command(c, &(struct rail_cmd){
				   .type = RAIL_RECEIVES, .index = conn->set, .value = more});
	if (more && c->limit_rearm_ns == TIMER_NEVER)
		c->limit_rearm_ns = c->p.now_ns() + NSEC_PER_SEC;
	return r;
}

int conn_make_qp(struct control *c, struct conn *conn)
{
	int r = take_place(c, conn);

	if (r < 0)
		return r;
	r = endpoint_take_memory(c->endpoint, &conn->rc.mem);
	if (r < 0)
		return r;
	conn->has_memory = true;
	r = create_qp(c, conn);
	if (r < 0)
		return r;
	conn->rc.qp = conn->id->qp;
	conn->rc.qpn = conn->rc.qp->qp_num;
	count_qp(c, conn, 1);
	r = fill_own_queue(conn);
	if (r < 0)
		return r;
	conn->phase = CONN_LIVE;
	command_conn(c, RAIL_ATTACH, conn, 0);
	return 0;
}

void conn_established(struct control *c, struct conn *conn)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = MIN_RNR_TIMER};

	(void)c;
	conn->established = true;
	/* Legal in RTS; a driver that refuses keeps 655 ms, which only costs time. */
	ibv_modify_qp(conn->rc.qp, &attr, IBV_QP_MIN_RNR_TIMER);
}

void conn_send_hello(struct control *c, struct conn *conn, enum wire_type type)
{
	struct wire_hello h = {
		.instance = c->cfg.instance,
		.rx_size = endpoint_rx(c->endpoint)->size,
		.keepalive_ms = conn->session ? c->cfg.keepalive_ms
					      : (uint32_t)(conn->keepalive_ns / NSEC_PER_MSEC),
	};

	name_copy(h.host, sizeof(h.host), c->cfg.host);
	name_copy(h.rail, sizeof(h.rail), c->rails[conn->rail].fact.name);
	if (conn->session) {
		name_copy(h.peer_rail, sizeof(h.peer_rail), conn->session->wish.peer_rail);
		name_copy(h.class_name, sizeof(h.class_name),
			  c->cfg.classes[conn->session->wish.class_index].name);
	}
	/* Only who answers is read from and written to. */
	if (type == WIRE_HELLO_REPLY) {
		endpoint_pattern(c->endpoint, &h.pattern);
		endpoint_scratch(c->endpoint, &h.scratch, &h.scratch_atomics);
		h.has_mac = conn->auth != NULL;
	} else if (conn->auth) {
		h.has_nonce = true;
		memcpy(h.nonce, conn->auth->a.initiator_nonce, WIRE_NONCE_LEN);
	}
	conn->rc.hello_out_len =
		(uint32_t)wire_put_hello(type, &h, conn->rc.hello_out, sizeof(conn->rc.hello_out));
	if (h.has_mac)
		auth_seal(&conn->auth->a, c->cfg.secret, conn->rc.hello_out,
			  conn->rc.hello_out_len);
	command_conn(c, RAIL_SEND_HELLO, conn, 0);
}

void conn_send_auth(struct control *c, struct conn *conn, enum wire_type type, const uint8_t *body,
		    size_t size)
{
	conn->rc.auth_out_len = (uint32_t)wire_put_auth(type, body, size, conn->rc.auth_out);
	command_conn(c, RAIL_SEND_AUTH, conn, 0);
}

int conn_want_proof(struct control *c, struct conn *conn)
{
	if (!c->cfg.has_secret)
		return 0;
	conn->auth = calloc(1, sizeof(*conn->auth));
	if (!conn->auth)
		return -ENOMEM;
	conn->rc.hello_raw = conn->rc.role == CONN_ACTIVE ? conn->auth->reply : conn->auth->a.hello;
	return 0;
}

void conn_make_nonce(struct control *c, uint8_t nonce[WIRE_NONCE_LEN])
{
	uint64_t random[] = {c->p.random(), c->p.random()};

	static_assert(sizeof(random) == WIRE_NONCE_LEN, "as many bits as the nonce has");
	memcpy(nonce, random, sizeof(random));
}

/* --- the end --- */

static void to_error(struct control *c, struct conn *conn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	/* By hand, for rdma_disconnect() does it in some states only; at DISCONNECTED the passive
	 * QP is still RTS. Then the DREQ, so that the peer learns of it. */
	ibv_modify_qp(conn->rc.qp, &attr, IBV_QP_STATE);
	if (may_send_mads(c, conn))
		rdma_disconnect(conn->id);
	conn->phase = CONN_MARKING;
	command_conn(c, RAIL_MARK, conn, 0);
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + MARKER_NS);
}

void conn_drain(struct control *c, struct conn *conn, uint32_t value, bool goodbye)
{
	struct session *s = conn->session;

	if (conn->phase == CONN_OPENING || conn->phase == CONN_HELD) {
		conn_destroy(c, conn);
		if (s)
			session_conn_gone(c, s);
		return;
	}
	if (conn->phase != CONN_LIVE && conn->phase != CONN_SUSPECT)
		return;
	command_conn(c, RAIL_DRAIN, conn, value);
	if (goodbye && conn->established) {
		conn->phase = CONN_GOODBYE;
		command_conn(c, RAIL_GOODBYE, conn, 0);
		timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + GOODBYE_NS);
		return;
	}
	to_error(c, conn);
}

void conn_refuse(struct control *c, struct conn *conn, enum wire_reject why)
{
	command_conn(c, RAIL_DRAIN, conn, ABORT_FLUSHED);
	conn->phase = CONN_GOODBYE;
	conn->refusing = true;
	command_conn(c, RAIL_GOODBYE, conn, why);
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + GOODBYE_NS);
}

static void finish(struct control *c, struct conn *conn, enum drain_outcome outcome)
{
	timer_heap_set(c->timers, &conn->timer.node, TIMER_NEVER);
	conn->phase = CONN_FORGETTING;
	tell_drain(c, conn, outcome);
	command_conn(c, RAIL_FORGET, conn, 0);
}

static void marker_flushed(struct control *c, struct conn *conn)
{
	if (conn->phase != CONN_MARKING)
		return;
	/* Only QPs on an SRQ raise the event. */
	if (!endpoint_has_srq(c->endpoint)) {
		finish(c, conn, DRAIN_MARKER);
		return;
	}
	conn->phase = CONN_LAST_WQE;
	timer_heap_set(c->timers, &conn->timer.node, c->p.now_ns() + LAST_WQE_NS);
	async_drain(c); /* it may be there already, unread */
	if (conn->last_wqe && conn->phase == CONN_LAST_WQE)
		finish(c, conn, DRAIN_LAST_WQE);
}

struct conn *conn_by_qpn(struct control *c, uint32_t qpn)
{
	for (struct conn *conn = c->conns; conn; conn = conn->next)
		if (conn->rc.qp && conn->rc.qpn == qpn)
			return conn;
	return NULL;
}

/* May come several times, never, or late: only the first one during a drain matters. */
void conn_last_wqe(struct control *c, uint32_t qpn)
{
	struct conn *conn = conn_by_qpn(c, qpn);

	if (!conn)
		return;
	conn->last_wqe = true;
	if (conn->phase == CONN_LAST_WQE)
		finish(c, conn, DRAIN_LAST_WQE);
}

/* --- what the rail noticed --- */

/* value as in RAIL_DRAIN for the probe whose completion had this status. */
static uint32_t value_of_status(uint32_t status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return FAIL_BASE + FAIL_RETRY_EXCEEDED;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return FAIL_BASE + FAIL_RNR_RETRY_EXCEEDED;
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
		return FAIL_BASE + FAIL_REMOTE_ACCESS;
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return FAIL_BASE + FAIL_REMOTE_OPERATION;
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
		return FAIL_BASE + FAIL_LOCAL_QP_ERROR;
	case IBV_WC_WR_FLUSH_ERR:
		return ABORT_FLUSHED;
	default:
		return FAIL_BASE + FAIL_OTHER;
	}
}

/* A link that goes down loses its routes before its port says so: this may be the first sign. */
static bool could_not_leave(uint32_t status)
{
	return status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_WR_FLUSH_ERR ||
	       status == IBV_WC_GENERAL_ERR;
}

static void break_session(struct control *c, struct conn *conn)
{
	struct session *s = conn->session;
	uint32_t status = conn->error.status, value = value_of_status(status);

	if (rails_port_down_now(c, conn->rail, s->pub.local_gid))
		value = ABORT_LOCAL_PORT_DOWN;
	conn->phase = CONN_LIVE;
	session_broken(c, s, (int)status, conn->error.vendor_err, conn->error.op,
		       ibv_wc_status_str(status), value);
}

/* Whose fault it is shows a little later. */
static void suspect_port(struct control *c, struct conn *conn)
{
	conn->phase = CONN_SUSPECT;
	timer_heap_set(c->timers, &conn->timer.node, conn->quiet_until_ns);
}

static void failed(struct control *c, struct conn *conn, const struct rail_note *n)
{
	struct session *s = conn->session;

	if (conn->phase != CONN_LIVE)
		return;
	if (could_not_leave(n->status))
		conn->quiet_until_ns = c->p.now_ns() + PORT_SETTLE_NS;
	if (!s) {
		conn_drain(c, conn, ABORT_FLUSHED, false);
		return;
	}
	if (s->pub.state != SESSION_UP) {
		session_connect_failed(c, s, CONNECT_HELLO, (int)n->status,
				       ibv_wc_status_str(n->status));
		return;
	}
	conn->error.status = n->status;
	conn->error.vendor_err = n->vendor_err;
	conn->error.op = n->op;
	if (could_not_leave(n->status) && !rails_port_down_now(c, conn->rail, s->pub.local_gid))
		suspect_port(c, conn);
	else
		break_session(c, conn);
}

void conn_disconnected(struct control *c, struct conn *conn, const char *text)
{
	struct session *s = conn->session;

	if (conn->phase != CONN_LIVE)
		return;
	if (!s)
		conn_drain(c, conn, ABORT_FLUSHED, false);
	else if (s->pub.state == SESSION_UP)
		session_broken(c, s, IBV_WC_WR_FLUSH_ERR, 0, OP_SEND, text, ABORT_FLUSHED);
	else
		session_connect_failed(c, s, CONNECT_OTHER, 0,
				       conn->established ? SAID_CLOSED : text);
}

static void goodbye(struct control *c, struct conn *conn)
{
	struct session *s = conn->session;

	if (conn->phase != CONN_LIVE) {
		if (s)
			session_left(c, s);
		return;
	}
	if (s && s->pub.state == SESSION_UP) {
		s->peer_left = true;
		session_broken(c, s, IBV_WC_SUCCESS, 0, OP_SEND, GOODBYE_TEXT, ABORT_PEER_LEAVING);
	} else if (!s) {
		conn_drain(c, conn, ABORT_PEER_LEAVING, false);
	}
}

static void forgotten(struct control *c, struct conn *conn)
{
	struct session *s = conn->session;

	if (may_send_mads(c, conn)) {
		conn_destroy(c, conn);
	} else {
		release_qp(c, conn);
		conn->phase = CONN_HELD;
		conn->session = NULL;
		if (c->p.now_ns() < conn->quiet_until_ns)
			timer_heap_set(c->timers, &conn->timer.node, conn->quiet_until_ns);
	}
	if (s)
		session_conn_gone(c, s);
}

void conn_note(struct control *c, const struct rail_note *n)
{
	struct conn *conn = n->conn->owner;

	switch (n->type) {
	case NOTE_HELLO:
		if (conn->rc.role == CONN_ACTIVE)
			active_hello(c, conn);
		else
			passive_hello(c, conn);
		break;
	case NOTE_AUTH:
		if (conn->rc.role == CONN_ACTIVE)
			active_challenge(c, conn);
		else
			passive_proof(c, conn);
		break;
	case NOTE_REFUSED:
		active_refused(c, conn);
		break;
	case NOTE_FAILED:
		failed(c, conn, n);
		break;
	case NOTE_GOODBYE:
		goodbye(c, conn);
		break;
	case NOTE_GOODBYE_SENT:
		/* Who is refused reads that first, and closes by itself. */
		if (conn->phase == CONN_GOODBYE && !conn->refusing)
			to_error(c, conn);
		break;
	case NOTE_MARKER:
		marker_flushed(c, conn);
		break;
	case NOTE_FORGOTTEN:
		forgotten(c, conn);
		break;
	case NOTE_REMOVED:
	case NOTE_ATTENTION:
	case NOTE_CORRUPT:
	case NOTE_CQ_ERROR:
		break; /* not a connection's: see control.c */
	}
}

void conn_qp_event(struct control *c, uint32_t qpn, const char *text)
{
	struct conn *conn = conn_by_qpn(c, qpn);

	if (conn)
		conn_disconnected(c, conn, text);
}

/* --- time --- */

static void attempt_timed_out(struct control *c, struct conn *conn)
{
	if (conn->session) {
		session_connect_failed(c, conn->session, CONNECT_TIMEOUT, 0,
				       conn->established ? "no hello from the peer in time"
							 : NO_ANSWER_TEXT);
	} else {
		gate_count(c, REFUSE_HELLO, conn->rail);
		conn_drain(c, conn, ABORT_FLUSHED, false);
	}
}

void conn_timer(struct control *c, struct conn *conn)
{
	switch (conn->phase) {
	case CONN_OPENING:
		if (conn->session)
			active_stalled(c, conn);
		else
			attempt_timed_out(c, conn);
		break;
	case CONN_LIVE:
		if (conn->greeted)
			passive_check_silence(c, conn);
		else
			attempt_timed_out(c, conn);
		break;
	case CONN_GOODBYE:
		to_error(c, conn);
		break;
	case CONN_MARKING:
		finish(c, conn, DRAIN_TIMEOUT);
		break;
	case CONN_LAST_WQE:
		async_drain(c);
		if (conn->phase == CONN_LAST_WQE)
			finish(c, conn, conn->last_wqe ? DRAIN_LAST_WQE : DRAIN_MARKER);
		break;
	case CONN_FORGETTING:
		break;
	case CONN_SUSPECT:
		break_session(c, conn);
		break;
	case CONN_HELD:
		rails_rescan_soon(c, 0);
		break;
	}
}
