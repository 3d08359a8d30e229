/* The sessions that we open: their states, their turn to connect, their back-off. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "probes/backoff.h"
#include "probes/control_priv.h"
#include "probes/table.h"

static void arm(struct control *c, struct session *s, uint64_t at)
{
	timer_heap_set(c->timers, &s->timer.node, at);
}

/* The same for the same names, whatever process or reload it is: the schedule's phase. */
static uint64_t key_hash(struct control *c, const struct wish_session *w)
{
	uint64_t h = hash_str(w->peer);

	h = h * 31 + hash_str(c->cfg.host);
	h = h * 31 + hash_str(c->rails[w->rail].fact.name);
	h = h * 31 + hash_str(w->peer_rail);
	return h * 31 + hash_str(c->cfg.classes[w->class_index].name);
}

static enum op_lack own_lack(struct control *c, enum op op)
{
	return c->cfg.op[op].interval_ns ? endpoint_op_lack(c->endpoint, op) : OP_LACK_NONE;
}

uint32_t session_lacks(const struct session_conn *pub)
{
	uint32_t set = 0;

	for (unsigned op = 0; op < OP_COUNT; op++)
		set |= (uint32_t)(pub->op_lack[op] != OP_LACK_NONE) << op;
	return set;
}

static enum op_lack peer_lack(const struct wire_hello *h, bool no_reads, enum op op, uint32_t size)
{
	uint32_t offered = 0;

	switch (op) {
	case OP_SEND:
		offered = h->rx_size;
		break;
	case OP_READ:
		offered = no_reads ? 0 : h->pattern.len;
		break;
	case OP_WRITE:
		offered = h->scratch.len;
		break;
	case OP_ATOMIC:
		offered = no_reads || !h->scratch_atomics ? 0 : h->scratch.len;
		break;
	}
	if (!offered)
		return OP_LACK_PEER;
	return offered < size ? OP_LACK_PEER_SIZE : OP_LACK_NONE;
}

void session_learn_lacks(struct control *c, struct session *s, const struct wire_hello *h,
			 bool no_reads)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct op_config *cfg = &c->cfg.op[op];
		enum op_lack lack = own_lack(c, (enum op)op);

		if (cfg->interval_ns && lack == OP_LACK_NONE)
			lack = peer_lack(h, no_reads, (enum op)op, cfg->size);
		s->pub.op_lack[op] = (uint8_t)lack;
	}
}

void session_add(struct control *c, const struct wish_session *w)
{
	struct session *s;

	if (w->row >= c->n_rows || c->sessions[w->row])
		return;
	s = w->rail < c->n_rails && w->class_index < c->cfg.n_classes ? calloc(1, sizeof(*s))
								      : NULL;
	if (!s) {
		tell_removed(c, w); /* main adds it again when it next looks */
		return;
	}
	s->wish = *w;
	s->timer.session = s;
	s->pub.session_id = w->id;
	s->pub.state = SESSION_IDLE;
	s->pub.since_wall_ns = c->p.wall_ns();
	s->pub.since_mono_ns = c->p.now_ns();
	s->pub.error.connect_failure = -1;
	s->rs.id = w->id;
	s->rs.row = w->row;
	s->rs.rail_index = w->rail;
	s->rs.class_index = w->class_index;
	s->rs.loopback = w->loopback;
	s->rs.key_hash = key_hash(c, w);
	for (unsigned op = 0; op < OP_COUNT; op++)
		s->pub.op_lack[op] = own_lack(c, (enum op)op);
	c->sessions[w->row] = s;
	c->n_sessions++;
	publish_session(c, s);
	command(c, &(struct rail_cmd){
			   .type = RAIL_ADD, .session = &s->rs, .value = session_lacks(&s->pub)});
	if (!c->rails[w->rail].fact.up)
		command(c, &(struct rail_cmd){.type = RAIL_START, .session = &s->rs});
	turn_wait(c, s);
}

void session_maybe_free(struct control *c, struct session *s)
{
	if (!s->removing || s->conn || !s->gone_from_rail)
		return;
	arm(c, s, TIMER_NEVER);
	tell_removed(c, &s->wish);
	c->sessions[s->wish.row] = NULL;
	if (--c->n_sessions == 0)
		tell_stalled(c, false); /* nobody is left to find out */
	free(s);
}

