#include "health/window.h"

/* Looks are a second apart, give or take the timer's jitter. */
#define STEP_SLACK_NS (WINDOW_STEP_NS / 10)

/* scheduled - aborted - in flight - (skips that are nobody's loss) is what is left here: summing
 * what counts keeps it from going backwards while probes are in flight. */
static void sums_add(struct window_sums *s, const struct op_books *b)
{
	uint64_t failed = 0;

	for (unsigned i = 0; i < FAIL_COUNT; i++)
		failed += b->failed[i];
	s->answered += b->ok + b->late;
	s->due += b->ok + failed + b->not_attempted[SKIP_NOT_CONNECTED] +
		  b->not_attempted[SKIP_QP_STALLED] + b->not_attempted[SKIP_PEER_UNRESPONSIVE];
	s->ok += b->ok;
	s->failed += failed;
	s->late += b->late;
	s->retransmits_suspected += b->retransmits_suspected;
}

static struct window_sums sums_of(const struct op_books op[OP_COUNT])
{
	struct window_sums s = {0};

	for (unsigned i = 0; i < OP_COUNT; i++)
		sums_add(&s, &op[i]);
	return s;
}

void window_add(struct window *w, uint64_t now_ns, const struct op_books op[OP_COUNT])
{
	if (w->n && now_ns < w->at_ns[w->newest] + WINDOW_STEP_NS - STEP_SLACK_NS)
		return;
	w->newest = (w->newest + 1) % WINDOW_SLOTS;
	w->at_ns[w->newest] = now_ns;
	w->sums[w->newest] = sums_of(op);
	if (w->n < WINDOW_SLOTS)
		w->n++;
}

/* Slot of the oldest sample that is not older than a minute; WINDOW_SLOTS: none. */
static unsigned window_oldest(const struct window *w, uint64_t now_ns)
{
	for (unsigned back = w->n; back > 0; back--) {
		unsigned slot = (w->newest + WINDOW_SLOTS - (back - 1)) % WINDOW_SLOTS;

		if (now_ns <= w->at_ns[slot] + WINDOW_NS)
			return slot;
	}
	return WINDOW_SLOTS;
}

uint64_t window_since(const struct window *w, uint64_t now_ns, const struct op_books op[OP_COUNT],
		      struct window_sums *ret)
{
	unsigned slot = window_oldest(w, now_ns);
	const struct window_sums *then;
	struct window_sums now = sums_of(op);

	*ret = (struct window_sums){0};
	if (slot == WINDOW_SLOTS || now_ns < w->at_ns[slot])
		return 0;
	then = &w->sums[slot];
	ret->answered = now.answered - then->answered;
	ret->due = now.due - then->due;
	ret->ok = now.ok - then->ok;
	ret->failed = now.failed - then->failed;
	ret->late = now.late - then->late;
	ret->retransmits_suspected = now.retransmits_suspected - then->retransmits_suspected;
	return now_ns - w->at_ns[slot];
}

/* A late probe that failed before the window and completed in it makes answered exceed due. */
bool window_loss(const struct window_sums *sums, double *ret)
{
	if (!sums->due)
		return false;
	*ret = sums->answered >= sums->due ? 0.0 : 1.0 - (double)sums->answered / (double)sums->due;
	return true;
}
