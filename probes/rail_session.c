/* Sessions as the rail sees them: what is due, what is in flight, what came back. */
#include <stdlib.h>
#include <string.h>

#include "probes/ledger.h"
#include "probes/rail_priv.h"
#include "probes/schedule.h"
#include "probes/spsc.h"
#include "probes/table.h"

/* RC hides loss: a probe that took this much longer than usual was probably sent twice. */
#define SUSPECT_FACTOR 20
#define SUSPECT_MIN_NS NSEC_PER_MSEC
#define SUSPECT_MIN_N 5
#define KEEPALIVE_TRIES                                                                            \
	4 /* one that could not be sent is tried again in so many parts of its time */
#define NUDGE_NS (10 * NSEC_PER_SEC) /* no session is quiet for longer */
#define SPREAD 0x9e3779b97f4a7c15ULL /* odd: apart from the phases, which come of the same hash */
#define OK_AGAIN 3		     /* successes in a row after which a verdict may turn ok */

/* Two slots take turns, so what goes out is what changed since the last publication but one: most
 * touch one operation of the four, and of that what a success changes. */
static void publish(struct rail *r, struct rail_session *s)
{
	table_put_books_of(r->p.table, s->row, &s->books, s->dirty | s->was_dirty);
	s->was_dirty = s->dirty;
	s->dirty = 0;
}

static void touch(struct rail_session *s, enum op op)
{
	s->dirty |= BOOKS_WHOLE(op);
}

/* Nothing changed but what ledger_sent(), or ledger_ok() of one that counts as latency, changes. */
static void touch_running(struct rail_session *s, enum op op)
{
	s->dirty |= BOOKS_RUNNING(op);
}

static void publish_all(struct rail *r, struct rail_session *s)
{
	s->dirty = BOOKS_ALL;
	publish(r, s);
}

static void attention(struct rail *r, struct rail_session *s)
{
	/* Only a hint: while control sits in the kernel, what it must know needs the room. */
	if (spsc_half_full(r->p.notes))
		return;
	spsc_push(r->p.notes, &(struct rail_note){.type = NOTE_ATTENTION, .session = s});
}

