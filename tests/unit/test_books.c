#include "support.h"

#include <time.h>

#include "core/clock.h"
#include "health/books.h"

#define MSEC NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define STUCK_RAIL (1 * SEC) /* the rail thread's side of the agreement */
#define SESSION 7

/* --- a rail thread's row, as probes/ keeps it --- */

struct rail {
	struct session_books row, shown; /* shown: what the table says */
	uint64_t next_due[OP_COUNT];
	uint64_t beat;
};

static const uint64_t intervals[OP_COUNT] = {200 * MSEC, 350 * MSEC, 10 * SEC, 0};

static uint64_t due_until(enum op op, uint64_t t)
{
	uint64_t phase = 13 * MSEC * (op + 1);

	return t < phase ? 0 : (t - phase) / intervals[op] + 1;
}

static void show(struct rail *r)
{
	r->shown = r->row;
}

static void rail_add(struct rail *r, uint64_t now)
{
	memset(r, 0, sizeof(*r));
	r->row.session_id = SESSION;
	r->beat = now;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books *b = &r->row.op[op];

		b->interval_ns = intervals[op];
		if (!b->interval_ns)
			continue;
		b->phase_ns = 13 * MSEC * (op + 1);
		b->booked_until_ns = UINT64_MAX;
	}
	show(r);
}

static void rail_start(struct rail *r, uint64_t now)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books *b = &r->row.op[op];

		if (!b->interval_ns)
			continue;
		b->booked_until_ns = now;
		r->next_due[op] = b->phase_ns + due_until((enum op)op, now) * b->interval_ns;
	}
	show(r);
}

static bool rail_started(const struct rail *r)
{
	return r->row.session_id && r->row.op[OP_SEND].booked_until_ns != UINT64_MAX;
}

static void count_skip(struct op_books *b, enum skip_reason why, uint64_t n)
{
	b->scheduled += n;
	b->not_attempted[why] += n;
}

static void count_sent(struct op_books *b)
{
	b->scheduled++;
	b->sent++;
	b->in_flight++;
}

static void count_miss(struct op_books *b)
{
	b->misses++;
	b->double_misses += b->miss_streak > 0;
	b->miss_streak++;
	b->ok_streak = 0;
}

static void count_end(struct op_books *b, int how)
{
	if (!b->in_flight)
		return;
	b->in_flight--;
	if (how == 0) {
		b->failed[FAIL_TIMEOUT]++;
		count_miss(b);
	} else if (how == 1) {
		b->aborted[ABORT_FLUSHED]++;
	} else {
		b->ok++;
		b->ok_streak++;
		b->miss_streak = 0;
	}
}

static void rail_book_op(struct rail *r, enum op op, uint64_t now)
{
	struct op_books *b = &r->row.op[op];
	uint64_t due = r->next_due[op], n, last;

	if (!b->interval_ns || due > now)
		return;
	n = (now - due) / b->interval_ns + 1;
	last = due + (n - 1) * b->interval_ns;
	r->next_due[op] = last + b->interval_ns;
	b->booked_until_ns = last;
	if (now - last > STUCK_RAIL) {
		count_skip(b, SKIP_WORKER_STUCK, n);
		return;
	}
	count_skip(b, SKIP_WORKER_STUCK, n - 1);
	if (rand() % 4 == 0) {
		count_skip(b, SKIP_NOT_CONNECTED, 1);
		count_miss(b);
	} else if (rand() % 8 == 0) {
		count_skip(b, SKIP_LOCAL_PORT_DOWN, 1);
	} else {
		count_sent(b);
	}
}

static void rail_book(struct rail *r, uint64_t now)
{
	r->beat = now;
	if (!rail_started(r))
		return;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		count_end(&r->row.op[op], rand() % 6);
		rail_book_op(r, (enum op)op, now);
	}
}

/* --- what every look must find --- */

