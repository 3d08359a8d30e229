#include "health/books.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A row that claims more than this is lying; sums of such rows still fit 64 bits. */
#define COUNT_MAX (1ULL << 56)

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void op_books_add(struct op_books *into, const struct op_books *from)
{
	into->interval_ns = max_u64(into->interval_ns, from->interval_ns);
	into->phase_ns = max_u64(into->phase_ns, from->phase_ns);
	into->booked_until_ns = max_u64(into->booked_until_ns, from->booked_until_ns);
	into->scheduled += from->scheduled;
	into->sent += from->sent;
	into->ok += from->ok;
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		into->failed[i] += from->failed[i];
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		into->aborted[i] += from->aborted[i];
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		into->not_attempted[i] += from->not_attempted[i];
	into->late += from->late;
	into->self_delayed += from->self_delayed;
	into->in_flight += from->in_flight;
	into->retransmits_suspected += from->retransmits_suspected;
	into->misses += from->misses;
	into->double_misses += from->double_misses;
	into->rtt_sum_ns += from->rtt_sum_ns;
	into->rtt_count += from->rtt_count;
	into->last_attempt_wall_ns =
		max_u64(into->last_attempt_wall_ns, from->last_attempt_wall_ns);
	into->last_success_wall_ns =
		max_u64(into->last_success_wall_ns, from->last_success_wall_ns);
	into->last_success_ns = max_u64(into->last_success_ns, from->last_success_ns);
}

/* Instants of the schedule up to t, t included. */
static uint64_t due_until(uint64_t interval_ns, uint64_t phase_ns, uint64_t t)
{
	if (!interval_ns || t < phase_ns)
		return 0;
	return (t - phase_ns) / interval_ns + 1;
}

/* Instants of the schedule in (after, until]. */
static uint64_t due_between(uint64_t interval_ns, uint64_t phase_ns, uint64_t after, uint64_t until)
{
	if (until <= after)
		return 0;
	return due_until(interval_ns, phase_ns, until) - due_until(interval_ns, phase_ns, after);
}

/* The instant after which a row books: it has booked as many as it says, up to booked_until.
 * interval_ns: for an operation that the peer turned out to lack after some were booked. */
static uint64_t row_start(const struct op_books *row, uint64_t interval_ns)
{
	uint64_t n, first;

	if (row->interval_ns)
		interval_ns = row->interval_ns;
	if (!row->scheduled || !interval_ns)
		return row->booked_until_ns;
	n = due_until(interval_ns, row->phase_ns, row->booked_until_ns);
	if (row->scheduled > n)
		return 0;
	first = row->phase_ns + (n - row->scheduled) * interval_ns;
	return first > interval_ns ? first - interval_ns : 0;
}

/* --- what may be believed --- */

bool books_row_started(const struct session_books *row)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		if (row->op[i].booked_until_ns == UINT64_MAX)
			return false;
	return true;
}

static enum row_word worse(enum row_word a, enum row_word b)
{
	return a > b ? a : b;
}

static enum row_word counts_word(const uint64_t *was, const uint64_t *now, size_t n)
{
	enum row_word word = ROW_TAKEN;

	for (size_t i = 0; i < n; i++)
		if (now[i] > COUNT_MAX)
			word = worse(word, ROW_TOO_LARGE);
		else if (now[i] < was[i])
			word = worse(word, ROW_WENT_BACK);
	return word;
}

static enum row_word count_word(uint64_t was, uint64_t now)
{
	return counts_word(&was, &now, 1);
}

static enum row_word op_word(const struct op_books *was, const struct op_books *now)
{
	enum row_word word = ROW_TAKEN;

