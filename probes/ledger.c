#include "probes/ledger.h"

static void miss(struct op_books *b, uint64_t n)
{
	if (!n)
		return;
	b->misses += n;
	b->double_misses += b->miss_streak ? n : n - 1;
	b->miss_streak += n;
	b->ok_streak = 0;
}

bool ledger_skip_is_miss(enum skip_reason reason)
{
	switch (reason) {
	case SKIP_NOT_CONNECTED:
	case SKIP_QP_STALLED:
	case SKIP_PEER_UNRESPONSIVE:
		return true;
	case SKIP_LOCAL_PORT_DOWN:
	case SKIP_BUDGET:
	case SKIP_WORKER_STUCK:
	case SKIP_DEVICE_ABSENT:
		return false;
	}
	return false;
}

void ledger_skip(struct op_books *b, enum skip_reason reason, uint64_t n)
{
	b->scheduled += n;
	b->not_attempted[reason] += n;
	if (ledger_skip_is_miss(reason))
		miss(b, n);
}

void ledger_sent(struct op_books *b, uint64_t wall_ns)
{
	b->scheduled++;
	b->sent++;
	b->in_flight++;
	b->last_attempt_wall_ns = wall_ns;
}

void ledger_ok(struct op_books *b, uint64_t rtt_ns, bool self_delayed, uint64_t now_ns,
	       uint64_t wall_ns)
{
	b->in_flight--;
	b->ok++;
	b->ok_streak++;
	b->miss_streak = 0;
	b->last_success_wall_ns = wall_ns;
	b->last_success_ns = now_ns;
	if (self_delayed) {
		b->self_delayed++;
		return;
	}
	b->rtt_sum_ns += rtt_ns;
	b->rtt_count++;
}

void ledger_fail(struct op_books *b, enum fail_reason reason)
{
	b->in_flight--;
	b->failed[reason]++;
	miss(b, 1);
}

void ledger_abort(struct op_books *b, enum abort_reason reason)
{
	b->in_flight--;
	b->aborted[reason]++;
}

void ledger_late(struct op_books *b, uint64_t rtt_ns, uint64_t now_ns, uint64_t wall_ns)
{
	b->late++;
	b->rtt_sum_ns += rtt_ns;
	b->rtt_count++;
	b->last_success_wall_ns = wall_ns;
	b->last_success_ns = now_ns;
}