static void assert_never_back(const struct op_books *was, const struct op_books *now)
{
	assert_true(op_books_balanced(now));
	assert_true(now->scheduled >= was->scheduled);
	assert_true(now->sent >= was->sent);
	assert_true(now->ok >= was->ok);
	assert_true(now->misses >= was->misses);
	assert_true(now->double_misses >= was->double_misses);
	assert_true(now->booked_until_ns >= was->booked_until_ns);
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		assert_true(now->failed[i] >= was->failed[i]);
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		assert_true(now->aborted[i] >= was->aborted[i]);
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		assert_true(now->not_attempted[i] >= was->not_attempted[i]);
}

/* --- plain scenarios: one operation of 200 ms --- */

struct scene {
	struct books books;
	struct rail rail;
	struct op_books total[OP_COUNT];
	uint64_t now;
};

static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->now = 1000 * SEC;
	books_init(&s->books, SESSION);
	rail_add(&s->rail, s->now);
	rail_start(&s->rail, s->now);
}

static void look(struct scene *s)
{
	struct op_books was[OP_COUNT];

	memcpy(was, s->total, sizeof(was));
	if (s->rail.shown.session_id)
		assert_true(row_is_fine(books_live(&s->books, &s->rail.shown)));
	books_derive_stuck(&s->books, s->now, s->rail.beat);
	books_total(&s->books, s->total);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_never_back(&was[op], &s->total[op]);
}

static void run_rail(struct scene *s, uint64_t ns)
{
	for (uint64_t end = s->now + ns; s->now < end; s->now += 50 * MSEC) {
		rail_book(&s->rail, s->now);
		show(&s->rail);
	}
}

static uint64_t stuck(const struct scene *s)
{
	return s->total[OP_SEND].not_attempted[SKIP_WORKER_STUCK];
}

static void test_live_row_is_exported_as_it_is(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	assert_memory_equal(&s.total[OP_SEND], &s.rail.shown.op[OP_SEND], sizeof(struct op_books));
	assert_int_equal(s.total[OP_SEND].scheduled, 25);
	assert_int_equal(s.total[OP_ATOMIC].interval_ns, 0);
}

static void test_frozen_worker_goes_on_being_scheduled(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	s.now += 1900 * MSEC; /* its heartbeat is young enough: no judgement yet */
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, 25);
	s.now += 8100 * MSEC;
	look(&s);
	/* 10 s of freeze, of which the last 2 s are not judged yet */
	assert_int_equal(s.total[OP_SEND].scheduled, 25 + 40);
	assert_int_equal(stuck(&s), 40);
}

static void test_woken_worker_books_the_same_instants(void **state)
{
	struct scene s;
	uint64_t before;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	s.now += 10 * SEC;
	look(&s);
	before = stuck(&s);
	rail_book(&s.rail, s.now);
	show(&s.rail);
	look(&s);
	assert_true(stuck(&s) >= before);
	assert_int_equal(s.total[OP_SEND].scheduled,
			 due_until(OP_SEND, s.now) - due_until(OP_SEND, 1000 * SEC));
	assert_int_equal(s.total[OP_SEND].scheduled, s.rail.row.op[OP_SEND].scheduled);
}

static void test_dead_worker_aborts_what_was_in_flight(void **state)
{
	struct scene s;
	uint64_t in_flight;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	count_sent(&s.rail.row.op[OP_READ]);
	s.rail.row.op[OP_READ].booked_until_ns += 350 * MSEC;
	show(&s.rail);
	look(&s);
	in_flight = s.total[OP_READ].in_flight;
	assert_true(in_flight > 0);
	books_fold(&s.books);
	memset(&s.rail, 0, sizeof(s.rail));
	look(&s);
	assert_int_equal(s.total[OP_READ].in_flight, 0);
	assert_int_equal(s.total[OP_READ].aborted[ABORT_WORKER_LOST], in_flight);
}

static void test_successor_takes_over_without_gap_or_double(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	books_fold(&s.books);
	memset(&s.rail, 0, sizeof(s.rail));
	s.now += 5 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_WORKER_STUCK);
	look(&s);
	assert_int_equal(stuck(&s), 15);
	/* The new row is there, but has not started to book. */
	rail_add(&s.rail, s.now);
	s.now += 1 * SEC;
	look(&s);
	books_derive_gone(&s.books, s.now, SKIP_WORKER_STUCK);
	look(&s);
	assert_int_equal(stuck(&s), 20);
	rail_start(&s.rail, s.now);
	look(&s);
	assert_int_equal(stuck(&s), 30);
	run_rail(&s, 5 * SEC);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled,
			 due_until(OP_SEND, s.now - 50 * MSEC) - due_until(OP_SEND, 1000 * SEC));
	assert_int_equal(stuck(&s), 30);
}