/* Main judges soon when something turned: the first two misses, and the way back. */
static void watch_turn(struct rail *r, struct rail_session *s, const struct op_books *b,
		       uint64_t misses_before)
{
	if (b->misses != misses_before ? b->miss_streak <= 2 : b->ok_streak == OK_AGAIN)
		attention(r, s);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool suspected(const struct median *m, uint64_t rtt_ns)
{
	uint64_t v[MEDIAN_LEN], limit;

	if (rtt_ns < SUSPECT_MIN_NS || m->n < SUSPECT_MIN_N)
		return false;
	memcpy(v, m->value, m->n * sizeof(v[0]));
	qsort(v, m->n, sizeof(v[0]), compare);
	limit = v[m->n / 2] * SUSPECT_FACTOR;
	return rtt_ns > (limit > SUSPECT_MIN_NS ? limit : SUSPECT_MIN_NS);
}

static void remember(struct median *m, uint64_t rtt_ns)
{
	m->value[m->at] = rtt_ns;
	m->at = (m->at + 1) % MEDIAN_LEN;
	if (m->n < MEDIAN_LEN)
		m->n++;
}

/* A round trip that counts as latency. */
static void sample(struct rail *r, struct rail_session *s, unsigned stream, uint64_t rtt_ns,
		   uint64_t now)
{
	struct median *m = &s->median[stream];

	if (stream != STREAM_ACK && suspected(m, rtt_ns)) {
		s->books.op[stream].retransmits_suspected++;
		touch(s, stream);
	}
	remember(m, rtt_ns);
	table_put_sample(r->p.table, s->row, stream, now, rtt_ns);
	if (!s->loopback)
		table_put_rtt(r->p.table, s->rail_index, s->class_index, stream, rtt_ns);
}

/* Whether we looked too late, so that it is not known how long the completion took. */
static bool held_up(const struct rail *r)
{
	return r->lag_ns + (r->poll_ns - r->step_ns) > SELF_DELAY_NS;
}

/* A probe came back. failed: its deadline had been judged before. */
static void completed(struct rail *r, struct rail_session *s, enum op op, uint64_t posted_ns,
		      uint64_t deadline_ns, bool was_failed, bool self_delayed, uint64_t now)
{
	struct op_books *b = &s->books.op[op];
	uint64_t rtt = now - posted_ns, misses = b->misses;

	self_delayed |= held_up(r);
	if (!was_failed && now > deadline_ns && !self_delayed) {
		ledger_fail(b, FAIL_TIMEOUT);
		was_failed = true;
	}
	if (was_failed)
		ledger_late(b, rtt, now, r->p.wall_ns());
	else
		ledger_ok(b, rtt, self_delayed, now, r->p.wall_ns());
	if (was_failed || self_delayed)
		touch(s, op);
	else
		touch_running(s, op);
	if (was_failed || !self_delayed)
		sample(r, s, op, rtt, now);
	watch_turn(r, s, b, misses);
	publish(r, s);
}

static struct echo_slot *find_echo(struct rail_session *s, uint64_t seq)
{
	for (unsigned i = 0; i < ECHO_BOUND; i++)
		if (s->echo[i].seq == seq)
			return &s->echo[i];
	return NULL;
}

void rail_session_reply(struct rail *r, struct rail_session *s, uint64_t seq, uint64_t now)
{
	struct echo_slot *e = seq ? find_echo(s, seq) : NULL;

	if (!e || e->keepalive)
		return; /* a generation we do not wait for */
	completed(r, s, OP_SEND, e->posted_ns, e->deadline_ns, e->failed, e->self_delayed, now);
	e->seq = 0;
}

/* Only evidence: like attention(), but that it happened is in the books. */
static void tell_damage(struct rail *r, struct rail_session *s)
{
	struct rail_note n = {.type = NOTE_CORRUPT, .session = s};

	if (spsc_half_full(r->p.notes))
		return;
	n.damage = wire_find_damage(s->conn->mem.sink, r->ops[OP_READ].size);
	spsc_push(r->p.notes, &n);
}

static void read_done(struct rail *r, struct rail_session *s, uint64_t now)
{
	struct op_books *b = &s->books.op[OP_READ];
	uint64_t misses = b->misses;

	if (wire_check_pattern(s->conn->mem.sink, r->ops[OP_READ].size)) {
		completed(r, s, OP_READ, s->wr.posted_ns, s->wr.deadline_ns, s->wr.failed,
			  s->wr.self_delayed, now);
		return;
	}
	tell_damage(r, s);
	touch(s, OP_READ);
	if (!s->wr.failed)
		ledger_fail(b, FAIL_CORRUPT);
	watch_turn(r, s, b, misses);
	publish(r, s);
}

/* Published with the end of its probe; at once where that came first. */
static void acknowledged(struct rail *r, struct rail_session *s, uint64_t now)
{
	const struct echo_slot *e = find_echo(s, s->wr.seq);
	uint64_t rtt = now - s->wr.posted_ns;

	if (s->wr.self_delayed || held_up(r))
		return;
	s->books.ack_sum_ns += rtt;
	s->books.ack_count++;
	s->dirty |= BOOKS_HEAD;
	sample(r, s, STREAM_ACK, rtt, now);
	if (!e || e->failed)
		publish(r, s);
}

void rail_session_sent(struct rail *r, struct rail_session *s, uint64_t seq,
		       enum ibv_wc_status status, uint64_t now)
{
	if (s->wr.seq != seq)
		return;
	/* On error it stays in flight until control has looked at the port and says (by
	 * RAIL_DRAIN) whose fault that was. */
	if (status != IBV_WC_SUCCESS)
		return;
	if (s->wr.op == OP_SEND) {
		acknowledged(r, s, now);
	} else if (s->wr.op == OP_READ) {
		read_done(r, s, now);
	} else {
		/* What a WRITE left or an atomic found there means nothing: see WIRE_SCRATCH_LEN.
		 */
		completed(r, s, s->wr.op, s->wr.posted_ns, s->wr.deadline_ns, s->wr.failed,
			  s->wr.self_delayed, now);
	}
	s->wr.seq = 0;
	s->free_ns = now;
	if (s->waiting)
		timer_heap_set(r->timers, &s->timer, now);
}

/* --- deadlines --- */

static void miss_deadline(struct rail *r, struct rail_session *s, enum op op)
{
	struct op_books *b = &s->books.op[op];
	uint64_t misses = b->misses;

	touch(s, op);
	ledger_fail(b, FAIL_TIMEOUT);
	watch_turn(r, s, b, misses);
}

static void judge_deadlines(struct rail *r, struct rail_session *s, uint64_t now)
{
	if (s->deadline_ns > now || (s->conn && s->conn->failed))
		return; /* of one that failed it is undecided: see rail_session_sent() */
	for (unsigned i = 0; i < ECHO_BOUND; i++) {
		struct echo_slot *e = &s->echo[i];

		if (e->seq && !e->failed && e->deadline_ns <= now) {
			e->failed = true;
			miss_deadline(r, s, OP_SEND);
		}
	}
	if (s->wr.seq && s->wr.op != OP_SEND && !s->wr.failed && s->wr.deadline_ns <= now) {
		s->wr.failed = true;
		miss_deadline(r, s, s->wr.op);
	}
}

static uint64_t next_deadline(const struct rail_session *s)
{
	uint64_t at = TIMER_NEVER;

	if (s->conn && s->conn->failed)
		return at;
	for (unsigned i = 0; i < ECHO_BOUND; i++)
		if (s->echo[i].seq && !s->echo[i].failed && s->echo[i].deadline_ns < at)
			at = s->echo[i].deadline_ns;
	if (s->wr.seq && s->wr.op != OP_SEND && !s->wr.failed && s->wr.deadline_ns < at)
		at = s->wr.deadline_ns;
	return at;
}

bool rail_session_overdue(const struct rail_session *s, uint64_t now)
{
	return s->deadline_ns <= now && next_deadline(s) <= now;
}

/* --- what is due --- */

/* After it came up or went down, or its operations changed. */
static void reckon_demand(struct rail *r, struct rail_session *s)
{
	r->budget.demand -= s->demand;
	s->demand = 0;
	for (unsigned op = 0; s->conn && op < OP_COUNT; op++)
		s->demand += budget_rate(s->books.op[op].interval_ns);
	r->budget.demand += s->demand;
}

/* Whether a probe can be posted now; if not, why. */
static bool may_send(struct rail *r, struct rail_session *s, enum op op,
		     enum skip_reason *ret_reason)
{
	if (!r->port_up[s->rail_index])
		*ret_reason = SKIP_LOCAL_PORT_DOWN;
	else if (!s->conn || s->conn->failed)
		*ret_reason = SKIP_NOT_CONNECTED;
	else if (op == OP_SEND && !find_echo(s, 0))
		*ret_reason = SKIP_PEER_UNRESPONSIVE;
	else if (s->wr.seq)
		*ret_reason = SKIP_QP_STALLED;
	else if (!budget_take(&r->budget, &s->turn[op]))
		*ret_reason = SKIP_BUDGET;
	else
		return true;
	return false;
}

static void send_probe(struct rail *r, struct rail_session *s, enum op op, uint64_t now,
		       bool self_delayed)
{
	const struct op_config *cfg = &r->ops[op];
	uint64_t seq = r->next_seq++, posted;
	int err;

	s->wr = (struct probe_wr){.seq = seq,
				  .op = op,
				  .deadline_ns = now + cfg->deadline_ns,
				  .self_delayed = self_delayed};
	ledger_sent(&s->books.op[op], r->p.wall_ns());
	posted = r->p.now_ns();
	s->wr.posted_ns = posted;
	if (op == OP_SEND) {
		*find_echo(s, 0) = (struct echo_slot){.seq = seq,
						      .posted_ns = posted,
						      .deadline_ns = s->wr.deadline_ns,
						      .self_delayed = self_delayed};
		err = rail_conn_post_send(r, s->conn, seq, cfg->size);
	} else {
		err = rail_conn_post_onesided(s->conn, op, seq, cfg->size);
	}
	if (!err)
		return;
	/* The QP takes no more: control decides and tears down. */
	s->conn->failed = true;
	spsc_push(r->p.notes, &(struct rail_note){.type = NOTE_FAILED,
						  .conn = s->conn,
						  .status = IBV_WC_LOC_QP_OP_ERR,
						  .op = op});
}

/* A request of another operation that only takes its time is no stall: what comes due meanwhile
 * waits for it, but not long enough to hide that it hangs, nor into its own next instant. */
static uint64_t patience_ns(const struct rail *r, enum op op)
{
	uint64_t part = r->ops[op].deadline_ns / 5, half = r->ops[op].interval_ns / 2;

	return part < half ? part : half;
}

/* Until when the instant that is due waits; 0: it does not. */
static uint64_t waits_until(const struct rail *r, const struct rail_session *s, enum op op,
			    uint64_t due)
{
	if (!s->wr.seq || s->wr.op == op || !s->conn || s->conn->failed ||
	    !r->port_up[s->rail_index])
		return 0;
	return due + patience_ns(r, op);
}

/* Posted later than its instant, and later than the QP was free for it. */
static bool is_overdue(const struct rail_session *s, uint64_t due, uint64_t now)
{
	uint64_t could = due > s->free_ns ? due : s->free_ns;

	return now - could > SELF_DELAY_NS;
}

static void skip(struct rail_session *s, enum op op, enum skip_reason reason, uint64_t n)
{
	ledger_skip(&s->books.op[op], reason, n);
	touch(s, op);
}

static void book_due(struct rail *r, struct rail_session *s, enum op op, uint64_t now)
{
	struct op_books *b = &s->books.op[op];
	uint64_t due = s->next_due[op], n, last, misses = b->misses;
	enum skip_reason reason;

	if (due > now || waits_until(r, s, op, due) > now)
		return;
	n = (now - due) / b->interval_ns + 1;
	last = due + (n - 1) * b->interval_ns;
	s->next_due[op] = last + b->interval_ns;
	b->booked_until_ns = last;
	/* What we slept through was not attempted, and no burst makes up for it. */
	if (now - last > STUCK_RAIL_NS) {
		skip(s, op, SKIP_WORKER_STUCK, n);
		return;
	}
	if (n > 1)
		skip(s, op, SKIP_WORKER_STUCK, n - 1);
	if (may_send(r, s, op, &reason)) {
		send_probe(r, s, op, now, is_overdue(s, last, now));
		touch_running(s, op);
	} else {
		/* The QP was free when this came due: only our lateness made them two at once. */
		if (reason == SKIP_QP_STALLED && s->wr.self_delayed && s->wr.posted_ns > last)
			reason = SKIP_WORKER_STUCK;
		skip(s, op, reason, 1);
	}
	if (b->misses != misses)
		watch_turn(r, s, b, misses);
}

/* --- keep-alive --- */

static bool keepalive_wanted(const struct rail_session *s)
{
	if (!s->conn || s->conn->failed || !s->keepalive_ns)
		return false;
	/* One is out already, or the peer answers no message at all: it is not to be fed more. */
	for (unsigned i = 0; i < ECHO_BOUND; i++)
		if (s->echo[i].seq && s->echo[i].keepalive)
			return false;
	return true;
}

/* READ, WRITE and atomic do not show on the other side: when no SEND was due for that long, this
 * one says that we are there. It waits for the probe that is out, as that would wait for it. */
static void keep_alive(struct rail *r, struct rail_session *s, uint64_t now)
{
	struct echo_slot *e;
	uint64_t seq = r->next_seq;

	if (!s->conn || s->conn->sent_ns + s->keepalive_ns > now || !keepalive_wanted(s))
		return;
	e = find_echo(s, 0);
	if (!e || s->wr.seq || !r->port_up[s->rail_index])
		return;
	r->next_seq++;
	if (rail_conn_post_keepalive(r, s->conn, seq))
		return; /* the next probe tells what is wrong */
	*e = (struct echo_slot){.seq = seq, .failed = true, .keepalive = true};
}

static uint64_t next_keepalive(const struct rail_session *s, uint64_t now)
{
	uint64_t at;

	if (!keepalive_wanted(s))
		return TIMER_NEVER;
	at = s->conn->sent_ns + s->keepalive_ns;
	return at > now ? at : now + s->keepalive_ns / KEEPALIVE_TRIES;
}

/* A QP on which nothing is posted never notices that the other side has lost its power: that is so
 * where a peer answers no SEND any more and nothing one-sided is on. */
static uint64_t quiet_since(const struct rail_session *s)
{
	uint64_t at = s->conn->sent_ns > s->wr.posted_ns ? s->conn->sent_ns : s->wr.posted_ns;

	return at > s->nudged_ns ? at : s->nudged_ns;
}

static void nudge(struct rail *r, struct rail_session *s, uint64_t now)
{
	if (!s->conn || s->conn->failed || s->conn->fifo_len || !r->port_up[s->rail_index] ||
	    now < quiet_since(s) + NUDGE_NS)
		return;
	s->nudged_ns = now;
	rail_conn_post_nudge(r, s->conn); /* refused: the next probe tells what is wrong */
}

static uint64_t next_nudge(const struct rail_session *s, uint64_t now)
{
	uint64_t at;

	if (!s->conn || s->conn->failed)
		return TIMER_NEVER;
	at = quiet_since(s) + NUDGE_NS;
	return at > now ? at : now + NSEC_PER_SEC;
}

/* When the operation wants its turn; *ret_waiting: it is due, and waits for the QP. */
static uint64_t next_turn(const struct rail *r, const struct rail_session *s, enum op op,
			  uint64_t now, bool *ret_waiting)
{
	uint64_t due = s->next_due[op], until;

	if (!s->started || !s->books.op[op].interval_ns)
		return TIMER_NEVER;
	until = due <= now ? waits_until(r, s, op, due) : 0;
	if (until <= now)
		return due;
	*ret_waiting = true;
	return until;
}

static void arm(struct rail *r, struct rail_session *s, uint64_t now)
{
	uint64_t alive = next_keepalive(s, now), idle = next_nudge(s, now);
	uint64_t at = s->deadline_ns = next_deadline(s);

	if (alive < at)
		at = alive;
	if (idle < at)
		at = idle;
	s->waiting = false;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t turn = next_turn(r, s, (enum op)op, now, &s->waiting);

		if (turn < at)
			at = turn;
	}
	timer_heap_set(r->timers, &s->timer, at);
}

