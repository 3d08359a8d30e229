#include "health/journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/names.h"

/* Event seq stands in slot (seq - 1) % JOURNAL_MAX. */
struct journal {
	uint64_t last_seq;
	struct journal_event events[JOURNAL_MAX];
};

struct journal *journal_new(void)
{
	return calloc(1, sizeof(struct journal));
}

void journal_free(struct journal *j)
{
	free(j);
}

void journal_add(struct journal *j, uint64_t wall_ns, const char *kind, const char *device,
		 const char *rail, const char *peer, const char *fmt, ...)
{
	struct journal_event *e = &j->events[j->last_seq % JOURNAL_MAX];
	va_list ap;

	e->seq = ++j->last_seq;
	e->wall_ns = wall_ns;
	name_copy(e->kind, sizeof(e->kind), kind ? kind : "");
	name_copy(e->device, sizeof(e->device), device ? device : "");
	name_copy(e->rail, sizeof(e->rail), rail ? rail : "");
	name_copy(e->peer, sizeof(e->peer), peer ? peer : "");
	va_start(ap, fmt);
	if (vsnprintf(e->text, sizeof(e->text), fmt, ap) < 0)
		e->text[0] = '\0';
	va_end(ap);
}

uint64_t journal_first_seq(const struct journal *j)
{
	if (!j->last_seq)
		return 0;
	return j->last_seq > JOURNAL_MAX ? j->last_seq - JOURNAL_MAX + 1 : 1;
}

uint64_t journal_last_seq(const struct journal *j)
{
	return j->last_seq;
}

const struct journal_event *journal_after(const struct journal *j, uint64_t after)
{
	uint64_t first = journal_first_seq(j);
	uint64_t seq;

	if (after >= j->last_seq)
		return NULL;
	seq = after < first ? first : after + 1;
	return &j->events[(seq - 1) % JOURNAL_MAX];
}