	word = worse(word, count_word(was->sent, now->sent));
	word = worse(word, count_word(was->ok, now->ok));
	word = worse(word, count_word(was->scheduled, now->scheduled));
	word = worse(word, count_word(0, now->in_flight));
	word = worse(word, counts_word(was->failed, now->failed, FAIL_COUNT));
	word = worse(word, counts_word(was->aborted, now->aborted, ABORT_COUNT));
	word = worse(word, counts_word(was->not_attempted, now->not_attempted, SKIP_COUNT));
	word = worse(word, count_word(was->late, now->late));
	word = worse(word, count_word(was->self_delayed, now->self_delayed));
	word = worse(word, count_word(was->retransmits_suspected, now->retransmits_suspected));
	word = worse(word, count_word(was->misses, now->misses));
	word = worse(word, count_word(was->double_misses, now->double_misses));
	word = worse(word, count_word(was->rtt_count, now->rtt_count));
	if (now->rtt_sum_ns < was->rtt_sum_ns || now->booked_until_ns < was->booked_until_ns)
		word = worse(word, ROW_WENT_BACK);
	if (word == ROW_TAKEN && !op_books_balanced(now))
		word = ROW_UNBALANCED;
	return word;
}

static struct row_look look_at_row(const struct books *b, const struct session_books *live)
{
	for (unsigned i = 0; i < OP_COUNT; i++) {
		enum row_word word = op_word(&b->op[i].live, &live->op[i]);

		if (word != ROW_TAKEN)
			return (struct row_look){word, i};
	}
	if (live->ack_sum_ns < b->live_ack_sum_ns || live->ack_count < b->live_ack_count)
		return (struct row_look){ROW_WENT_BACK, STREAM_ACK};
	/* It has started: it does not unbegin. */
	if (!books_row_started(live))
		return (struct row_look){b->has_live ? ROW_WENT_BACK : ROW_NOT_YET, OP_SEND};
	return (struct row_look){ROW_TAKEN, 0};
}

/* --- one operation --- */

static uint64_t later_stamp(uint64_t before, uint64_t after)
{
	return after ? after : before;
}

/* base += more, with the streaks of one sequence: more came after base. */
static void books_join(struct op_books *base, const struct op_books *more, bool joined_miss)
{
	uint64_t miss_streak = more->miss_streak, ok_streak = more->ok_streak;
	/* The clock may have been set back between the two: the later word counts, not the larger.
	 */
	uint64_t attempt = later_stamp(base->last_attempt_wall_ns, more->last_attempt_wall_ns);
	uint64_t success = later_stamp(base->last_success_wall_ns, more->last_success_wall_ns);

	if (!more->misses)
		ok_streak += base->ok_streak;
	if (!more->misses && !more->ok)
		miss_streak = base->miss_streak;
	else if (!more->ok)
		miss_streak += base->miss_streak;
	op_books_add(base, more);
	base->last_attempt_wall_ns = attempt;
	base->last_success_wall_ns = success;
	base->double_misses += joined_miss;
	base->miss_streak = miss_streak;
	base->ok_streak = ok_streak;
}

static uint64_t derived_beyond_row(const struct op_account *a)
{
	return due_between(a->live.interval_ns, a->live.phase_ns, a->live.booked_until_ns,
			   a->derived_until_ns);
}

static void account_skip(struct op_books *b, enum skip_reason why, uint64_t n)
{
	b->not_attempted[why] += n;
	b->scheduled += n;
}

static void account_book_gap(struct op_account *a, uint64_t until_ns, enum skip_reason why)
{
	uint64_t n = due_between(a->interval_ns, a->phase_ns, a->derived_until_ns, until_ns);

	if (why == SKIP_DEVICE_ABSENT)
		a->gap_absent += n;
	else
		a->gap_stuck += n;
	a->derived_until_ns = max_u64(a->derived_until_ns, until_ns);
}

/* The successor took its start before main's mark (it was held up between taking it and showing
 * its row): the instants in between are in its row, so they leave the gap, the latest first. */
static void account_cut_gap(struct op_account *a, uint64_t n, enum skip_reason latest)
{
	uint64_t *first = latest == SKIP_DEVICE_ABSENT ? &a->gap_absent : &a->gap_stuck;
	uint64_t *second = latest == SKIP_DEVICE_ABSENT ? &a->gap_stuck : &a->gap_absent;
	uint64_t cut = n < *first ? n : *first;

	*first -= cut;
	n -= cut;
	*second -= n < *second ? n : *second;
}

