#include "probes/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/control_priv.h"
#include "probes/spsc.h"
#include "probes/table.h"
#include "probes/worker.h"

#define BEAT_NS (250 * NSEC_PER_MSEC)
#define OPEN_RETRY_NS (5 * NSEC_PER_SEC)
#define WISHES_PER_STEP 64
#define EVENTS_PER_STEP 256

static uint32_t largest_onesided(const struct worker_config *cfg)
{
	uint32_t size = 0;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (op != OP_SEND && cfg->op[op].size > size)
			size = cfg->op[op].size;
	return size;
}

static struct endpoint_limits limits_of(const struct worker_config *cfg)
{
	return (struct endpoint_limits){
		.qps = cfg->qps_per_device,
		.send_size = cfg->op[OP_SEND].size > WIRE_MIN_PROBE ? cfg->op[OP_SEND].size
								    : WIRE_MIN_PROBE,
		.sink_size = largest_onesided(cfg),
	};
}

uint32_t control_max_receives(const struct worker_config *cfg)
{
	return queue_sets_receives(cfg->qps_per_device);
}

struct control *control_new(const struct control_params *p, const struct worker_config *cfg)
{
	struct control *c = calloc(1, sizeof(*c));
	struct endpoint_limits l = limits_of(cfg);

	if (!c)
		return NULL;
	c->p = *p;
	c->cfg = *cfg;
	c->n_rows = table_get_layout(p->table)->sessions;
	c->endpoint = endpoint_new(&l);
	c->timers = timer_heap_new(c->n_rows + cfg->qps_per_device + 64);
	c->sessions = calloc(c->n_rows, sizeof(struct session *));
	c->scan = calloc(1, sizeof(*c->scan));
	c->picks = calloc(RAIL_MAX, sizeof(*c->picks));
	c->stop_ns = c->limit_rearm_ns = TIMER_NEVER;
	c->exit_code = -1;
	if (!c->endpoint || !c->timers || !c->sessions || !c->scan || !c->picks) {
		control_free(c);
		errno = ENOMEM;
		return NULL;
	}
	return c;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	conns_free(c);
	rails_close(c);
	for (uint32_t i = 0; c->sessions && i < c->n_rows; i++)
		free(c->sessions[i]);
	endpoint_free(c->endpoint);
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	timer_heap_free(c->timers);
	free(c->sessions);
	free(c->scan);
	free(c->picks);
	free(c->accept);
	free(c->sorted);
	free(c);
}

/* --- wishes --- */

static void send_rail_config(struct control *c)
{
	struct rail_cmd cmd = {.type = RAIL_CONFIG, .value = c->cfg.probes_per_second};

	memcpy(cmd.ops, c->cfg.op, sizeof(cmd.ops));
	if (cmd.ops[OP_SEND].size < WIRE_MIN_PROBE)
		cmd.ops[OP_SEND].size = WIRE_MIN_PROBE;
	command(c, &cmd);
}

static void take_config(struct control *c, const struct worker_config *cfg)
{
	c->cfg = *cfg;
	send_rail_config(c);
	if (c->p.set_counters)
		c->p.set_counters(c->p.counters_arg, cfg);
	rails_rescan_soon(c, 0);
}

static void begin_stop(struct control *c)
{
	struct conn *next;

	if (c->stopping)
		return;
	c->stopping = true;
	c->stop_ns = c->p.now_ns() + STOP_NS;
	rails_close(c);
	for (struct conn *conn = c->conns; conn; conn = next) {
		next = conn->next;
		conn_drain(c, conn, ABORT_DRAIN, true);
	}
}

static void take_wish(struct control *c, const struct wish *w)
{
	switch ((enum wish_type)w->type) {
	case WISH_CONFIG:
		take_config(c, &w->config);
		break;
	case WISH_ACCEPT:
		gate_take_accept(c, &w->accept);
		break;
	case WISH_SESSION_ADD:
		session_add(c, &w->session);
		break;
	case WISH_SESSION_REMOVE:
		session_remove(c, &w->session);
		break;
	case WISH_STOP:
		begin_stop(c);
		break;
	}
}

static void take_wishes(struct control *c)
{
	struct wish w;

	for (unsigned i = 0; i < WISHES_PER_STEP; i++) {
		int r = wish_recv(c->p.socket_fd, &w);

		if (r == 0)
			return;
		if (r < 0) {
			/* main is gone: nobody will ever read what we measure. */
			c->main_gone = true;
			begin_stop(c);
			return;
		}
		take_wish(c, &w);
	}
}

/* --- the rail's notes --- */

static void take_notes(struct control *c)
{
	struct rail_note n;

	while (spsc_pop(c->p.notes, &n)) {
		struct session *s = NULL;

		if (n.session)
			s = (struct session *)((char *)n.session - offsetof(struct session, rs));
		switch (n.type) {
		case NOTE_REMOVED:
			s->gone_from_rail = true;
			session_maybe_free(c, s);
			break;
		case NOTE_ATTENTION:
			tell_attention(c, s);
			break;
		case NOTE_CORRUPT:
			tell_corrupt(c, s, &n.damage);
			break;
		case NOTE_CQ_ERROR:
			c->device_gone = true;
			break;
		case NOTE_HELLO:
		case NOTE_AUTH:
		case NOTE_REFUSED:
		case NOTE_FAILED:
		case NOTE_GOODBYE:
		case NOTE_GOODBYE_SENT:
		case NOTE_MARKER:
		case NOTE_FORGOTTEN:
			conn_note(c, &n);
			break;
		}
	}
}

/* --- rdma_cm --- */

