/* Keeps the journal: its memory, which main writes, and a helper process (journal_helper.h) that
 * reads it and writes the files. Nothing here waits for a disk, but for journal_keeper_open(), and
 * that not for long. Without a directory, or when it fails, the journal lives in memory alone. */
#pragma once
#include <stdbool.h>
#include "core/loop.h"
#include "daemon/journal_helper.h"

#define JOURNAL_OPEN_WAIT_NS 2000000000ULL
#define JOURNAL_PATIENCE 10   /* seconds without an answer: the disk hangs */
#define JOURNAL_READS_MAX 256 /* at a time: one a client */

struct journal_keeper;

/* dir "": in memory alone. NULL with errno. */
struct journal_keeper *journal_keeper_new(struct loop *loop, const char *dir, uint64_t size);
/* Lets the helper keep what is there yet, for half a second at most. NULL is fine. */
void journal_keeper_free(struct journal_keeper *k);
/* Owned by the keeper. */
struct journal *journal_keeper_journal(struct journal_keeper *k);
/* Starts the helper and waits until it knows the numbers in the files. When that takes too long,
 * numbers begin anew in memory, and those of the files are taken over when they are known. id: for
 * a numbering that is new, 16 hex digits. Then adds the event of the start. */
void journal_keeper_open(struct journal_keeper *k, const char *id);
/* Every second. */
void journal_keeper_tick(struct journal_keeper *k, uint64_t now_ns);

struct journal_status {
	bool configured;	  /* there is a directory */
	bool kept;		  /* new events go to the files */
	const char *words;	  /* why not; "" while that is not known yet */
	uint64_t failing_wall_ns; /* since when; 0: it does not fail */
	uint64_t lost;		  /* events that memory had to forget unkept */
};
struct journal_status journal_keeper_status(const struct journal_keeper *k);
/* The first number that can be read from the files; 0: none. */
uint64_t journal_keeper_first(const struct journal_keeper *k);

/* Events from the files: n of them with numbers above what was asked for; n 0: there are none, or
 * they cannot be read now. events are valid during the call. */
typedef void (*journal_read_fn)(void *arg, const struct journal_event *events, size_t n);
/* Asks; done is called once, later, from the loop, unless the read is cancelled. Its id; 0: that
 * cannot be had now, and done is not called. */
uint64_t journal_keeper_read(struct journal_keeper *k, uint64_t after, journal_read_fn done,
			     void *arg);
void journal_keeper_cancel(struct journal_keeper *k, uint64_t id);
