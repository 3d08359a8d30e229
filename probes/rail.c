#include "probes/rail.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

#include "probes/qpmap.h"
#include "probes/rail_priv.h"
#include "probes/spsc.h"
#include "probes/table.h"

#define BEAT_NS (250 * NSEC_PER_MSEC) /* longest sleep: main sees a heartbeat at least so often */
#define COMMANDS_PER_STEP 64
#define CHORES_NS (100 * NSEC_PER_MSEC) /* between heartbeats, and looks at all CQs, at least */
/* Held up for longer, between waking up and looking, what came meanwhile is not left to its event:
 * its waiting is known only now. */
#define HELD_UP_NS NSEC_PER_MSEC

struct rail *rail_new(const struct rail_params *p)
{
	struct rail *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->p = *p;
	r->conns = qpmap_new(p->max_conns);
	r->timers = timer_heap_new(p->max_sessions);
	r->rx_free = calloc(p->max_receives, sizeof(*r->rx_free));
	r->rx_out = calloc(p->max_receives, sizeof(*r->rx_out));
	if (!r->conns || !r->timers || !r->rx_free || !r->rx_out) {
		rail_free(r);
		errno = ENOMEM;
		return NULL;
	}
	r->next_seq = 1;
	r->step_ns = r->poll_ns = p->now_ns();
	return r;
}

void rail_free(struct rail *r)
{
	if (!r)
		return;
	qpmap_free(r->conns);
	timer_heap_free(r->timers);
	free(r->rx_free);
	free(r->rx_out);
	free(r);
}

static struct rail_session *session_of_timer(struct timer_node *n)
{
	return (struct rail_session *)((char *)n - offsetof(struct rail_session, timer));
}

static void take_config(struct rail *r, const struct rail_cmd *cmd)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		r->ops[i] = cmd->ops[i];
	r->budget.per_second = cmd->value;
}

static void take_endpoint(struct rail *r, const struct rail_cmd *cmd)
{
	r->channel = cmd->channel;
	r->rx = cmd->rx;
}

static void take_queues(struct rail *r, const struct rail_cmd *cmd)
{
	if (r->n_queues < QUEUE_SETS_MAX &&
	    cmd->queues.rx_first + cmd->queues.rx_len <= r->p.max_receives)
		r->queue[r->n_queues++] = (struct rail_queue){.q = cmd->queues};
}

static void drain(struct rail *r, struct rail_conn *c, uint32_t value)
{
	c->draining = true;
	if (c->session)
		rail_session_down(r, c->session, value);
}

static void run_command(struct rail *r, const struct rail_cmd *cmd)
{
	switch (cmd->type) {
	case RAIL_CONFIG:
		take_config(r, cmd);
		break;
	case RAIL_ENDPOINT:
		take_endpoint(r, cmd);
		break;
	case RAIL_PORT:
		r->port_up[cmd->index] = cmd->value;
		break;
	case RAIL_QUEUES:
		take_queues(r, cmd);
		break;
	case RAIL_RECEIVES:
		rail_rx_more(r, &r->queue[cmd->index], cmd->value);
		break;
	case RAIL_ADD:
		rail_session_add(r, cmd->session, cmd->value);
		break;
	case RAIL_START:
		rail_session_start(r, cmd->session, r->p.now_ns());
		break;
	case RAIL_REMOVE:
		rail_session_remove(r, cmd->session, cmd->value);
		break;
	case RAIL_ATTACH:
		rail_conn_attach(r, cmd->conn);
		break;
	case RAIL_SEND_HELLO:
		rail_conn_send_hello(r, cmd->conn);
		break;
	case RAIL_SEND_AUTH:
		rail_conn_send_auth(r, cmd->conn);
		break;
	case RAIL_UP:
		rail_session_up(r, cmd->session, cmd->conn, cmd->value);
		break;
	case RAIL_DRAIN:
		drain(r, cmd->conn, cmd->value);
		break;
	case RAIL_GOODBYE:
		rail_conn_goodbye(r, cmd->conn, cmd->value);
		break;
	case RAIL_MARK:
		rail_conn_mark(r, cmd->conn);
		break;
	case RAIL_FORGET:
		rail_conn_forget(r, cmd->conn);
		break;
	case RAIL_STOP:
		r->stopped = true;
		break;
	}
}

static bool run_commands(struct rail *r)
{
	struct rail_cmd cmd;
	unsigned n = 0;

	while (n < COMMANDS_PER_STEP && !r->stopped && spsc_pop(r->p.commands, &cmd)) {
		run_command(r, &cmd);
		n++;
	}
	return n == COMMANDS_PER_STEP;
}

/* What has completed by now must not be judged by a deadline that passed while we were not
 * looking, whether its event was seen or not. */
