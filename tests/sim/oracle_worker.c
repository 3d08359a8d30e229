/* What must hold in a worker. */
#include <string.h>

#include "kernel.h"
#include "oracle.h"
#include "probes/control_priv.h"
#include "probes/ledger.h"
#include "probes/rail_priv.h"
#include "probes/schedule.h"

/* Of one session in ATTEMPTS_NS; a back-off may end early when a peer shows up. */
#define ATTEMPTS_MAX 40
#define ATTEMPTS_NS (10 * NSEC_PER_SEC)

static bool quiet; /* everything is repaired, and was well since */

/* --- books of a row --- */

#define NOT_BACK(was, now, member)                                                                 \
	simulation_check((now)->member >= (was)->member, "row %u %s: " #member " went back", row,  \
			 op_name(op))

static void check_growth(uint32_t row, enum op op, const struct op_books *was,
			 const struct op_books *now)
{
	NOT_BACK(was, now, scheduled);
	NOT_BACK(was, now, sent);
	NOT_BACK(was, now, ok);
	NOT_BACK(was, now, late);
	NOT_BACK(was, now, self_delayed);
	NOT_BACK(was, now, misses);
	NOT_BACK(was, now, double_misses);
	NOT_BACK(was, now, rtt_count);
	NOT_BACK(was, now, rtt_sum_ns);
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		NOT_BACK(was, now, failed[i]);
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		NOT_BACK(was, now, aborted[i]);
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		NOT_BACK(was, now, not_attempted[i]);
}

static uint64_t misses_of(const struct op_books *b)
{
	uint64_t n = op_books_failed(b);

	for (unsigned i = 0; i < SKIP_COUNT; i++)
		if (ledger_skip_is_miss((enum skip_reason)i))
			n += b->not_attempted[i];
	return n;
}

static void check_identities(uint32_t row, enum op op, const struct op_books *b)
{
	simulation_check(op_books_balanced(b), "row %u %s: the books are not balanced", row,
			 op_name(op));
	simulation_check(b->rtt_count == b->ok + b->late - b->self_delayed,
			 "row %u %s: %llu round trips for %llu ok, %llu late, %llu self-delayed",
			 row, op_name(op), (unsigned long long)b->rtt_count,
			 (unsigned long long)b->ok, (unsigned long long)b->late,
			 (unsigned long long)b->self_delayed);
	simulation_check(b->misses == misses_of(b), "row %u %s: %llu misses, the reasons say %llu",
			 row, op_name(op), (unsigned long long)b->misses,
			 (unsigned long long)misses_of(b));
	simulation_check(b->in_flight <= ECHO_BOUND + 1, "row %u %s: %llu in flight", row,
			 op_name(op), (unsigned long long)b->in_flight);
}

/* How long an instant may wait for the request of another operation (rail_session.c). */
static uint64_t patience_of(const struct op_config *cfg)
{
	uint64_t part = cfg->deadline_ns / 5, half = cfg->interval_ns / 2;

	return part < half ? part : half;
}

/* Between a change of the settings and the end of the sessions that were made by the old ones, an
 * instant may have begun to wait under the old and be looked at under the new. */
static uint64_t patience_ns(const struct process *p, uint32_t row, enum op op)
{
	uint64_t now = patience_of(&p->rail->ops[op]), before = p->seen[row].patience_ns[op];

	if (!p->control->sessions[row]->rs.wr.seq)
		return 0;
	return now > before ? now : before;
}

/* Every instant since the row began is booked once, whenever it is looked at. */
static void check_schedule(const struct process *p, uint32_t row, enum op op,
			   const struct op_books *b, uint64_t start_ns)
{
	uint64_t due = p->seen[row].counted[op] +
		       schedule_count(b->phase_ns, b->interval_ns, start_ns, b->booked_until_ns);
	uint64_t behind = schedule_count(b->phase_ns, b->interval_ns, b->booked_until_ns,
					 simulation_now_ns() - patience_ns(p, row, op));

	simulation_check(b->scheduled == due, "row %u %s: scheduled %llu, %llu were due", row,
			 op_name(op), (unsigned long long)b->scheduled, (unsigned long long)due);
	simulation_check(!behind || p->control->sessions[row]->gone_from_rail ||
				 p->control->sessions[row]->removing,
			 "row %u %s: %llu instants are past and not booked", row, op_name(op),
			 (unsigned long long)behind);
}

