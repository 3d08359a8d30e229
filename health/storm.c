#include "health/storm.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"

static uint64_t subject_hash(const struct journal_event *e)
{
	uint64_t h[] = {hash_str(e->kind), hash_str(e->device), hash_str(e->rail),
			hash_str(e->peer)};

	return hash_bytes(h, sizeof(h));
}

/* A clock that was set back ends the minute too. */
static bool is_over(const struct storm_subject *s, uint64_t wall_ns)
{
	return wall_ns < s->since_ns || wall_ns - s->since_ns >= STORM_MINUTE_NS;
}

static bool take_summary(struct storm_subject *s, uint64_t wall_ns, struct journal_event *ret)
{
	if (!s->held)
		return false;
	*ret = s->last;
	ret->wall_ns = wall_ns;
	snprintf(ret->text, sizeof(ret->text), "%u more of this within a minute; the last: %.180s",
		 s->held, s->last.text);
	s->held = 0;
	return true;
}

/* One of a few kinds that the program has; should there be more, they share. */
static bool kind_has_room(struct storm *s, const struct journal_event *e)
{
	uint64_t hash = hash_str(e->kind);
	struct storm_kind *k = &s->kinds[0];
	uint64_t refilled;

	for (size_t i = 0; i < STORM_KINDS; i++) {
		k = &s->kinds[i];
		if (k->hash == hash || !k->hash)
			break;
	}
	if (!k->hash)
		*k = (struct storm_kind){.hash = hash, .at_ns = e->wall_ns};
	if (e->wall_ns < k->at_ns)
		k->at_ns = e->wall_ns;
	refilled = (e->wall_ns - k->at_ns) / STORM_REFILL_NS;
	k->used = refilled < k->used ? k->used - (unsigned)refilled : 0;
	k->at_ns = k->used ? k->at_ns + refilled * STORM_REFILL_NS : e->wall_ns;
	if (k->used >= STORM_BURST)
		return false;
	k->used++;
	return true;
}

bool storm_admit(struct storm *s, const struct journal_event *e, struct journal_event *summary,
		 bool *ret_summary)
{
	uint64_t hash = subject_hash(e);
	struct storm_subject *subject = &s->subjects[hash % STORM_SUBJECTS];

	*ret_summary = false;
	if (subject->hash != hash || is_over(subject, e->wall_ns)) {
		*ret_summary = take_summary(subject, e->wall_ns, summary);
		subject->hash = hash;
		subject->since_ns = e->wall_ns;
		subject->n = 0;
	}
	if (subject->n < STORM_OF_SUBJECT && kind_has_room(s, e)) {
		subject->n++;
		return true;
	}
	subject->held++;
	subject->last = *e;
	s->thinned++;
	return false;
}

bool storm_due(struct storm *s, uint64_t wall_ns, size_t *at, struct journal_event *summary)
{
	while (*at < STORM_SUBJECTS) {
		struct storm_subject *subject = &s->subjects[(*at)++];

		if (subject->held && is_over(subject, wall_ns) &&
		    take_summary(subject, wall_ns, summary))
			return true;
	}
	return false;
}