void rail_session_alive(struct rail *r, struct rail_session *s, uint64_t seq)
{
	struct echo_slot *e = seq ? find_echo(s, seq) : NULL;

	if (!e || !e->keepalive)
		return;
	*e = (struct echo_slot){0};
	arm(r, s, r->poll_ns);
}

void rail_session_tick(struct rail *r, struct rail_session *s, uint64_t now)
{
	unsigned last = s->wr.op;

	judge_deadlines(r, s, now);
	/* In turn from the last one on: where round trips are slow, none waits for ever. */
	for (unsigned i = 1; s->started && i <= OP_COUNT; i++) {
		unsigned op = (last + i) % OP_COUNT;

		if (s->books.op[op].interval_ns)
			book_due(r, s, op, now);
	}
	keep_alive(r, s, now);
	nudge(r, s, now);
	arm(r, s, now);
	publish(r, s);
}

/* --- life --- */

/* Apart by a fraction of what all intervals are multiples of, so that no two operations of a
 * session ever come due together where that can be had at all. What a session lacks keeps its
 * place: the phases of the others must not depend on it. */
static uint64_t stagger_ns(const struct rail *r)
{
	uint64_t common = 0, on = 0;

	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (!r->ops[op].interval_ns)
			continue;
		on++;
		common = schedule_common(common, r->ops[op].interval_ns);
	}
	return on ? common / on : 0;
}