static void test_absent_device_is_told_from_a_stuck_worker(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	books_fold(&s.books);
	memset(&s.rail, 0, sizeof(s.rail));
	s.now += 4 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	look(&s);
	assert_int_equal(s.total[OP_SEND].not_attempted[SKIP_DEVICE_ABSENT], 10);
	assert_int_equal(stuck(&s), 0);
	s.now += 1 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_WORKER_STUCK);
	look(&s);
	assert_int_equal(s.total[OP_SEND].not_attempted[SKIP_DEVICE_ABSENT], 10);
	assert_int_equal(stuck(&s), 5);
}

static void test_row_that_started_before_mains_mark_is_not_counted_twice(void **state)
{
	struct scene s;
	uint64_t start;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	books_fold(&s.books);
	/* The successor takes its start, and is held up before it shows its row. */
	s.now += 3 * SEC;
	start = s.now;
	rail_add(&s.rail, start);
	s.now += 6 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_WORKER_STUCK);
	look(&s);
	assert_int_equal(stuck(&s), 35);
	rail_start(&s.rail, start);
	look(&s);
	assert_int_equal(stuck(&s), 35);
	rail_book(&s.rail, s.now);
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled,
			 due_until(OP_SEND, s.now) - due_until(OP_SEND, 1000 * SEC));
}

static void test_instant_shown_after_main_gave_it_up_never_goes_back(void **state)
{
	struct scene s;
	uint64_t before;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	/* Frozen between deciding to send and showing it. */
	rail_book_op(&s.rail, OP_SEND, s.rail.next_due[OP_SEND]);
	s.now += 10 * SEC;
	look(&s);
	before = stuck(&s);
	show(&s.rail);
	s.rail.beat = s.now;
	look(&s);
	assert_int_equal(stuck(&s), before);
	/* The one that was too many is made good by those that follow. */
	rail_book(&s.rail, s.now);
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, s.rail.row.op[OP_SEND].scheduled);
}

static void test_planned_rebuild_books_nothing_in_between(void **state)
{
	struct scene s;
	uint64_t scheduled;

	(void)state;
	scene_init(&s);
	run_rail(&s, 5 * SEC);
	look(&s);
	scheduled = s.total[OP_SEND].scheduled;
	books_rebuild(&s.books, SESSION + 1);
	memset(&s.rail, 0, sizeof(s.rail));
	s.now += 5 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_WORKER_STUCK);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, scheduled);
	assert_int_equal(s.total[OP_SEND].interval_ns, 200 * MSEC);
	rail_add(&s.rail, s.now);
	s.rail.row.session_id = SESSION + 1;
	rail_start(&s.rail, s.now);
	run_rail(&s, 1 * SEC);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, scheduled + 5);
	/* From here on it is an ordinary session again. */
	s.now += 10 * SEC;
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, scheduled + 5 + 40);
}

static void test_streaks_run_on_over_workers(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	count_sent(&s.rail.row.op[OP_SEND]);
	count_end(&s.rail.row.op[OP_SEND], 2);
	count_sent(&s.rail.row.op[OP_SEND]);
	count_end(&s.rail.row.op[OP_SEND], 0);
	s.rail.row.op[OP_SEND].booked_until_ns += 400 * MSEC;
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].miss_streak, 1);
	assert_int_equal(s.total[OP_SEND].double_misses, 0);
	books_fold(&s.books);
	rail_add(&s.rail, s.now);
	rail_start(&s.rail, s.now);
	look(&s);
	assert_int_equal(s.total[OP_SEND].miss_streak, 1);
	count_sent(&s.rail.row.op[OP_SEND]);
	count_end(&s.rail.row.op[OP_SEND], 0);
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].miss_streak, 2);
	assert_int_equal(s.total[OP_SEND].misses, 2);
	assert_int_equal(s.total[OP_SEND].double_misses, 1);
	count_sent(&s.rail.row.op[OP_SEND]);
	count_end(&s.rail.row.op[OP_SEND], 2);
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].miss_streak, 0);
	assert_int_equal(s.total[OP_SEND].ok_streak, 1);
	books_fold(&s.books);
	rail_add(&s.rail, s.now);
	rail_start(&s.rail, s.now);
	count_sent(&s.rail.row.op[OP_SEND]);
	count_end(&s.rail.row.op[OP_SEND], 2);
	show(&s.rail);
	look(&s);
	assert_int_equal(s.total[OP_SEND].ok_streak, 2);
	assert_int_equal(s.total[OP_SEND].double_misses, 1);
}

