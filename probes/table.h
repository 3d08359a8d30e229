/* The shared table of one worker: main creates it (memfd), the worker writes, main reads.
 *
 * Rule: every cell has one writer thread. Cells that must be read whole are twin slots: the writer
 * fills the slot that is not current and then publishes it, so a writer frozen or killed in
 * mid-write leaves the last whole value readable and a reader never waits. Everything else is a
 * single 64-bit word, relaxed. Nothing in here is trusted for memory safety by main: indices and
 * lengths are checked on reading. */
#pragma once
#include <stdatomic.h>
#include "probes/facts.h"

#define TABLE_MAGIC 0x52504d5441424c45ULL /* "RPMTABLE" */
#define TABLE_VERSION 3u
#define SAMPLES_MIN 64u
#define SAMPLES_MAX 1024u

struct table; /* mapped table */

/* Geometry, fixed at creation. */
struct table_layout {
	uint32_t sessions;	     /* rows */
	uint32_t samples_per_stream; /* ring of recent round trips, a power of two */
};

/* Bytes of a table with that layout. */
size_t table_size(const struct table_layout *layout);
/* Samples needed for a minute at the shortest interval, within SAMPLES_MIN..SAMPLES_MAX. */
uint32_t table_samples_for(uint64_t shortest_interval_ns);

/* main: create a sealed memfd and map it. *ret_fd is to be passed to the worker and closed.
 * worker: map what it was given; checks size, magic and version. NULL with errno. */
struct table *table_create(const struct table_layout *layout, int *ret_fd);
struct table *table_map(int fd);
void table_unmap(struct table *t);
const struct table_layout *table_get_layout(const struct table *t);

/* --- rail thread --- */
void table_put_books(struct table *t, uint32_t row, const struct session_books *b);
/* The same at a fraction of the cost: parts is the set of those that changed since the last but one
 * put, for that is what the slot to be filled holds; the rest is taken to be there. */
void table_put_books_of(struct table *t, uint32_t row, const struct session_books *b,
			uint32_t parts);
#define BOOKS_OPS ((1u << OP_COUNT) - 1)
#define BOOKS_RUNNING(op) (1u << (op))		  /* what a probe that succeeds changes */
#define BOOKS_WHOLE(op) (1u << (OP_COUNT + (op))) /* all of the operation's books */
#define BOOKS_HEAD (1u << 2 * OP_COUNT)		  /* what belongs to no operation */
#define BOOKS_ALL (BOOKS_OPS << OP_COUNT | BOOKS_HEAD)
/* Round trip of a stream; at_ns is when it completed. Counted in the ring of the last minute. */
void table_put_sample(struct table *t, uint32_t row, unsigned stream, uint64_t at_ns,
		      uint64_t rtt_ns);
/* Forget the samples of a row (a new session takes it). */
void table_clear_samples(struct table *t, uint32_t row);
void table_put_rtt(struct table *t, uint32_t rail, uint32_t class_index, unsigned stream,
		   uint64_t rtt_ns);

/* --- control thread --- */
void table_put_conn(struct table *t, uint32_t row, const struct session_conn *c);
void table_put_rail(struct table *t, uint32_t rail, const struct rail_fact *r);
void table_put_rail_totals(struct table *t, uint32_t rail, const struct rail_totals *r);
void table_count_async(struct table *t, uint32_t port, unsigned event); /* port 0: none */
void table_put_qps(struct table *t, uint64_t active, uint64_t passive);

/* --- counter thread: fill, then publish --- */
struct counter_round *table_counter_slot(struct table *t); /* the slot to fill; old content */
void table_publish_counters(struct table *t);

/* --- each loop --- */
void table_beat(struct table *t, enum worker_loop loop, uint64_t mono_ns, uint64_t wall_ns);

/* --- main, reading --- */
bool table_get_books(const struct table *t, uint32_t row,
		     struct session_books *ret); /* false: torn */
bool table_get_conn(const struct table *t, uint32_t row, struct session_conn *ret);
bool table_get_rail(const struct table *t, uint32_t rail, struct rail_fact *ret);
bool table_get_rail_totals(const struct table *t, uint32_t rail, struct rail_totals *ret);
/* Round trips (ns) of the stream completed after since_ns, unordered, at most max; the number. */
uint32_t table_get_samples(const struct table *t, uint32_t row, unsigned stream, uint64_t since_ns,
			   uint64_t *ret, uint32_t max);
/* Round trips (ns) of the stream that came since the last call, each once, and *at remembers how
 * far that is; 0 at first, for all that the ring holds. At most SAMPLES_MAX, which ret has room
 * for; what the ring has overwritten meanwhile is lost. The number. */
uint32_t table_take_samples(const struct table *t, uint32_t row, unsigned stream, uint64_t *at,
			    uint64_t *ret);
void table_get_hist(const struct table *t, uint32_t rail, uint32_t class_index, unsigned stream,
		    struct hist *ret);
uint64_t table_get_async(const struct table *t, uint32_t port, unsigned event);
void table_get_qps(const struct table *t, uint64_t *ret_active, uint64_t *ret_passive);
void table_get_beat(const struct table *t, enum worker_loop loop, uint64_t *ret_mono_ns,
		    uint64_t *ret_wall_ns);
/* Changes with each round; 0: none yet. */
uint64_t table_counters_published(const struct table *t);
/* The last finished round, copied (about 0.4 MB at most, only what is used); false: none yet. */
bool table_get_counters(const struct table *t, struct counter_round *ret);
