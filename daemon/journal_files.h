/* The files of the journal in a directory of the daemon's own: JOURNAL_FILES generations of JSON
 * lines (journal_line.h), events.jsonl the present one, events.3.jsonl the oldest. For the process
 * that does nothing else: every call may wait for the disk.
 *
 * Nothing that stands in them is ever cut or rewritten. A line that was torn by a full disk or a
 * crash, or that somebody else put there, stays and costs itself. */
#pragma once
#include <stddef.h>
#include "daemon/journal_line.h"

#define JOURNAL_FILES 4
#define JOURNAL_FILES_ERROR 240

struct journal_files;

/* Opens or makes the files below dir, which has to exist, for this process alone, and finds what is
 * in them. size: bytes of all generations together. fresh: the numbering's id, for when there is
 * none yet, and this host's boot id. *ret, or -errno with words in err: -EWOULDBLOCK when another
 * process has them. */
int journal_files_open(struct journal_files **ret, const char *dir, uint64_t size,
		       const struct journal_head *fresh, char *err, size_t errlen);
void journal_files_close(struct journal_files *f); /* NULL is fine */

/* Of the last daemon that wrote; "" before the first. id: of the numbering. */
const struct journal_head *journal_files_head(const struct journal_files *f);
const char *journal_files_id(const struct journal_files *f);
uint64_t journal_files_first(const struct journal_files *f); /* number; 0: no event */
uint64_t journal_files_last(const struct journal_files *f);  /* that no new event may have */
uint64_t journal_files_whole(const struct journal_files *f); /* of the last that is all there */

/* Appends the event by one write. 0; or -errno with words in err, and it is not kept: close the
 * files and open them again before the next try. */
int journal_files_append(struct journal_files *f, const struct journal_event *e, char *err,
			 size_t errlen);
/* What was appended is on the disk, as far as that says so. */
int journal_files_sync(struct journal_files *f);
/* The first max events with numbers above after: how many there are. */
size_t journal_files_page(struct journal_files *f, uint64_t after, struct journal_event *ret,
			  size_t max);
