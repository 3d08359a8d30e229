/* What must hold in main, and of everybody. Main's books are watched at the door: the linker leads
 * books_init(), books_begin() and books_rebuild() through here (--wrap). */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "kernel.h"
#include "oracle.h"
#include "probes/schedule.h"

#define SESSIONS_MAX 64
/* What main has booked is never older: a fifth of the longest deadline is patience
 * (rail_session.c). */
#define FRESH_NS (STUCK_MAIN_NS + 102 * NSEC_PER_MSEC)

/* The instants of a session that ought to be in main's books, by nothing but its schedule. */
struct expected {
	const struct books *books; /* NULL: free */
	bool open;		   /* instants count since from_ns */
	struct {
		uint64_t interval_ns, phase_ns;
		uint64_t counted; /* of what is closed */
		uint64_t from_ns;
		bool unsure;	      /* by one, until the next look */
		struct op_books last; /* as shown at the last look */
	} op[OP_COUNT];
};

static struct expected table[SESSIONS_MAX];
static struct op_books rail_last[HOSTS_MAX][2][OP_COUNT];

void __real_books_init(struct books *b, uint64_t session_id);
void __wrap_books_init(struct books *b, uint64_t session_id);
void __real_books_begin(struct books *b, const uint64_t interval_ns[OP_COUNT], uint64_t phase_ns,
			uint64_t now_ns);
void __wrap_books_begin(struct books *b, const uint64_t interval_ns[OP_COUNT], uint64_t phase_ns,
			uint64_t now_ns);
void __real_books_rebuild(struct books *b, uint64_t session_id);
void __wrap_books_rebuild(struct books *b, uint64_t session_id);

static struct expected *find(const struct books *b)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (table[i].books == b)
			return &table[i];
	return NULL;
}

/* Those of sessions that are no more. */
static struct expected *forget_freed(void)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		bool lives = false;

		for (unsigned h = 0; h < n_hosts; h++)
			lives |= host_has_books(&hosts[h], table[i].books);
		if (!lives)
			table[i].books = NULL;
	}
	return find(NULL);
}

void __wrap_books_init(struct books *b, uint64_t session_id)
{
	struct expected *e = find(b);

	if (!e)
		e = find(NULL);
	if (!e)
		e = forget_freed();
	simulation_check(e, "too many sessions at once");
	__real_books_init(b, session_id);
	*e = (struct expected){.books = b};
}

/* Nothing is due from the end of the row on, until the next one begins. */
void __wrap_books_rebuild(struct books *b, uint64_t session_id)
{
	struct op_books total[OP_COUNT];
	struct expected *e = find(b);

	books_total(b, total);
	for (unsigned op = 0; e && e->open && op < OP_COUNT; op++)
		e->op[op].counted += schedule_count(e->op[op].phase_ns, e->op[op].interval_ns,
						    e->op[op].from_ns, total[op].booked_until_ns);
	if (e)
		e->open = false;
	__real_books_rebuild(b, session_id);
}

/* From now on it is this schedule by which instants are due. */
static void begin(struct expected *e, enum op op, uint64_t interval_ns, uint64_t phase_ns,
		  uint64_t from_ns)
{
	/* Where the phase changes, main knows the row's beginning to an interval only. */
	e->op[op].unsure |= e->open && e->op[op].phase_ns != phase_ns;
	if (e->open)
		e->op[op].counted += schedule_count(e->op[op].phase_ns, e->op[op].interval_ns,
						    e->op[op].from_ns, from_ns);
	e->op[op].interval_ns = interval_ns;
	e->op[op].phase_ns = phase_ns;
	e->op[op].from_ns = from_ns;
}

/* Nobody has it: main books by itself until a row does. */
void __wrap_books_begin(struct books *b, const uint64_t interval_ns[OP_COUNT], uint64_t phase_ns,
			uint64_t now_ns)
{
	struct expected *e = find(b);
	bool acts = b->paused || !e->open;

	simulation_check(e, "books that were never begun");
	acts &= !b->has_live;
	__real_books_begin(b, interval_ns, phase_ns, now_ns);
	for (unsigned op = 0; acts && op < OP_COUNT; op++)
		begin(e, (enum op)op, interval_ns[op],
		      interval_ns[op] ? phase_ns % interval_ns[op] : 0, now_ns);
	e->open |= acts;
}

void oracle_row_started(const struct host *h, uint64_t session_id, const struct session_books *b)
{
	const struct books *books = host_books(h, session_id);
	struct expected *e = books ? find(books) : NULL;

	if (!e) /* of a session that main has forgotten */
		return;
	for (unsigned op = 0; op < OP_COUNT; op++)
		begin(e, (enum op)op, b->op[op].interval_ns, b->op[op].phase_ns,
		      b->op[op].booked_until_ns);
	e->open = true;
}

void oracle_row_rescheduled(const struct host *h, uint64_t session_id, enum op op,
			    const struct op_books *b)
{
	const struct books *books = host_books(h, session_id);
	struct expected *e = books ? find(books) : NULL;

	if (e)
		begin(e, op, b->interval_ns, b->phase_ns, b->booked_until_ns);
}

/* --- a look --- */

static const char *name_of(const struct session *s)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s %s", s->key.peer, s->key.class_name);
	return text;
}

#define NOT_BACK(member)                                                                           \
	simulation_check(now->member >= was->member, "%s %s: main's " #member " went back", whose, \
			 op_name(op))