static void test_session_that_never_ran_books_nothing(void **state)
{
	struct books b;
	struct op_books total[OP_COUNT];

	(void)state;
	books_init(&b, SESSION);
	books_derive_stuck(&b, 100 * SEC, 0);
	books_derive_gone(&b, 100 * SEC, SKIP_DEVICE_ABSENT);
	books_fold(&b);
	books_total(&b, total);
	for (unsigned op = 0; op < OP_COUNT; op++)
		assert_int_equal(total[op].scheduled, 0);
}

static void test_absent_from_the_start_is_booked_by_the_configured_schedule(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	memset(&s.rail, 0, sizeof(s.rail));
	books_begin(&s.books, intervals, 77 * MSEC, s.now);
	s.now += 12 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	look(&s);
	assert_int_equal(s.total[OP_SEND].not_attempted[SKIP_DEVICE_ABSENT], 50);
	assert_int_equal(s.total[OP_SEND].scheduled, 50);
	assert_int_equal(s.total[OP_ATOMIC].scheduled, 0);
	/* a second word about it changes nothing */
	books_begin(&s.books, intervals, 33 * MSEC, s.now);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, 50);
	/* then the device comes, with a phase of its own */
	rail_add(&s.rail, s.now);
	rail_start(&s.rail, s.now);
	run_rail(&s, 10 * SEC);
	look(&s);
	assert_in_range(s.total[OP_SEND].scheduled, 108, 112);
	assert_true(op_books_balanced(&s.total[OP_SEND]));
}

static void test_what_the_peer_lacked_is_not_due_while_the_device_is_absent(void **state)
{
	struct session_books row = {.session_id = SESSION};
	struct scene s;

	(void)state;
	scene_init(&s);
	memset(&s.rail, 0, sizeof(s.rail));
	for (unsigned op = 0; op < OP_COUNT; op++)
		row.op[op].booked_until_ns = s.now;
	assert_int_equal(books_live(&s.books, &row).word, ROW_TAKEN);
	books_fold(&s.books);
	books_begin(&s.books, intervals, 0, s.now);
	s.now += 12 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	look(&s);
	assert_int_equal(s.total[OP_SEND].scheduled, 0);
}

static void
test_a_row_seen_first_when_its_operation_was_found_lacking_starts_where_it_did(void **state)
{
	struct session_books row = {.session_id = SESSION};
	struct op_books *send = &row.op[OP_SEND];
	struct scene s;

	(void)state;
	scene_init(&s);
	memset(&s.rail, 0, sizeof(s.rail));
	books_begin(&s.books, intervals, 0, s.now);
	for (unsigned op = 0; op < OP_COUNT; op++)
		row.op[op].booked_until_ns = s.now + 10 * SEC;
	/* The last two instants before the peer said that it cannot. */
	send->phase_ns = 0;
	send->scheduled = send->not_attempted[SKIP_NOT_CONNECTED] = 2;
	s.now += 10 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	assert_int_equal(books_live(&s.books, &row).word, ROW_TAKEN);
	look(&s);
	assert_in_range(s.total[OP_SEND].scheduled, 10 * SEC / intervals[OP_SEND] - 1,
			10 * SEC / intervals[OP_SEND] + 1);
}

