#include "health/finding.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

struct standing {
	uint64_t hash; /* of cause, subject and rule */
	uint64_t since_wall_ns;
};

struct finding_memory {
	struct standing *list; /* sorted by hash */
	size_t n, room;
};

struct finding_memory *finding_memory_new(void)
{
	return calloc(1, sizeof(struct finding_memory));
}

void finding_memory_free(struct finding_memory *m)
{
	if (!m)
		return;
	free(m->list);
	free(m);
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = ((const struct standing *)a)->hash, y = ((const struct standing *)b)->hash;

	return x < y ? -1 : x > y;
}

static uint64_t finding_hash(const char *rule, enum cause cause, const char *subject)
{
	uint64_t hash = hash_str(subject) * CAUSE_COUNT + cause;

	return rule ? hash ^ hash_str(rule) : hash;
}

static bool same_rule(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static uint64_t standing_since(const struct finding_memory *m, uint64_t hash, uint64_t now)
{
	struct standing key = {.hash = hash};
	const struct standing *found = NULL;

	if (m->n)
		found = bsearch(&key, m->list, m->n, sizeof(key), by_hash);
	return found ? found->since_wall_ns : now;
}

bool findings_begin(struct findings *f, struct snapshot *s, struct finding_memory *m, size_t cap)
{
	*f = (struct findings){
		.s = s,
		.memory = m,
		.list = snapshot_alloc(s, cap + 1, sizeof(*f->list)),
		.minor = snapshot_alloc(s, cap + 1, sizeof(*f->minor)),
		.cap = cap,
	};
	return f->list && f->minor;
}

static bool listed(const struct findings *f, const char *rule, enum cause cause,
		   const char *subject)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i].cause == cause && !strcmp(f->list[i].subject, subject) &&
		    same_rule(f->list[i].rule, rule))
			return true;
	return false;
}

struct snap_finding *findings_add(struct findings *f, enum cause cause, bool critical,
				  const char *subject, const char *text, uint64_t since_wall_ns)
{
	return findings_add_of_rule(f, NULL, cause, critical, subject, text, since_wall_ns);
}

struct snap_finding *findings_add_of_rule(struct findings *f, const char *rule, enum cause cause,
					  bool critical, const char *subject, const char *text,
					  uint64_t since_wall_ns)
{
	struct snap_finding *finding = &f->list[f->n];

	if (f->n == f->cap || listed(f, rule, cause, subject))
		return NULL;
	*finding = (struct snap_finding){
		.cause = cause,
		.critical = critical,
		.subject = subject,
		.text = text,
		.rule = rule,
		.since_wall_ns = since_wall_ns,
	};
	if (!since_wall_ns)
		finding->since_wall_ns = standing_since(
			f->memory, finding_hash(rule, cause, subject), f->s->wall_ns);
	f->n++;
	return finding;
}

void findings_mark_minor(struct findings *f, const struct snap_finding *finding)
{
	if (finding)
		f->minor[finding - f->list] = true;
}

static bool has_room(struct finding_memory *m, size_t n)
{
	struct standing *more;

	if (n <= m->room)
		return true;
	more = reallocarray(m->list, n, sizeof(*more));
	if (!more)
		return false;
	m->list = more;
	m->room = n;
	return true;
}

void findings_end(struct findings *f)
{
	struct finding_memory *m = f->memory;

	f->s->findings = f->list;
	f->s->n_findings = f->n;
	if (!has_room(m, f->n))
		return;
	for (size_t i = 0; i < f->n; i++)
		m->list[i] = (struct standing){
			.hash = finding_hash(f->list[i].rule, f->list[i].cause, f->list[i].subject),
			.since_wall_ns = f->list[i].since_wall_ns,
		};
	m->n = f->n;
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), by_hash);
}
