/* The event journal: the last JOURNAL_MAX events in memory, numbered one after the other. The
 * memory may be shared with a process that only reads it (and keeps the events on disk): one
 * writes, and a number is published after its event, so that the writer may be killed at any
 * instant. */
#pragma once
#include "probes/facts.h"

#define JOURNAL_MAX 4096
#define JOURNAL_KIND 32
#define JOURNAL_ID 17 /* 16 hex digits and NUL */

struct journal;

struct journal_event {
	uint64_t seq;
	uint64_t wall_ns;
	/* "session", "verdict", "rail", "async", "worker", "drain", "reload", ... */
	char kind[JOURNAL_KIND];
	char device[FACT_NAME], rail[FACT_NAME], peer[FACT_NAME]; /* "" when not concerned */
	char text[FACT_TEXT];
};

struct journal *journal_new(void);
void journal_free(struct journal *j);
/* For memory from elsewhere: zeroed, so many bytes of it are an empty journal. */
size_t journal_size(void);

/* Copies; strings may be NULL. */
void journal_add(struct journal *j, uint64_t wall_ns, const char *kind, const char *device,
		 const char *rail, const char *peer, const char *fmt, ...)
	__attribute__((format(printf, 7, 8)));
/* From now on events of one kind about one subject are thinned out when they storm (storm.h). */
void journal_limit(struct journal *j);
/* Adds the summaries of what was thinned out in minutes that are over; about once a second. */
void journal_settle(struct journal *j, uint64_t wall_ns);
uint64_t journal_thinned(const struct journal *j); /* events that were thinned out so far */
/* Called after each event that was added. NULL: no more. */
void journal_listen(struct journal *j, void (*added)(void *arg), void *arg);

/* The numbering that the events' numbers belong to, 16 hex digits; "" before it was set. Readers
 * begin anew when it is another. */
const char *journal_id(const struct journal *j);
/* The events in memory become last + 1, last + 2, ... of another numbering. */
void journal_rebase(struct journal *j, const char *id, uint64_t last);

uint64_t journal_first_seq(const struct journal *j); /* 0 when empty */
uint64_t journal_last_seq(const struct journal *j);
/* The last number that was never in this memory: 0 unless rebased. */
uint64_t journal_base(const struct journal *j);
/* The first event with seq > after; NULL when there is none. Valid until the next add. */
const struct journal_event *journal_after(const struct journal *j, uint64_t after);
/* A copy of the first event with seq > after for another process than the one that adds; false:
 * there is none. */
bool journal_copy_after(const struct journal *j, uint64_t after, struct journal_event *ret);