void session_remove(struct control *c, const struct wish_session *w)
{
	struct session *s = w->row < c->n_rows ? c->sessions[w->row] : NULL;

	if (!s && w->row < c->n_rows && w->rail < RAIL_MAX)
		tell_removed(c, w);
	if (!s || s->wish.id != w->id || s->removing)
		return;
	s->removing = true;
	turn_end(c, s);
	arm(c, s, TIMER_NEVER);
	if (s->conn)
		conn_drain(c, s->conn, w->reason, false);
	command(c, &(struct rail_cmd){.type = RAIL_REMOVE, .session = &s->rs, .value = w->reason});
}

static uint64_t retry_delay(struct control *c, struct session *s)
{
	/* A peer that came back from a crash knows our old QP: the CM on its side has just dropped
	 * it, so one retry at once succeeds (core/cm.c, stale connection). */
	if (s->pub.error.connect_failure == CONNECT_STALE && !s->stale_retried) {
		s->stale_retried = true;
		return 0;
	}
	return backoff_ns(s->attempt++, BACKOFF_BASE_NS, BACKOFF_CAP_NS, BACKOFF_FLOOR_NS,
			  c->p.random());
}

static void forget_connection(struct session_conn *pub)
{
	pub->qpn = pub->remote_qpn = pub->udp_source_port = pub->gid_index = 0;
}

static void enter_actions(struct control *c, struct session *s)
{
	switch ((enum session_state)s->pub.state) {
	case SESSION_IDLE:
		turn_wait(c, s);
		break;
	case SESSION_RESOLVING:
	case SESSION_CONNECTING:
	case SESSION_DISABLED:
		break;
	case SESSION_UP:
		turn_end(c, s);
		s->up_ns = c->p.now_ns();
		s->stale_retried = s->peer_left = false;
		s->pub.attempts_in_row = 0;
		break;
	case SESSION_DRAINING:
		turn_end(c, s);
		break;
	case SESSION_BACKOFF:
		turn_end(c, s);
		forget_connection(&s->pub);
		if (!s->removing && !c->stopping)
			arm(c, s, c->p.now_ns() + retry_delay(c, s));
		break;
	}
}

void session_enter_state(struct control *c, struct session *s, enum session_event event,
			 const char *why)
{
	enum session_state old = s->pub.state, new = session_next_state(old, event);

	if (new == old)
		return;
	s->pub.state = new;
	s->pub.since_wall_ns = c->p.wall_ns();
	s->pub.since_mono_ns = c->p.now_ns();
	if (why[0])
		name_copy(s->pub.reason, sizeof(s->pub.reason), why);
	else if (new == SESSION_UP)
		s->pub.reason[0] = '\0';
	enter_actions(c, s);
	tell_session(c, s, old);
}

void session_start(struct control *c, struct session *s)
{
	struct control_rail *r = &c->rails[s->wish.rail];
	int err;

	s->pub.attempts_in_row++;
	r->totals.attempts += !s->wish.loopback;
	table_put_rail_totals(c->p.table, s->wish.rail, &r->totals);
	session_enter_state(c, s, SEV_START, "");
	err = s->wish.address.sa.sa_family == AF_UNSPEC ? -EDESTADDRREQ : active_start(c, s);
	if (err < 0)
		session_connect_failed(c, s,
				       err == -ENOMEM ? CONNECT_NO_RESOURCES : CONNECT_RESOLVE,
				       -err, strerror(-err));
}

void session_timer(struct control *c, struct session *s)
{
	arm(c, s, TIMER_NEVER);
	session_enter_state(c, s, SEV_RETRY, "");
}

static void note_error(struct control *c, struct session *s, int failure, int code,
		       uint32_t vendor_err, uint32_t op, const char *text)
{
	s->pub.error = (struct session_error){
		.wall_ns = c->p.wall_ns(),
		.mono_ns = c->p.now_ns(),
		.connect_failure = failure,
		.code = code,
		.vendor_err = vendor_err,
		.op = op,
	};
	name_copy(s->pub.error.text, sizeof(s->pub.error.text), text);
}