static void schedule_op(struct rail *r, struct rail_session *s, unsigned op, uint64_t phase_ns,
			uint64_t now)
{
	struct op_books *b = &s->books.op[op];

	/* Also where nothing is due, so that the row's time never goes back when something is. */
	b->booked_until_ns = s->started ? now : UINT64_MAX;
	b->interval_ns = s->lacks >> op & 1u ? 0 : r->ops[op].interval_ns;
	if (!b->interval_ns)
		return;
	b->phase_ns = phase_ns;
	s->next_due[op] = schedule_next(b->phase_ns, b->interval_ns, now);
}

/* The operations in the set get their schedule anew, from now on. */
static void reschedule(struct rail *r, struct rail_session *s, uint32_t set, uint64_t now)
{
	uint64_t stagger = stagger_ns(r);
	unsigned index = 0;

	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t interval = r->ops[op].interval_ns;

		if (set >> op & 1u)
			schedule_op(r, s, op,
				    interval ? schedule_phase(s->key_hash, index, stagger, interval)
					     : 0,
				    now);
		index += interval != 0;
	}
}

void rail_session_add(struct rail *r, struct rail_session *s, uint32_t lacks)
{
	s->books.session_id = s->id;
	s->lacks = lacks;
	for (unsigned op = 0; op < OP_COUNT; op++)
		s->turn[op] = (s->key_hash + op) * SPREAD;
	reschedule(r, s, BOOKS_OPS, r->p.now_ns());
	table_clear_samples(r->p.table, s->row);
	publish_all(r, s);
}