static void account_hand_over(struct op_account *a, const struct op_books *row,
			      const struct books *b)
{
	uint64_t start = row_start(row, a->interval_ns);

	if (!b->paused && start >= a->derived_until_ns)
		account_book_gap(a, start, b->gone);
	else if (!b->paused)
		account_cut_gap(a,
				due_between(a->interval_ns, a->phase_ns,
					    max_u64(start, a->base_until_ns), a->derived_until_ns),
				b->gone);
	account_skip(&a->base, SKIP_WORKER_STUCK, a->gap_stuck);
	account_skip(&a->base, SKIP_DEVICE_ABSENT, a->gap_absent);
	a->gap_stuck = a->gap_absent = 0;
	if (b->paused)
		a->derived_until_ns = 0;
}

static void account_take(struct op_account *a, const struct op_books *row)
{
	a->live = *row;
	a->interval_ns = row->interval_ns;
	a->phase_ns = row->phase_ns;
	if (!row->ok && row->misses && a->base.miss_streak)
		a->joined_miss = true;
}

static void account_fold(struct op_account *a)
{
	uint64_t derived = derived_beyond_row(a);

	a->live.aborted[ABORT_WORKER_LOST] += a->live.in_flight;
	a->live.in_flight = 0;
	a->base_until_ns = a->live.booked_until_ns;
	books_join(&a->base, &a->live, a->joined_miss);
	memset(&a->live, 0, sizeof(a->live));
	a->joined_miss = false;
	a->gap_stuck = derived;
	a->gap_absent = 0;
	a->derived_until_ns = max_u64(a->derived_until_ns, a->base_until_ns);
}

/* A worker frozen between deciding and showing an instant books it as sent, after main had
 * derived it as stuck. Then the higher figure stays, scheduled with it, until later ones catch up:
 * a probe too many in the books is better than a counter that went back. */
static void account_ratchet(struct op_books *total, enum skip_reason why, uint64_t *shown)
{
	if (total->not_attempted[why] < *shown)
		account_skip(total, why, *shown - total->not_attempted[why]);
	*shown = total->not_attempted[why];
}

static void account_total(struct op_account *a, bool has_live, struct op_books *ret)
{
	*ret = a->base;
	if (has_live) {
		books_join(ret, &a->live, a->joined_miss);
		account_skip(ret, SKIP_WORKER_STUCK, derived_beyond_row(a));
	}
	account_skip(ret, SKIP_WORKER_STUCK, a->gap_stuck);
	account_skip(ret, SKIP_DEVICE_ABSENT, a->gap_absent);
	account_ratchet(ret, SKIP_WORKER_STUCK, &a->shown_stuck);
	account_ratchet(ret, SKIP_DEVICE_ABSENT, &a->shown_absent);
	ret->interval_ns = a->interval_ns;
	ret->phase_ns = a->phase_ns;
	ret->booked_until_ns =
		max_u64(has_live ? a->live.booked_until_ns : a->base_until_ns, a->derived_until_ns);
}

/* --- the session --- */

void books_init(struct books *b, uint64_t session_id)
{
	memset(b, 0, sizeof(*b));
	b->session_id = session_id;
	b->gone = SKIP_WORKER_STUCK;
	b->paused = true;
}

struct row_look books_live(struct books *b, const struct session_books *live)
{
	struct row_look look;