void session_connect_failed(struct control *c, struct session *s, enum connect_failure failure,
			    int code, const char *text)
{
	struct control_rail *r = &c->rails[s->wish.rail];
	bool has_qp = s->conn && s->conn->phase != CONN_OPENING;

	r->totals.failures[failure] += !s->wish.loopback;
	table_put_rail_totals(c->p.table, s->wish.rail, &r->totals);
	note_error(c, s, failure, code, 0, 0, text);
	command(c, &(struct rail_cmd){.type = RAIL_START, .session = &s->rs});
	session_enter_state(c, s, has_qp ? SEV_BROKEN : SEV_REFUSED, text);
	if (s->conn)
		conn_drain(c, s->conn, ABORT_FLUSHED, false);
}

void session_broken(struct control *c, struct session *s, int wc_status, uint32_t vendor_err,
		    uint32_t op, const char *text, uint32_t value)
{
	/* A peer that accepts and closes at once would otherwise be tried without a pause. */
	if (c->p.now_ns() >= s->up_ns + SETTLED_NS)
		s->attempt = 0;
	note_error(c, s, -1, wc_status, vendor_err, op, text);
	session_enter_state(c, s, SEV_BROKEN, text);
	conn_drain(c, s->conn, value, false);
}

/* It is read only now why the connection that is draining was closed. */
void session_left(struct control *c, struct session *s)
{
	if (s->pub.state != SESSION_DRAINING)
		return;
	s->peer_left = true;
	note_error(c, s, -1, IBV_WC_SUCCESS, 0, OP_SEND, GOODBYE_TEXT);
	name_copy(s->pub.reason, sizeof(s->pub.reason), GOODBYE_TEXT);
	publish_session(c, s);
}

void session_conn_gone(struct control *c, struct session *s)
{
	s->conn = NULL;
	session_enter_state(c, s, SEV_DRAINED, "");
	session_maybe_free(c, s);
}

/* Whoever comes and goes all the time does not end our back-off each time. */
static void wake(struct control *c, struct session *s)
{
	uint64_t now = c->p.now_ns();

	if (s->removing || (s->woken_ns && now < s->woken_ns + WAKE_NS))
		return;
	if (s->pub.state != SESSION_BACKOFF && s->turn != TURN_WAITS)
		return;
	s->woken_ns = now;
	s->attempt = 0;
	turn_refresh(c, s);
	if (s->pub.state == SESSION_BACKOFF)
		arm(c, s, now);
}

static bool at_address(const struct session *s, const struct in6_addr *peer)
{
	if (s->wish.address.sa.sa_family == AF_INET)
		return IN6_IS_ADDR_V4MAPPED(peer) &&
		       !memcmp(&peer->s6_addr[12], &s->wish.address.in.sin_addr, 4);
	return !memcmp(peer, &s->wish.address.in6.sin6_addr, sizeof(*peer));
}

void sessions_wake_peer(struct control *c, const struct in6_addr *peer)
{
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->sessions[i] && at_address(c->sessions[i], peer))
			wake(c, c->sessions[i]);
}

void sessions_wake_rail(struct control *c, uint32_t rail)
{
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->sessions[i] && c->sessions[i]->wish.rail == rail)
			wake(c, c->sessions[i]);
}

void sessions_start_booking(struct control *c, uint32_t rail)
{
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->sessions[i] && c->sessions[i]->wish.rail == rail &&
		    !c->sessions[i]->removing)
			command(c, &(struct rail_cmd){.type = RAIL_START,
						      .session = &c->sessions[i]->rs});
}

void sessions_check_gids(struct control *c)
{
	for (uint32_t i = 0; i < c->n_rows; i++) {
		struct session *s = c->sessions[i];

		if (s && s->conn && s->pub.state == SESSION_UP &&
		    !rails_has_gid(c, s->pub.local_gid))
			session_broken(c, s, IBV_WC_WR_FLUSH_ERR, 0, OP_SEND,
				       "the local address is gone", ABORT_LOCAL_PORT_DOWN);
	}
}