void rail_session_start(struct rail *r, struct rail_session *s, uint64_t now)
{
	if (s->started)
		return;
	s->started = true;
	reschedule(r, s, BOOKS_OPS, now);
	arm(r, s, now);
	publish_all(r, s);
}

/* What came due until now was due under the old state. */
static void change_lacks(struct rail *r, struct rail_session *s, uint32_t lacks, uint64_t now)
{
	uint32_t changed = s->lacks ^ lacks;

	if (s->started)
		rail_session_tick(r, s, now);
	s->lacks = lacks;
	reschedule(r, s, changed, now);
}

void rail_session_up(struct rail *r, struct rail_session *s, struct rail_conn *c, uint32_t lacks)
{
	uint64_t now = r->p.now_ns();

	if (lacks != s->lacks)
		change_lacks(r, s, lacks, now);
	s->conn = c;
	c->session = s;
	reckon_demand(r, s);
	memset(s->echo, 0, sizeof(s->echo));
	s->wr.seq = 0;
	rail_session_start(r, s, now);
	arm(r, s, now);
	publish_all(r, s);
}

static void end_probe(struct op_books *b, uint32_t value, bool is_the_failed_one)
{
	if (value < FAIL_BASE)
		ledger_abort(b, (enum abort_reason)value);
	else if (is_the_failed_one)
		ledger_fail(b, (enum fail_reason)(value - FAIL_BASE));
	else
		ledger_abort(b, ABORT_FLUSHED);
}

