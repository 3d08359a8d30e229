#include "health/journal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "health/storm.h"

#define COPY_ATTEMPTS 16

/* Event seq stands in slot (seq - base - 1) % JOURNAL_MAX. */
struct journal {
	uint64_t last_seq;
	uint64_t base;
	char id[JOURNAL_ID];
	struct journal_event events[JOURNAL_MAX];
	/* Of the process that adds. */
	bool limited;
	struct storm storm;
	void (*added)(void *arg);
	void *arg;
};

struct journal *journal_new(void)
{
	return calloc(1, sizeof(struct journal));
}

void journal_free(struct journal *j)
{
	free(j);
}

size_t journal_size(void)
{
	return sizeof(struct journal);
}

static uint64_t published(const struct journal *j)
{
	return __atomic_load_n(&j->last_seq, __ATOMIC_ACQUIRE);
}

static struct journal_event *slot(struct journal *j, uint64_t seq)
{
	return &j->events[(seq - j->base - 1) % JOURNAL_MAX];
}

static void append(struct journal *j, const struct journal_event *e)
{
	uint64_t seq = j->last_seq + 1;
	struct journal_event *to = slot(j, seq);

	*to = *e;
	to->seq = seq;
	__atomic_store_n(&j->last_seq, seq, __ATOMIC_RELEASE);
	if (j->added)
		j->added(j->arg);
}

static void admit(struct journal *j, const struct journal_event *e)
{
	struct journal_event summary;
	bool has_summary = false;
	bool admitted = !j->limited || storm_admit(&j->storm, e, &summary, &has_summary);

	if (has_summary)
		append(j, &summary);
	if (admitted)
		append(j, e);
}

void journal_add(struct journal *j, uint64_t wall_ns, const char *kind, const char *device,
		 const char *rail, const char *peer, const char *fmt, ...)
{
	struct journal_event e = {.wall_ns = wall_ns};
	va_list ap;

	name_copy(e.kind, sizeof(e.kind), kind ? kind : "");
	name_copy(e.device, sizeof(e.device), device ? device : "");
	name_copy(e.rail, sizeof(e.rail), rail ? rail : "");
	name_copy(e.peer, sizeof(e.peer), peer ? peer : "");
	va_start(ap, fmt);
	if (vsnprintf(e.text, sizeof(e.text), fmt, ap) < 0)
		e.text[0] = '\0';
	va_end(ap);
	admit(j, &e);
}

void journal_limit(struct journal *j)
{
	j->limited = true;
}

void journal_settle(struct journal *j, uint64_t wall_ns)
{
	struct journal_event summary;
	size_t at = 0;

	while (storm_due(&j->storm, wall_ns, &at, &summary))
		append(j, &summary);
}

uint64_t journal_thinned(const struct journal *j)
{
	return j->storm.thinned;
}

void journal_listen(struct journal *j, void (*added)(void *arg), void *arg)
{
	j->added = added;
	j->arg = arg;
}

const char *journal_id(const struct journal *j)
{
	return j->id;
}

void journal_rebase(struct journal *j, const char *id, uint64_t last)
{
	uint64_t first = journal_first_seq(j);
	uint64_t shift = last + 1 - first;

	for (uint64_t seq = first; first && seq <= j->last_seq; seq++)
		slot(j, seq)->seq = seq + shift;
	/* What fell out of memory before gets no number. */
	j->base = first ? j->base + shift : last;
	j->last_seq = first ? j->last_seq + shift : last;
	name_copy(j->id, sizeof(j->id), id);
}

static uint64_t first_in_memory(const struct journal *j, uint64_t last)
{
	if (last == j->base)
		return 0;
	return last - j->base > JOURNAL_MAX ? last - JOURNAL_MAX + 1 : j->base + 1;
}

uint64_t journal_first_seq(const struct journal *j)
{
	return first_in_memory(j, published(j));
}

uint64_t journal_last_seq(const struct journal *j)
{
	return published(j);
}

uint64_t journal_base(const struct journal *j)
{
	return j->base;
}

const struct journal_event *journal_after(const struct journal *j, uint64_t after)
{
	uint64_t last = published(j);
	uint64_t first = first_in_memory(j, last);
	uint64_t seq = after < first ? first : after + 1;

	if (!first || after >= last)
		return NULL;
	return &j->events[(seq - j->base - 1) % JOURNAL_MAX];
}

static void end_strings(struct journal_event *e)
{
	e->kind[sizeof(e->kind) - 1] = '\0';
	e->device[sizeof(e->device) - 1] = '\0';
	e->rail[sizeof(e->rail) - 1] = '\0';
	e->peer[sizeof(e->peer) - 1] = '\0';
	e->text[sizeof(e->text) - 1] = '\0';
}

/* Each word comes in before what is read after it, without a fence, which TSan does not know. */
static void copy_event(const struct journal_event *from, struct journal_event *ret)
{
	typedef uint64_t __attribute__((may_alias)) word_t;
	const word_t *word = (const void *)from;

	static_assert(sizeof(*ret) % sizeof(*word) == 0, "an event is whole words");
	for (size_t i = 0; i < sizeof(*ret) / sizeof(*word); i++) {
		uint64_t value = __atomic_load_n(&word[i], __ATOMIC_ACQUIRE);

		memcpy((char *)ret + i * sizeof(value), &value, sizeof(value));
	}
}

/* The slot after the last is being filled perhaps: what stood there does not count. Whoever was
 * overtaken goes on far enough behind the writer. */
bool journal_copy_after(const struct journal *j, uint64_t after, struct journal_event *ret)
{
	for (unsigned attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
		const struct journal_event *e = journal_after(j, after);

		if (!e)
			return false;
		copy_event(e, ret);
		if (ret->seq > after && published(j) - ret->seq < JOURNAL_MAX - 1) {
			end_strings(ret);
			return true;
		}
		after = published(j) - JOURNAL_MAX / 2;
	}
	return false;
}
