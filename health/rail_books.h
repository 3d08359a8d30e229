/* Totals of one rail that survive its sessions and workers: per class the books of all sessions,
 * those that are gone included, and the round-trip histograms. They never go backwards while main
 * lives.
 *
 * A look: rail_books_begin(), rail_books_hist() with what the worker's table says (read after the
 * rows: the worker adds to the table first), rail_books_add() for each session of the rail,
 * rail_books_settle(); then read. When the worker ends: read its table a last time
 * and rail_books_fold(). When a session goes: rail_books_retire(). */
#pragma once
#include "probes/facts.h"

#define RAIL_CLASSES_MAX 64 /* classes that a rail ever had, over all reloads */

struct rail_books;

struct rail_books *rail_books_new(void); /* NULL: no memory */
void rail_books_free(struct rail_books *r);
/* Makes the class exist with zeros. False: no memory or too many classes; its counts are lost. */
bool rail_books_ensure(struct rail_books *r, const char *class_name);

void rail_books_begin(struct rail_books *r);
void rail_books_add(struct rail_books *r, const char *class_name,
		    const struct op_books op[OP_COUNT]);
/* The session is gone for good; what it still had in flight is aborted for that reason. Call it
 * outside of begin and read: the next look no longer adds the session. */
void rail_books_retire(struct rail_books *r, const char *class_name,
		       const struct op_books op[OP_COUNT], enum abort_reason why);
/* As the table of the rail's current worker says, cumulative since that worker's start. */
void rail_books_hist(struct rail_books *r, const char *class_name, unsigned stream,
		     const struct hist *live);
void rail_books_fold(struct rail_books *r);
/* Table and rows are read one after the other while the worker goes on: makes them agree, so that
 * the count of round trips is what the books say (ok + late - self_delayed). */
void rail_books_settle(struct rail_books *r);

/* --- reading --- */
size_t rail_books_classes(const struct rail_books *r);
/* Name owned by r, valid until it is freed. i < rail_books_classes(). */
const char *rail_books_class(const struct rail_books *r, size_t i, struct op_books ret_op[OP_COUNT],
			     struct hist ret_hist[STREAM_COUNT]);
