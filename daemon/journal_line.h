/* The lines of the journal's files: JSON, one object a line. An event has the members of the API,
 * but for its time, which is an integer so that it comes back as it was:
 *   {"seq":7,"time_ns":1764460000123456789,"kind":"rail","device":"rxe0","rail":"rxe0","peer":"",
 *    "text":"up"}
 * and a head stands at the beginning of a file and wherever a daemon began to write:
 *   {"journal":"<16 hex digits>","boot":"<boot id of the host>","version":"...","time_ns":...}
 * Pure. What is read is checked: a line that is torn or from elsewhere is no event, and no more. */
#pragma once
#include "core/strbuf.h"
#include "health/journal.h"

#define JOURNAL_LINE_MAX 4096 /* bytes; ours are shorter: six for each byte of a name at worst */
#define JOURNAL_BOOT 37	      /* a UUID and NUL */
/* So that a number from a damaged file is neither the end of all numbers nor one that readers in
 * other languages round. */
#define JOURNAL_SEQ_MAX (1ULL << 53)

struct journal_head {
	char id[JOURNAL_ID];
	char boot[JOURNAL_BOOT]; /* "": unknown */
};

/* Appends the line with its newline. */
void journal_line_put(struct strbuf *out, const struct journal_event *e);
void journal_line_put_head(struct strbuf *out, const struct journal_head *h, uint64_t wall_ns);
/* The line without its newline. False: it is none of ours, and *ret is untouched. */
bool journal_line_parse(const char *line, size_t len, struct journal_event *ret);
bool journal_line_parse_head(const char *line, size_t len, struct journal_head *ret);
/* The number that a line, also a torn one, begins with; 0: none. */
uint64_t journal_line_seq(const char *line, size_t len);