static void test_another_schedule_after_a_rebuild_keeps_what_was_booked(void **state)
{
	static const uint64_t slower[OP_COUNT] = {1 * SEC, 0, 0, 0};
	struct scene s;

	(void)state;
	scene_init(&s);
	memset(&s.rail, 0, sizeof(s.rail));
	books_begin(&s.books, intervals, 0, s.now);
	s.now += 12 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	look(&s);
	books_rebuild(&s.books, SESSION);
	books_begin(&s.books, slower, 0, s.now);
	s.now += 12 * SEC;
	books_derive_gone(&s.books, s.now, SKIP_DEVICE_ABSENT);
	look(&s);
	assert_in_range(s.total[OP_SEND].scheduled, 59, 61);
	assert_int_equal(s.total[OP_SEND].scheduled,
			 s.total[OP_SEND].not_attempted[SKIP_DEVICE_ABSENT]);
}

static void test_ack_sums_survive_workers(void **state)
{
	struct scene s;
	uint64_t sum_ns, count;

	(void)state;
	scene_init(&s);
	s.rail.shown.ack_count = 3;
	s.rail.shown.ack_sum_ns = 300;
	look(&s);
	books_fold(&s.books);
	rail_add(&s.rail, s.now);
	rail_start(&s.rail, s.now);
	s.rail.shown.ack_count = 1;
	s.rail.shown.ack_sum_ns = 50;
	look(&s);
	books_ack(&s.books, &sum_ns, &count);
	assert_int_equal(sum_ns, 350);
	assert_int_equal(count, 4);
}

static void set_stamps(struct scene *s, uint64_t attempt_ns, uint64_t success_ns)
{
	s->rail.shown.op[OP_READ].last_attempt_wall_ns = attempt_ns;
	s->rail.shown.op[OP_READ].last_success_wall_ns = success_ns;
	look(s);
}

static void test_stamps_of_a_clock_that_was_set_back_give_way_to_later_ones(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	set_stamps(&s, 7200 * SEC, 7100 * SEC);
	books_fold(&s.books);
	rail_add(&s.rail, s.now);
	rail_start(&s.rail, s.now);
	/* The successor has not got anywhere: what is known stays. */
	set_stamps(&s, 3600 * SEC, 0);
	assert_int_equal(s.total[OP_READ].last_attempt_wall_ns, 3600 * SEC);
	assert_int_equal(s.total[OP_READ].last_success_wall_ns, 7100 * SEC);
	set_stamps(&s, 3601 * SEC, 3601 * SEC);
	assert_int_equal(s.total[OP_READ].last_success_wall_ns, 3601 * SEC);
}

/* --- any sequence --- */

enum life { LIFE_DEAD, LIFE_ADDED, LIFE_RUNS, LIFE_FROZEN };

struct sim {
	struct scene s;
	enum life life;
	bool device_there, seen;
	uint64_t row_start, first_start; /* first_start: of the first row that main saw */
	uint64_t frozen_until, main_until;
};

static void sim_read(struct sim *m)
{
	if (!m->s.rail.shown.session_id)
		return;
	assert_true(row_is_fine(books_live(&m->s.books, &m->s.rail.shown)));
	if (!m->seen && rail_started(&m->s.rail)) {
		m->first_start = m->row_start;
		m->seen = true;
	}
}

static void sim_worker_event(struct sim *m)
{
	int dice = rand() % 100;

	if (m->life == LIFE_RUNS && dice < 2) {
		m->life = LIFE_FROZEN;
		m->frozen_until = m->s.now + (uint64_t)(rand() % 15000) * MSEC;
	} else if (m->life == LIFE_FROZEN && m->s.now >= m->frozen_until) {
		m->life = LIFE_RUNS;
	} else if (m->life != LIFE_DEAD && dice == 2) {
		/* Reaped: its row a last time, then folded. */
		if (rand() % 2)
			sim_read(m);
		books_fold(&m->s.books);
		memset(&m->s.rail, 0, sizeof(m->s.rail));
		m->life = LIFE_DEAD;
		m->device_there = rand() % 2;
	} else if (m->life == LIFE_DEAD && dice < 5) {
		m->device_there = true;
		rail_add(&m->s.rail, m->s.now);
		m->life = LIFE_ADDED;
	} else if (m->life == LIFE_ADDED && dice < 20) {
		rail_start(&m->s.rail, m->s.now);
		m->row_start = m->s.now;
		m->life = LIFE_RUNS;
	}
}