static void run_timers(struct rail *r)
{
	uint64_t now = r->p.now_ns();
	struct timer_node *n;
	bool looked = false;

	while ((n = timer_heap_first(r->timers)) && n->at_ns <= now) {
		struct rail_session *s = session_of_timer(n);

		if (!looked && rail_session_overdue(s, now)) {
			looked = true;
			rail_poll(r, LOOK_ALL);
			now = r->p.now_ns();
			continue;
		}
		rail_session_tick(r, s, now);
	}
}

/* How long completions may have waited for us: time since the last step began that we did not mean
 * to sleep. */
static void measure_lag(struct rail *r, uint64_t now)
{
	uint64_t away = now - r->step_ns;

	r->lag_ns = away > r->asleep_ns ? away - r->asleep_ns : 0;
	r->asleep_ns = 0;
	r->step_ns = r->poll_ns = now;
}

/* A queue that is armed has nothing new unless an event says so. Now and then all are asked
 * nevertheless: an event that a driver loses must not cost more than that. */
static enum rail_look what_to_poll(const struct rail *r, bool told)
{
	if (told || r->lag_ns > HELD_UP_NS || r->step_ns - r->look_ns >= CHORES_NS)
		return LOOK_ALL;
	return r->woken ? LOOK_WOKEN : LOOK_UNARMED;
}

uint64_t rail_step(struct rail *r)
{
	uint64_t now = r->p.now_ns();
	bool told = !spsc_empty(r->p.commands), more;

	measure_lag(r, now);
	/* The CQs first, and all of them before a command: what completed before that was given
	 * counts as completed. */
	rail_poll(r, what_to_poll(r, told));
	if (now - r->beat_ns >= CHORES_NS) {
		table_beat(r->p.table, WORKER_RAIL, now, r->p.wall_ns());
		r->beat_ns = now;
	}
	more = told && run_commands(r);
	run_timers(r);
	if (r->stopped)
		return 0;
	return more ? r->p.now_ns() : timer_heap_when(r->timers);
}

static struct rail_queue *queue_of(struct rail *r, const struct ibv_cq *cq)
{
	for (uint32_t i = 0; i < r->n_queues; i++)
		if (r->queue[i].q.cq == cq)
			return &r->queue[i];
	return NULL;
}

/* Acknowledged at once: destroying a CQ waits for its events. One arming raises one event, so as
 * many are read as queues had something; should there be more, the next sleep ends at once. */
static void take_events(struct rail *r, uint32_t unarmed)
{
	struct ibv_cq *cq;
	void *context;

	for (uint32_t i = 0;
	     (!i || i < unarmed) && ibv_get_cq_event(r->channel, &cq, &context) == 0; i++) {
		struct rail_queue *q = queue_of(r, cq);

		ibv_ack_cq_events(cq, 1);
		if (!q || !q->armed)
			continue;
		/* Its completions were not looked for yet, and those that were found have
		 * an event of their own behind this one. */
		q->armed = false;
		unarmed++;
	}
	r->woken = false;
}

bool rail_arm(struct rail *r)
{
	uint32_t unarmed = 0;
	bool came = false;

	for (uint32_t i = 0; i < r->n_queues; i++)
		unarmed += !r->queue[i].armed;
	if (!unarmed && !r->woken)
		return false;
	take_events(r, unarmed);
	for (uint32_t i = 0; i < r->n_queues; i++) {
		struct rail_queue *q = &r->queue[i];

		if (q->armed)
			continue;
		q->armed = ibv_req_notify_cq(q->q.cq, 0) == 0;
		/* A completion between the last poll and the arming raises no event: poll once
		 * more, this queue alone, for the others' events come. */
		came |= rail_poll_queue(r, q) > 0;
	}
	return came;
}

void rail_wait(struct rail *r, uint64_t wake_ns)
{
	struct pollfd fds[] = {
		{.fd = r->channel ? r->channel->fd : -1, .events = POLLIN},
		{.fd = spsc_fd(r->p.commands), .events = POLLIN},
	};
	uint64_t now = r->p.now_ns();
	uint64_t ns = wake_ns <= now ? 0 : wake_ns - now;
	uint64_t slept;
	struct timespec ts;

	if (ns > BEAT_NS)
		ns = BEAT_NS;
	ts = (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
	ppoll(fds, 2, &ts, NULL);
	if (fds[0].revents)
		r->woken = true;
	if (fds[1].revents)
		spsc_drain_fd(r->p.commands);
	/* Sleeping as long as we meant to is no delay; waking later than that is. */
	slept = r->p.now_ns() - now;
	r->asleep_ns += slept < ns ? slept : ns;
}

void rail_run(struct rail *r)
{
	uint64_t wake;

	while ((wake = rail_step(r)) != 0) {
		if (rail_arm(r))
			continue;
		rail_wait(r, wake);
	}
}
