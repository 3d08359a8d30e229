/* The ledger: the only doors through which an operation's books change. Pure.
 * Invariants after every call: scheduled = sent + sum(not_attempted);
 * sent = ok + sum(failed) + sum(aborted) + in_flight. */
#pragma once
#include "probes/facts.h"

/* An instant was due and is not sent. Instants are n > 1 only when a gap is booked at once. */
void ledger_skip(struct op_books *b, enum skip_reason reason, uint64_t n);
/* An instant was due and is sent now. */
void ledger_sent(struct op_books *b, uint64_t wall_ns);
/* What was in flight ended, in one of three ways. */
void ledger_ok(struct op_books *b, uint64_t rtt_ns, bool self_delayed, uint64_t now_ns,
	       uint64_t wall_ns);
void ledger_fail(struct op_books *b, enum fail_reason reason);
void ledger_abort(struct op_books *b, enum abort_reason reason);
/* A probe that had failed by its deadline completed after all. */
void ledger_late(struct op_books *b, uint64_t rtt_ns, uint64_t now_ns, uint64_t wall_ns);
/* Whether a skip for that reason counts as a miss. */
bool ledger_skip_is_miss(enum skip_reason reason);
