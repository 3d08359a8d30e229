/* What main and its helper that keeps the journal on disk tell each other, and the helper. It reads
 * the events in main's memory, so that what main added is kept also when main is killed the instant
 * after, and a disk that hangs or is full holds up the helper alone. One struct a packet of a
 * SOCK_SEQPACKET pair; both ends are the same binary. */
#pragma once
#include "daemon/config.h"
#include "daemon/journal_files.h"

#define JOURNAL_PAGE 64 /* events of an answer */

enum journal_question_type {
	JOURNAL_OPEN, /* the first: where, how much */
	JOURNAL_KEEP, /* from now on, the events above seq */
	JOURNAL_LOOK, /* there is a new one */
	JOURNAL_READ, /* the first events above seq, from the files */
};

struct journal_question {
	uint32_t type; /* enum journal_question_type */
	uint64_t id;   /* of a JOURNAL_READ */
	uint64_t seq;
	uint64_t size; /* bytes of all files */
	char path[CONFIG_PATH_MAX];
};

enum journal_answer_type {
	JOURNAL_OPENED, /* answer with JOURNAL_KEEP */
	JOURNAL_STATE,	/* something was kept, or could not be */
	JOURNAL_EVENTS, /* of a JOURNAL_READ */
};

struct journal_answer {
	uint32_t type; /* enum journal_answer_type */
	int32_t error; /* 0, or -errno with words: nothing is kept now; it is tried again */
	uint64_t id;
	uint64_t first, last; /* numbers in the files; 0: none. last: no event gets it again */
	uint64_t whole; /* JOURNAL_OPENED: of the last event that is all there; last may be torn */
	uint64_t lost;	/* events that this helper could not keep before memory had to go on */
	char words[JOURNAL_FILES_ERROR];
	struct journal_head head;   /* JOURNAL_OPENED: of the daemon before; "" for the first */
	char numbering[JOURNAL_ID]; /* JOURNAL_OPENED: of the files */
	uint32_t n;
	struct journal_event events[JOURNAL_PAGE]; /* n of them are sent */
};

size_t journal_answer_size(const struct journal_answer *a);
/* Well-formed for its reader, whoever wrote it. */
bool journal_question_check(const struct journal_question *q, size_t len);
bool journal_answer_check(const struct journal_answer *a, size_t len);

/* This boot's id, as the kernel has it; false: unknown. */
bool journal_helper_boot(char ret[JOURNAL_BOOT]);
/* The helper's main: serves fd until its other end closes and all is kept. The journal's memory is
 * the descriptor after it. Its exit code. */
int journal_helper_main(int fd);
