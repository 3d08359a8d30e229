/* main's books of one session over the lives of its workers (CONTRACT: the books).
 *
 * Every due instant is booked once: by the worker's rail thread in the session's row, or by main
 * where no worker does (it is frozen, dead, or its device is gone). What is exported never goes
 * backwards, and always scheduled = sent + not attempted, sent = ok + failed + aborted + in flight.
 *
 * A look, in this order: read the rail's heartbeat, read the row and books_live(), read the clock,
 * then books_derive_stuck() and books_derive_gone() (each acts only where it applies), then
 * books_total(). When the worker ends: its row a last time with books_live(), then books_fold().
 *
 * Agreed with the rail thread: when it wakes up it books what is more than 1 s late as
 * worker_stuck. main derives only what is more than STUCK_MAIN_NS late, so what main derived
 * the worker books the same way. Plain values, no memory of their own. Instants are
 * CLOCK_MONOTONIC nanoseconds. */
#pragma once
#include "probes/facts.h"

#define STUCK_MAIN_NS 2000000000ULL

/* One operation. Private to books.c. */
struct op_account {
	struct op_books base;		/* rows that have ended, and gaps that are closed */
	struct op_books live;		/* the current row as last read */
	uint64_t interval_ns, phase_ns; /* the last known schedule; 0: none yet */
	uint64_t base_until_ns;		/* base covers every due instant up to here */
	uint64_t derived_until_ns;	/* and main has booked every one up to here */
	uint64_t gap_stuck, gap_absent; /* due in (base_until, derived_until] while no row lived */
	uint64_t shown_stuck, shown_absent; /* highest figures ever handed out */
	bool joined_miss; /* the row's first outcome is a miss, and so was the last one before it */
};

/* What a look at a row says of it. */
enum row_word {
	ROW_TAKEN,
	ROW_NOT_YET, /* still another session's, or it has not started to book: no row yet */
	/* Refused, and nothing changed: a worker gone wild. */
	ROW_OTHERS, /* another session's, after it was this one's */
	ROW_WENT_BACK,
	ROW_TOO_LARGE,
	ROW_UNBALANCED,
};

struct row_look {
	enum row_word word;
	unsigned stream; /* of the first count that is not believed */
};

struct books {
	uint64_t session_id;
	bool has_live;
	bool paused;	       /* no row yet, or between those of a planned rebuild */
	enum skip_reason gone; /* of the last instant that main booked without a row */
	uint64_t ack_sum_ns, ack_count, live_ack_sum_ns, live_ack_count;
	struct op_account op[OP_COUNT];
};

void books_init(struct books *b, uint64_t session_id);
/* Take what the table says. A row that has not started to book (booked_until_ns is UINT64_MAX)
 * is no row yet. */
struct row_look books_live(struct books *b, const struct session_books *live);
/* Taken or not yet there, as it should be. */
bool row_is_fine(struct row_look look);
/* "the counts of send went back", for one that is refused; else "". */
const char *row_words(struct row_look look, char *buf, size_t len);
/* Until it starts to book (at its first connection or first failure to connect), a row says that it
 * is booked for ever: it is no row yet for the books. */
bool books_row_started(const struct session_books *row);
/* No worker has it, and none may for long: from now on main books by this schedule until a row
 * does. An interval of 0: the operation is off. No-op while there is a row, or a schedule that is
 * still valid (it is not after books_rebuild()). */
void books_begin(struct books *b, const uint64_t interval_ns[OP_COUNT], uint64_t phase_ns,
		 uint64_t now_ns);
/* The row has ended with its worker: what was in flight is aborted as worker_lost, and until the
 * successor's row starts main books what falls due. No-op without a row. */
void books_fold(struct books *b);
/* The row has ended on purpose and the session starts again under a new id, maybe with another
 * schedule (reload): nothing is due in between, the counts go on. */
void books_rebuild(struct books *b, uint64_t session_id);
/* The rail thread's last heartbeat is rail_beat_ns: if older than STUCK_MAIN_NS, book what is due
 * and that the row has not. No-op without a row. */
void books_derive_stuck(struct books *b, uint64_t now_ns, uint64_t rail_beat_ns);
/* No row: book what fell due by the last known schedule. why: SKIP_WORKER_STUCK or
 * SKIP_DEVICE_ABSENT. No-op while there is a row or before there ever was one. */
void books_derive_gone(struct books *b, uint64_t now_ns, enum skip_reason why);
/* What is exported. Not const: it remembers what it said, so as never to say less. */
void books_total(struct books *b, struct op_books ret[OP_COUNT]);
void books_ack(const struct books *b, uint64_t *ret_sum_ns, uint64_t *ret_count);

/* --- plain arithmetic on op_books, also for sums over sessions --- */
/* Adds every count of from. Schedule and time stamps become the larger, streaks stay. */
void op_books_add(struct op_books *into, const struct op_books *from);
