/* The event journal: the last JOURNAL_MAX events in memory, numbered from 1. */
#pragma once
#include "probes/facts.h"

#define JOURNAL_MAX 4096

struct journal;

struct journal_event {
	uint64_t seq;
	uint64_t wall_ns;
	char kind[32]; /* "session", "verdict", "rail", "async", "worker", "drain", "reload", ... */
	char device[FACT_NAME], rail[FACT_NAME], peer[FACT_NAME]; /* "" when not concerned */
	char text[FACT_TEXT];
};

struct journal *journal_new(void);
void journal_free(struct journal *j);
/* Copies; strings may be NULL. */
void journal_add(struct journal *j, uint64_t wall_ns, const char *kind, const char *device,
		 const char *rail, const char *peer, const char *fmt, ...)
	__attribute__((format(printf, 7, 8)));
uint64_t journal_first_seq(const struct journal *j); /* 0 when empty */
uint64_t journal_last_seq(const struct journal *j);
/* The first event with seq > after; NULL when there is none. Valid until the next add. */
const struct journal_event *journal_after(const struct journal *j, uint64_t after);