static void check_op(struct process *p, uint32_t row, enum op op, const struct op_books *b)
{
	struct row_seen *seen = &p->seen[row];

	if (memcmp(b, &seen->books.op[op], sizeof(*b))) {
		check_identities(row, op, b);
		check_growth(row, op, &seen->books.op[op], b);
		seen->changed = true;
	}
	if (b->booked_until_ns == UINT64_MAX) {
		simulation_check(!b->scheduled, "row %u %s: booked before it began", row,
				 op_name(op));
		return;
	}
	if (!seen->start_ns[op]) {
		seen->start_ns[op] = b->booked_until_ns;
		seen->patience_ns[op] = patience_of(&p->rail->ops[op]);
	}
	check_schedule(p, row, op, b, seen->start_ns[op]);
}

/* The peer has begun or ceased to lack the operation: what was due until then stays due. */
static void follow_schedule(struct process *p, uint32_t row, enum op op, const struct op_books *b)
{
	struct row_seen *seen = &p->seen[row];

	if (!seen->began || seen->interval_ns[op] == b->interval_ns)
		return;
	seen->counted[op] += schedule_count(b->phase_ns, seen->interval_ns[op], seen->start_ns[op],
					    b->booked_until_ns);
	seen->start_ns[op] = b->booked_until_ns;
	seen->interval_ns[op] = b->interval_ns;
	oracle_row_rescheduled(p->host, seen->id, op, b);
}

/* A SEND whose acknowledgement goes out with its reply. */
static bool awaits_reply(const struct rail_session *rs)
{
	for (unsigned i = 0; i < ECHO_BOUND; i++)
		if (rs->echo[i].seq && !rs->echo[i].failed)
			return true;
	return false;
}

/* What the rail knows and what it shows is the same after every round. */
static void check_shown(struct process *p, uint32_t row, const struct rail_session *rs)
{
	const struct session_books *b = &rs->books;
	struct session_books shown;

	simulation_check(table_get_books(p->table, row, &shown), "row %u is torn", row);
	if (awaits_reply(rs)) {
		simulation_check(shown.ack_count <= b->ack_count &&
					 shown.ack_count + ECHO_BOUND >= b->ack_count,
				 "row %u shows other acknowledgements", row);
		shown.ack_count = b->ack_count;
		shown.ack_sum_ns = b->ack_sum_ns;
	}
	simulation_check(!memcmp(&shown, b, sizeof(shown)), "row %u shows old books", row);
	p->seen[row].books = shown;
	p->seen[row].changed = false;
}

static void check_row(struct process *p, uint32_t row, const struct session *s)
{
	struct row_seen *seen = &p->seen[row];
	const struct session_books *b = &s->rs.books;
	bool began;

	if (b->session_id != s->wish.id)
		return; /* the rail has not heard of it yet */
	if (seen->id != b->session_id)
		*seen = (struct row_seen){.id = b->session_id};
	began = s->rs.started && !seen->began;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		follow_schedule(p, row, (enum op)op, &b->op[op]);
		if (b->op[op].interval_ns)
			check_op(p, row, (enum op)op, &b->op[op]);
	}
	if (seen->changed)
		check_shown(p, row, &s->rs);
	if (!began)
		return;
	seen->began = true;
	for (unsigned op = 0; op < OP_COUNT; op++)
		seen->interval_ns[op] = b->op[op].interval_ns;
	oracle_row_started(p->host, b->session_id, b);
}

/* --- connections --- */

static void check_one_request(const struct conn *conn)
{
	const struct rail_conn *rc = &conn->rc;
	unsigned probes = 0;

	for (uint32_t i = 0; i < rc->fifo_len; i++)
		probes += rc->fifo[(rc->fifo_head + i) % TX_FIFO].kind == TX_PROBE;
	simulation_check(probes <= 1, "QP %u has %u requests outstanding", rc->qpn, probes);
}

bool oracle_all_up(void)
{
	for (const struct process *p = processes; p; p = p->next)
		for (uint32_t row = 0; p->control && row < p->control->n_rows; row++) {
			const struct session *s = p->control->sessions[row];

			if (s && s->pub.state != SESSION_UP)
				return false;
		}
	return true;
}

void oracle_after_rail(struct process *p)
{
	const struct control *c = p->control;

	for (uint32_t row = 0; row < c->n_rows; row++)
		if (c->sessions[row])
			check_row(p, row, c->sessions[row]);
	for (const struct conn *conn = c->conns; conn; conn = conn->next)
		check_one_request(conn);
}

