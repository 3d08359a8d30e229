/* The invariants. Each is looked at after the step that could break it; a broken one ends the
 * program with the seed. */
#pragma once
#include "process.h"

void oracle_watch_facts(void); /* of all workers */
/* Begin anew. */
void oracle_begin(void);
void oracle_after_rail(struct process *p);
void oracle_after_control(struct process *p);
/* As the workers see it now: main's view is up to a second old. */
bool oracle_all_up(void);
/* That, and no QP is left of what was before. */
bool oracle_settled(void);
/* From now on nothing goes wrong. */
void oracle_be_quiet(void);
/* A row began to book, in oracle_worker.c's eyes. */
void oracle_row_started(const struct host *h, uint64_t session_id,
			const struct session_books *books);
/* One operation of a row has another schedule: none, or one again. */
void oracle_row_rescheduled(const struct host *h, uint64_t session_id, enum op op,
			    const struct op_books *b);
/* Main of h has settled its books. */
void oracle_after_look(struct host *h);
/* A thread ran: it must rest at times. */
void oracle_ran(struct thread *t, const char *whose);
/* Main of h is gone, and its books with it. */
void oracle_forget(const struct host *h);
/* Everything was well for a while: nothing is left that should not be there. */
void oracle_when_well(void);
/* All ended: nothing may be left at all. */
void oracle_when_over(void);