void rail_session_down(struct rail *r, struct rail_session *s, uint32_t value)
{
	struct op_books before[OP_COUNT];

	memcpy(before, s->books.op, sizeof(before));
	for (unsigned i = 0; i < ECHO_BOUND; i++) {
		struct echo_slot *e = &s->echo[i];

		if (e->seq && !e->failed)
			end_probe(&s->books.op[OP_SEND], value, e->seq == s->wr.seq);
		e->seq = 0;
	}
	if (s->wr.seq && s->wr.op != OP_SEND && !s->wr.failed)
		end_probe(&s->books.op[s->wr.op], value, true);
	s->wr.seq = 0;
	s->conn->session = NULL;
	s->conn = NULL;
	reckon_demand(r, s);
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (s->books.op[op].misses != before[op].misses)
			watch_turn(r, s, &s->books.op[op], before[op].misses);
	arm(r, s, r->p.now_ns());
	publish_all(r, s);
}

void rail_session_remove(struct rail *r, struct rail_session *s, uint32_t reason)
{
	if (s->conn)
		rail_session_down(r, s, reason);
	timer_heap_set(r->timers, &s->timer, TIMER_NEVER);
	publish_all(r, s);
	spsc_push(r->p.notes, &(struct rail_note){.type = NOTE_REMOVED, .session = s});
}