	/* Rows are used again: until ours is written it is its predecessor's. */
	if (!b->session_id || live->session_id != b->session_id)
		return (struct row_look){b->has_live ? ROW_OTHERS : ROW_NOT_YET, OP_SEND};
	look = look_at_row(b, live);
	if (look.word != ROW_TAKEN)
		return look;
	if (!b->has_live)
		for (unsigned i = 0; i < OP_COUNT; i++)
			account_hand_over(&b->op[i], &live->op[i], b);
	for (unsigned i = 0; i < OP_COUNT; i++)
		account_take(&b->op[i], &live->op[i]);
	b->live_ack_sum_ns = live->ack_sum_ns;
	b->live_ack_count = live->ack_count;
	b->has_live = true;
	b->paused = false;
	return look;
}

bool row_is_fine(struct row_look look)
{
	return look.word == ROW_TAKEN || look.word == ROW_NOT_YET;
}

const char *row_words(struct row_look look, char *buf, size_t len)
{
	const char *stream = stream_name(look.stream);

	switch (look.word) {
	case ROW_TAKEN:
	case ROW_NOT_YET:
		snprintf(buf, len, "%s", "");
		break;
	case ROW_OTHERS:
		snprintf(buf, len, "the row is another session's");
		break;
	case ROW_WENT_BACK:
		snprintf(buf, len, "the counts of %s went back", stream);
		break;
	case ROW_TOO_LARGE:
		snprintf(buf, len, "a count of %s is larger than can be", stream);
		break;
	case ROW_UNBALANCED:
		snprintf(buf, len, "the counts of %s do not add up", stream);
		break;
	}
	return buf;
}

void books_begin(struct books *b, const uint64_t interval_ns[OP_COUNT], uint64_t phase_ns,
		 uint64_t now_ns)
{
	/* By a row that is gone, also where its peer lacked all: then nothing is due. */
	if (b->has_live || !b->paused)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++) {
		struct op_account *a = &b->op[i];

		account_skip(&a->base, SKIP_WORKER_STUCK, a->gap_stuck);
		account_skip(&a->base, SKIP_DEVICE_ABSENT, a->gap_absent);
		a->gap_stuck = a->gap_absent = 0;
		a->interval_ns = interval_ns[i];
		a->phase_ns = interval_ns[i] ? phase_ns % interval_ns[i] : 0;
		a->base_until_ns = a->derived_until_ns = now_ns;
	}
	b->paused = false;
}

void books_fold(struct books *b)
{
	if (!b->has_live)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++)
		account_fold(&b->op[i]);
	b->ack_sum_ns += b->live_ack_sum_ns;
	b->ack_count += b->live_ack_count;
	b->live_ack_sum_ns = b->live_ack_count = 0;
	b->gone = SKIP_WORKER_STUCK;
	b->has_live = false;
}

void books_rebuild(struct books *b, uint64_t session_id)
{
	books_fold(b);
	b->session_id = session_id;
	b->paused = true;
}

void books_derive_stuck(struct books *b, uint64_t now_ns, uint64_t rail_beat_ns)
{
	if (!b->has_live || now_ns <= rail_beat_ns || now_ns - rail_beat_ns <= STUCK_MAIN_NS)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++)
		b->op[i].derived_until_ns =
			max_u64(b->op[i].derived_until_ns, now_ns - STUCK_MAIN_NS);
}

void books_derive_gone(struct books *b, uint64_t now_ns, enum skip_reason why)
{
	assert(why == SKIP_WORKER_STUCK || why == SKIP_DEVICE_ABSENT);
	if (b->has_live || b->paused || now_ns <= STUCK_MAIN_NS)
		return;
	for (unsigned i = 0; i < OP_COUNT; i++)
		if (now_ns - STUCK_MAIN_NS > b->op[i].derived_until_ns)
			account_book_gap(&b->op[i], now_ns - STUCK_MAIN_NS, why);
	b->gone = why;
}

void books_total(struct books *b, struct op_books ret[OP_COUNT])
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		account_total(&b->op[i], b->has_live, &ret[i]);
}

void books_ack(const struct books *b, uint64_t *ret_sum_ns, uint64_t *ret_count)
{
	*ret_sum_ns = b->ack_sum_ns + b->live_ack_sum_ns;
	*ret_count = b->ack_count + b->live_ack_count;
}