static void sim_look(struct sim *m)
{
	struct op_books was[OP_COUNT];

	memcpy(was, m->s.total, sizeof(was));
	sim_read(m);
	books_derive_stuck(&m->s.books, m->s.now, m->s.rail.beat);
	books_derive_gone(&m->s.books, m->s.now,
			  m->device_there ? SKIP_WORKER_STUCK : SKIP_DEVICE_ABSENT);
	books_total(&m->s.books, m->s.total);
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct op_books *b = &m->s.total[op];

		assert_never_back(&was[op], b);
		if (!m->s.books.op[op].interval_ns) {
			assert_int_equal(b->scheduled, 0);
			continue;
		}
		/* Every instant since the first start, once, up to what is said to be booked... */
		assert_int_equal(b->scheduled, due_until((enum op)op, b->booked_until_ns) -
						       due_until((enum op)op, m->first_start));
		/* ... and that is never long ago. */
		assert_true(b->booked_until_ns + STUCK_MAIN_NS + intervals[op] + 500 * MSEC >=
			    m->s.now);
	}
}

static void sim_run(unsigned steps)
{
	struct sim m = {.life = LIFE_ADDED, .device_there = true};

	m.s.now = 500 * SEC + (uint64_t)(rand() % 1000000);
	books_init(&m.s.books, SESSION);
	rail_add(&m.s.rail, m.s.now);
	for (unsigned i = 0; i < steps; i++) {
		/* Now and then the whole host stands still. */
		m.s.now += rand() % 300 ? 50 * MSEC : (uint64_t)(rand() % 12000) * MSEC;
		sim_worker_event(&m);
		/* Who wakes up first is open. */
		if (rand() % 2 && m.s.now >= m.main_until) {
			sim_look(&m);
			m.main_until = m.s.now + (rand() % 50 ? 1 : (uint64_t)(rand() % 20)) * SEC;
		}
		if (m.life == LIFE_RUNS || m.life == LIFE_ADDED) {
			rail_book(&m.s.rail, m.s.now);
			show(&m.s.rail);
		}
	}
}

static void test_any_sequence_keeps_the_books_exact(void **state)
{
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	printf("seed %u\n", seed);
	srand(seed);
	for (unsigned i = 0; i < 4000; i++)
		sim_run(400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_row_is_exported_as_it_is),
		cmocka_unit_test(test_frozen_worker_goes_on_being_scheduled),
		cmocka_unit_test(test_woken_worker_books_the_same_instants),
		cmocka_unit_test(test_dead_worker_aborts_what_was_in_flight),
		cmocka_unit_test(test_successor_takes_over_without_gap_or_double),
		cmocka_unit_test(test_absent_device_is_told_from_a_stuck_worker),
		cmocka_unit_test(test_row_that_started_before_mains_mark_is_not_counted_twice),
		cmocka_unit_test(test_instant_shown_after_main_gave_it_up_never_goes_back),
		cmocka_unit_test(test_planned_rebuild_books_nothing_in_between),
		cmocka_unit_test(test_streaks_run_on_over_workers),
		cmocka_unit_test(test_session_that_never_ran_books_nothing),
		cmocka_unit_test(test_absent_from_the_start_is_booked_by_the_configured_schedule),
		cmocka_unit_test(test_what_the_peer_lacked_is_not_due_while_the_device_is_absent),
		cmocka_unit_test(
			test_a_row_seen_first_when_its_operation_was_found_lacking_starts_where_it_did),
		cmocka_unit_test(test_another_schedule_after_a_rebuild_keeps_what_was_booked),
		cmocka_unit_test(test_ack_sums_survive_workers),
		cmocka_unit_test(test_stamps_of_a_clock_that_was_set_back_give_way_to_later_ones),
		cmocka_unit_test(test_any_sequence_keeps_the_books_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