static void check_growth(const char *whose, enum op op, const struct op_books *was,
			 const struct op_books *now)
{
	NOT_BACK(scheduled);
	NOT_BACK(sent);
	NOT_BACK(ok);
	NOT_BACK(late);
	NOT_BACK(self_delayed);
	NOT_BACK(misses);
	NOT_BACK(double_misses);
	NOT_BACK(retransmits_suspected);
	NOT_BACK(rtt_count);
	NOT_BACK(rtt_sum_ns);
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		NOT_BACK(failed[i]);
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		NOT_BACK(aborted[i]);
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		NOT_BACK(not_attempted[i]);
	simulation_check(op_books_balanced(now), "%s %s: main's books are not balanced", whose,
			 op_name(op));
	simulation_check(now->rtt_count == now->ok + now->late - now->self_delayed,
			 "%s %s: round trips are not ok + late - self-delayed", whose, op_name(op));
}

static void check_op(struct host *h, const struct session *s, struct expected *e, enum op op)
{
	const struct op_books *now = &s->total[op];
	uint64_t due = e->op[op].counted, behind;

	check_growth(name_of(s), op, &e->op[op].last, now);
	e->op[op].last = *now;
	if (e->open)
		due += schedule_count(e->op[op].phase_ns, e->op[op].interval_ns, e->op[op].from_ns,
				      now->booked_until_ns);
	if (e->op[op].unsure && now->scheduled + 1 == due) {
		e->op[op].counted--;
		due--;
	}
	e->op[op].unsure = false;
	simulation_check(now->scheduled == due, "%s: %s %s: scheduled %llu, %llu were due", h->name,
			 name_of(s), op_name(op), (unsigned long long)now->scheduled,
			 (unsigned long long)due);
	/* A row that was told to end books no more, and the next has not begun. */
	if (!e->open || !s->wanted || s->disabled || s->phase == PHASE_LEAVING)
		return;
	behind = schedule_count(e->op[op].phase_ns, e->op[op].interval_ns, now->booked_until_ns,
				simulation_now_ns() - FRESH_NS);
	simulation_check(!behind, "%s: %s %s: %llu instants are past for long and not booked",
			 h->name, name_of(s), op_name(op), (unsigned long long)behind);
}

static void check_rail(struct host *h, const struct rail *rail)
{
	struct hist hist[STREAM_COUNT];
	struct op_books ops[OP_COUNT];

	for (size_t i = 0; i < rail_books_classes(rail->books) && i < 2; i++) {
		rail_books_class(rail->books, i, ops, hist);
		for (unsigned op = 0; op < OP_COUNT; op++)
			check_growth(rail->name, (enum op)op, &rail_last[h->index][i][op],
				     &ops[op]);
		memcpy(rail_last[h->index][i], ops, sizeof(ops));
	}
}

void oracle_after_look(struct host *h)
{
	for (size_t i = 0; i < sessions_count(h->d.sessions); i++) {
		const struct session *s = sessions_get(h->d.sessions, i);
		struct expected *e = find(&s->books);

		simulation_check(e, "a session that was never made");
		for (unsigned op = 0; op < OP_COUNT; op++)
			check_op(h, s, e, (enum op)op);
	}
	/* A reload drops the rail of a device that is not there. */
	if (!rails_count(h->d.rails))
		memset(rail_last[h->index], 0, sizeof(rail_last[0]));
	for (size_t i = 0; i < rails_count(h->d.rails); i++)
		check_rail(h, rails_get(h->d.rails, i));
}

/* --- begin and end --- */

void oracle_begin(void)
{
	memset(table, 0, sizeof(table));
	memset(rail_last, 0, sizeof(rail_last));
	oracle_watch_facts();
}

void oracle_forget(const struct host *h)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (table[i].books && host_has_books(h, table[i].books))
			table[i].books = NULL;
	memset(rail_last[h->index], 0, sizeof(rail_last[0]));
}

static unsigned sessions_towards(const struct host *h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_hosts; i++)
		if (i != h->index)
			for (size_t j = 0; j < sessions_count(hosts[i].d.sessions); j++)
				n += !strcmp(sessions_get(hosts[i].d.sessions, j)->key.peer,
					     h->name);
	return n;
}

static unsigned qps_expected(const struct host *h)
{
	return (unsigned)sessions_count(h->d.sessions) + sessions_towards(h);
}

bool oracle_settled(void)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if (fabric_qps(hosts[i].dev) != qps_expected(&hosts[i]))
			return false;
	return oracle_all_up();
}

void oracle_when_well(void)
{
	unsigned ids = 0;

	for (unsigned i = 0; i < n_hosts; i++) {
		const struct host *h = &hosts[i];
		unsigned expected = qps_expected(h);

		simulation_check(fabric_qps(h->dev) == expected,
				 "%s: %u QPs for %u sessions that all are up", h->name,
				 fabric_qps(h->dev), expected);
		ids += expected + 1; /* and a listener */
	}
	simulation_check(fabric_objects(OBJECT_ID) == ids, "%u ids, %u are in use",
			 fabric_objects(OBJECT_ID), ids);
	simulation_check(!fabric_objects(OBJECT_CM_EVENT), "an event of rdma_cm is kept");
	oracle_be_quiet();
}

void oracle_when_over(void)
{
	simulation_check(!processes, "a worker is left");
	simulation_check(!kernel_open(), "%u descriptors are left", kernel_open());
}