static void check_counts(struct process *p)
{
	const struct control *c = p->control;
	uint32_t active = 0, passive = 0, connecting = 0, sessions = 0;

	for (const struct conn *conn = c->conns; conn; conn = conn->next) {
		active += conn->rc.qp && conn->rc.role == CONN_ACTIVE;
		passive += conn->rc.qp && conn->rc.role == CONN_PASSIVE;
		simulation_check(!conn->session || conn->session->conn == conn,
				 "a connection of a session that has another");
	}
	for (uint32_t row = 0; row < c->n_rows; row++) {
		const struct session *s = c->sessions[row];

		if (!s)
			continue;
		sessions++;
		/* One that leaves has given its turn back. */
		connecting += !s->removing && (s->pub.state == SESSION_RESOLVING ||
					       s->pub.state == SESSION_CONNECTING);
	}
	simulation_check(active == c->n_active && passive == c->n_passive,
			 "%u active and %u passive QPs, counted %u and %u", active, passive,
			 c->n_active, c->n_passive);
	simulation_check(active + passive <= c->cfg.qps_per_device, "%u QPs, %u are allowed",
			 active + passive, c->cfg.qps_per_device);
	if (c->cfg.connects > p->connects_most)
		p->connects_most = c->cfg.connects;
	simulation_check(connecting <= p->connects_most, "%u sessions connect, %u may", connecting,
			 p->connects_most);
	simulation_check(sessions == c->n_sessions, "%u sessions, counted %u", sessions,
			 c->n_sessions);
}

/* Registered memory comes in pieces, for 64 receives or for 16 connections, and two regions more.
 */
static void check_memory(void)
{
	unsigned most = 0;

	for (const struct process *p = processes; p; p = p->next) {
		uint32_t qps = p->cfg.qps_per_device;

		if (p->control && !endpoint_has_srq(p->control->endpoint))
			return; /* a queue of each QP: others count */
		most += queue_sets_receives(qps) / 64 + QUEUE_SETS_MAX + (qps + 1 + 15) / 16 + 2;
	}
	simulation_check(fabric_objects(OBJECT_MR) <= most, "%u memory regions, %u are enough",
			 fabric_objects(OBJECT_MR), most);
}

void oracle_after_control(struct process *p)
{
	if (p->control->exit_code >= 0)
		return;
	check_counts(p);
	check_memory();
}

/* --- states --- */

static bool follows(enum session_state from, enum session_state to)
{
	for (unsigned e = SEV_START; e <= SEV_DISABLE; e++)
		if (session_next_state(from, (enum session_event)e) == to)
			return true;
	return false;
}

static void count_attempt(struct row_seen *seen, uint32_t row)
{
	uint64_t now = simulation_now_ns();

	if (now - seen->window_ns > ATTEMPTS_NS) {
		seen->window_ns = now;
		seen->attempts = 0;
	}
	simulation_check(++seen->attempts <= ATTEMPTS_MAX, "row %u: %u attempts to connect in %u s",
			 row, seen->attempts, (unsigned)(ATTEMPTS_NS / NSEC_PER_SEC));
}

static void check_change(struct process *p, const struct fact *f)
{
	struct row_seen *seen = &p->seen[f->row];

	if (seen->id != f->session_id)
		*seen = (struct row_seen){.id = f->session_id};
	simulation_check(seen->state == f->old, "row %u: was %s, and it says that it was %s",
			 f->row, session_state_name(seen->state),
			 session_state_name((enum session_state)f->old));
	simulation_check(follows(seen->state, (enum session_state)f->number),
			 "row %u: %s does not follow %s", f->row,
			 session_state_name((enum session_state)f->number),
			 session_state_name(seen->state));
	seen->state = (enum session_state)f->number;
	if (seen->state == SESSION_RESOLVING)
		count_attempt(seen, f->row);
	if (simulation_traced())
		simulation_note("worker %lu row %u: %s -> %s: %s", (unsigned long)p->pid, f->row,
				session_state_name((enum session_state)f->old),
				session_state_name(seen->state), f->text);
}

/* Of every packet that goes to main, whether it arrives or not. */
static void on_send(int fd, const void *data, size_t len)
{
	const struct fact *f = data;

	if (len != sizeof(*f))
		return;
	for (struct process *p = processes; p; p = p->next) {
		if (p->socket_fd != fd)
			continue;
		simulation_check(fact_check(f, len), "a fact that main would refuse");
		if (f->type == FACT_SESSION)
			check_change(p, f);
		/* Nothing is odd any more that could keep a marker. */
		simulation_check(!quiet || f->type != FACT_DRAIN || f->number != DRAIN_TIMEOUT,
				 "a drain waited for its marker in vain: %s", f->text);
	}
}

void oracle_be_quiet(void)
{
	quiet = true;
}

void oracle_watch_facts(void)
{
	quiet = false;
	kernel_watch_sends(on_send);
}
