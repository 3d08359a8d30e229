#include "daemon/doubts.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/daemon.h"

#define LINES_A_MINUTE 6 /* of one device: all its rows may be spoilt, or come and go */

static void say(struct daemon *d, struct device *dev, const struct session *s)
{
	char words[FACT_NAME], held[48] = "";
	bool fine = row_is_fine(s->row_look);
	unsigned held_back;

	if (!ratelimit_allow(&dev->doubt_limit, clock_now_ns(), LINES_A_MINUTE, &held_back))
		return;
	if (held_back)
		snprintf(held, sizeof(held), " (%u more lines like this were held back)",
			 held_back);
	row_words(s->row_look, words, sizeof(words));
	log_msg(fine ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
		"%s: the worker's books of %s, rail %s are %sbelieved%s%s%s", dev->name,
		s->key.peer, s->key.rail, fine ? "" : "not ", fine ? " again" : ": ", words, held);
	journal_add(d->journal, clock_wall_ns(), "worker", dev->name, s->key.rail, s->key.peer,
		    "books are %sbelieved%s%s", fine ? "" : "not ", fine ? " again" : ": ", words);
}

void doubts_tell(struct daemon *d, struct session *s)
{
	struct device *dev = supervisor_find(d->supervisor, s->device);
	bool doubted = !row_is_fine(s->row_look);

	if (dev && doubted != s->doubt_told)
		say(d, dev, s);
	s->doubt_told = doubted;
	/* It has no row any more that could be doubted: nothing to be said of that. */
	if (s->phase == PHASE_UNPLACED) {
		s->row_look.word = ROW_NOT_YET;
		s->doubt_told = false;
	}
}