static void dispatch(struct control *c, const struct rdma_cm_event *ev)
{
	struct cm_owner *owner;

	if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		c->device_gone = true;
		return;
	}
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		passive_request(c, ev->listen_id->context, ev);
		return;
	}
	owner = ev->id->context;
	if (!owner || owner->kind != CM_CONN)
		return;
	struct conn *conn = (struct conn *)owner;

	if (conn->rc.role == CONN_ACTIVE)
		active_event(c, conn, ev);
	else
		passive_event(c, conn, ev);
}

/* Get, copy, acknowledge, then act: destroying an id waits for its acknowledged events. */
static void take_cm_events(struct control *c)
{
	struct rdma_cm_event *ev, copy;
	uint8_t data[256];

	for (unsigned i = 0; c->channel && i < EVENTS_PER_STEP; i++) {
		if (rdma_get_cm_event(c->channel, &ev))
			return;
		copy = *ev;
		if (ev->param.conn.private_data) {
			memcpy(data, ev->param.conn.private_data, ev->param.conn.private_data_len);
			copy.param.conn.private_data = data;
		}
		rdma_ack_cm_event(ev);
		dispatch(c, &copy);
	}
}

/* --- opening --- */

static void open_channel(struct control *c)
{
	char text[FACT_TEXT];
	int err;

	errno = 0;
	c->channel = rdma_create_event_channel();
	if (!c->channel) {
		err = errno ? errno : ENODEV;
		endpoint_error_text(
			"rdma_cm cannot be used (/dev/infiniband/rdma_cm; is the module "
			"rdma_ucm loaded?)",
			err, text, sizeof(text));
		tell_device(c, text);
		return;
	}
	fcntl(c->channel->fd, F_SETFL, fcntl(c->channel->fd, F_GETFL) | O_NONBLOCK);
}

static void open_all(struct control *c, uint64_t now)
{
	char err[FACT_TEXT];

	c->open_retry_ns = now + OPEN_RETRY_NS;
	if (!endpoint_own(c->endpoint) &&
	    endpoint_open_device(c->endpoint, c->cfg.device, err, sizeof(err)) < 0) {
		tell_device(c, err);
		return;
	}
	if (!c->channel)
		open_channel(c);
	if (!c->channel)
		return;
	c->open_retry_ns = TIMER_NEVER;
	rails_rescan(c);
}

/* --- one round --- */

static void run_timers(struct control *c)
{
	uint64_t now = c->p.now_ns();
	struct timer_node *n;

	while ((n = timer_heap_first(c->timers)) && n->at_ns <= now) {
		struct control_timer *t = (struct control_timer *)n;

		timer_heap_set(c->timers, n, TIMER_NEVER);
		if (t->session)
			session_timer(c, t->session);
		else
			conn_timer(c, t->conn);
	}
}

static void run_due(struct control *c)
{
	uint64_t now = c->p.now_ns();

	if (now >= c->open_retry_ns)
		open_all(c, now);
	if (now >= c->rescan_ns)
		rails_rescan(c);
	if (now >= c->limit_rearm_ns) {
		c->limit_rearm_ns = TIMER_NEVER;
		endpoint_arm_limits(c->endpoint);
	}
	if (!c->stopping)
		rails_listen_retry(c, now);
}

static void check_end(struct control *c)
{
	if (c->exit_code >= 0)
		return;
	if (c->device_gone)
		c->exit_code = WORKER_EXIT_DEVICE;
	else if (c->stopping && (!c->conns || c->p.now_ns() >= c->stop_ns))
		c->exit_code = 0;
	if (c->exit_code == 0)
		tell_simple(c, FACT_BYE);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t control_step(struct control *c)
{
	uint64_t next;

	table_beat(c->p.table, WORKER_CONTROL, c->p.now_ns(), c->p.wall_ns());
	take_wishes(c);
	take_notes(c);
	take_cm_events(c);
	async_drain(c);
	run_timers(c);
	run_due(c);
	next = turns_run(c);
	check_end(c);
	next = earliest(next, earliest(timer_heap_when(c->timers), c->rescan_ns));
	next = earliest(next, earliest(c->open_retry_ns, c->limit_rearm_ns));
	next = earliest(next, c->stop_ns);
	return c->stopping ? next : earliest(next, rails_next_retry(c));
}

static void wait_until(struct control *c, uint64_t wake)
{
	struct ibv_context *own = endpoint_own(c->endpoint);
	struct ibv_context *verbs = endpoint_verbs(c->endpoint);
	struct pollfd fds[] = {
		{.fd = c->main_gone ? -1 : c->p.socket_fd, .events = POLLIN},
		{.fd = spsc_fd(c->p.notes), .events = POLLIN},
		{.fd = c->channel ? c->channel->fd : -1, .events = POLLIN},
		{.fd = own ? own->async_fd : -1, .events = POLLIN},
		{.fd = verbs ? verbs->async_fd : -1, .events = POLLIN},
	};
	uint64_t now = c->p.now_ns(), ns = wake <= now ? 0 : wake - now;
	struct timespec ts;

	if (ns > BEAT_NS)
		ns = BEAT_NS;
	ts = (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
	if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), &ts, NULL) <= 0)
		return;
	if (fds[1].revents)
		spsc_drain_fd(c->p.notes);
	/* After a removal the async fds report POLLERR without POLLIN, for ever. */
	if ((fds[3].revents | fds[4].revents) & POLLERR)
		c->device_gone = true;
}

void control_begin(struct control *c)
{
	send_rail_config(c);
	tell_simple(c, FACT_READY);
}

int control_run(struct control *c)
{
	control_begin(c);
	while (c->exit_code < 0)
		wait_until(c, control_step(c));
	return c->exit_code;
}
