#include "health/evidence.h"

#include <stdlib.h>
#include <string.h>

static size_t find_rail(const struct snapshot *s, const char *name)
{
	size_t lo = 0, hi = s->n_rails;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(s->rails[mid].name, name);

		if (!order)
			return mid;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NOT_FOUND;
}

/* A host has a handful of devices. */
static size_t find_device(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->n_devices; i++)
		if (!strcmp(s->devices[i].name, name))
			return i;
	return NOT_FOUND;
}

bool evidence_doubted(const struct evidence *e, size_t i)
{
	return e->in[i].doubt && e->in[i].doubt[0];
}

bool evidence_side_ok(const struct evidence *e, size_t i)
{
	const struct snapshot *s = e->s;

	return s->sessions[i].state != SESSION_DISABLED && !evidence_doubted(e, i) &&
	       e->device[i] != NOT_FOUND && s->devices[e->device[i]].worker_state == WORKER_UP &&
	       e->rail[i] != NOT_FOUND && s->rails[e->rail[i]].present && s->rails[e->rail[i]].up;
}

static bool said(const struct snap_session *s, const char *text)
{
	return !strcmp(s->error.text, text);
}

static bool error_counts(const struct evidence *e, const struct snap_session *s)
{
	return s->state != SESSION_UP && s->error.wall_ns &&
	       s->error.mono_ns + ERROR_FRESH_NS >= e->s->mono_ns;
}

bool evidence_refused(const struct evidence *e, size_t i)
{
	const struct snap_session *s = &e->s->sessions[i];

	if (!error_counts(e, s))
		return false;
	switch (s->error.connect_failure) {
	case -1:
		return said(s, SAID_GOODBYE);
	case CONNECT_REJECTED:
	case CONNECT_STALE:
	case CONNECT_HELLO:
	case CONNECT_VERSION:
		return true;
	case CONNECT_NO_RESOURCES:
		return said(s, SAID_NO_RESOURCES);
	case CONNECT_OTHER:
		return said(s, SAID_CLOSED);
	}
	return false;
}

bool evidence_nowhere(const struct evidence *e, size_t i)
{
	const struct snap_session *s = &e->s->sessions[i];

	return !s->address || !s->address[0];
}

bool evidence_unable(const struct evidence *e, size_t i)
{
	const struct snap_session *s = &e->s->sessions[i];

	if (!error_counts(e, s))
		return false;
	return s->error.connect_failure == CONNECT_WRONG_DEVICE || said(s, SAID_STALLED) ||
	       (s->error.connect_failure == CONNECT_NO_RESOURCES && !said(s, SAID_NO_RESOURCES));
}

const char *evidence_trouble(const struct evidence *e, size_t rail)
{
	const struct snap_rail *r = &e->s->rails[rail];

	for (size_t i = 0; i < e->s->n_devices; i++) {
		const char *trouble = e->devices[i].trouble;

		if (!strcmp(e->s->devices[i].name, r->fact.device))
			return trouble && trouble[0] && !strcmp(trouble, r->fact.reason) ? trouble
											 : NULL;
	}
	return NULL;
}

bool evidence_missing(const struct judge_memory *m, enum op op)
{
	return m->missing_since_ns[op] != 0;
}

/* The operation that began first to miss; OP_COUNT: none misses. */
static unsigned first_missing(const struct judge_memory *m)
{
	unsigned first = OP_COUNT;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (m->missing_since_ns[op] &&
		    (first == OP_COUNT || m->missing_since_ns[op] < m->missing_since_ns[first]))
			first = op;
	return first;
}

uint64_t evidence_missing_since(const struct judge_memory *m)
{
	unsigned first = first_missing(m);

	return first < OP_COUNT ? m->missing_since_wall_ns[first] : 0;
}

/* From when on a success of another operation shows that the peer is reached although this one
 * misses. The first attempt that was lost came an interval after the last success, so what cut
 * it off was there before that attempt could have been answered. */
static uint64_t cut_off_by(const struct op_books *b, uint64_t missing_since_ns)
{
	uint64_t lost = b->last_success_ns + b->interval_ns + ANSWER_TIME_NS;

	if (!b->last_success_ns || lost > missing_since_ns)
		return missing_since_ns;
	return lost;
}

bool evidence_answers(const struct evidence *e, size_t i, enum op op)
{
	const struct op_books *b = e->s->sessions[i].op;
	const struct judge_memory *m = e->in[i].memory;

	if (!b[op].interval_ns || evidence_missing(m, op))
		return false;
	for (unsigned other = 0; other < OP_COUNT; other++)
		if (evidence_missing(m, (enum op)other) &&
		    b[op].last_success_ns <= cut_off_by(&b[other], m->missing_since_ns[other]))
			return false;
	return true;
}

bool evidence_acked(const struct evidence *e, size_t i)
{
	const struct judge_memory *m = e->in[i].memory;

	return evidence_missing(m, OP_SEND) && e->s->sessions[i].ack_count > m->ack_count_then;
}

/* It misses since before the connection came up, and has hardly had its turn on that. That the
 * connection came up is an answer too. */
static bool turn_to_come(const struct evidence *e, size_t i, enum op op)
{
	const struct snap_session *s = &e->s->sessions[i];

	return s->state == SESSION_UP && e->in[i].memory->missing_since_ns[op] < s->up_since_ns &&
	       e->s->mono_ns < s->up_since_ns + 2 * s->op[op].interval_ns + ANSWER_TIME_NS;
}

static enum voice voice_of(const struct evidence *e, size_t i)
{
	bool any_missing = false, any_answers = false;

	if (!evidence_side_ok(e, i) || e->in[i].books_verdict == VERDICT_UNKNOWN)
		return VOICE_UNMEASURED;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		any_missing |= evidence_missing(e->in[i].memory, (enum op)op) &&
			       !turn_to_come(e, i, (enum op)op);
		any_answers |= evidence_answers(e, i, (enum op)op);
	}
	if (!any_missing)
		return VOICE_FINE;
	if (evidence_unable(e, i) || evidence_nowhere(e, i))
		return VOICE_UNMEASURED;
	if (any_answers || evidence_acked(e, i) || evidence_refused(e, i))
		return VOICE_PARTLY;
	return VOICE_SILENT;
}

static bool reached(enum voice v)
{
	return v == VOICE_FINE || v == VOICE_PARTLY;
}

/* One peer over one rail: reached if any of its sessions is. */
static struct tally tally_run(const struct evidence *e, size_t first, size_t end)
{
	struct tally t = {0};

	for (size_t i = first; i < end; i++) {
		t.reached |= reached(e->voice[i]);
		t.silent |= e->voice[i] == VOICE_SILENT;
	}
	if (t.reached)
		t.silent = 0;
	return t;
}

static size_t run_end(const struct evidence *e, size_t first, size_t end)
{
	size_t i = first + 1;

	while (i < end && e->rail[i] == e->rail[first])
		i++;
	return i;
}

static size_t find_peer_end(const struct snapshot *s, size_t first)
{
	size_t i = first + 1;

	while (i < s->n_sessions && !strcmp(s->sessions[i].peer, s->sessions[first].peer))
		i++;
	return i;
}

static void tally_rails(struct evidence *e, size_t first, size_t end)
{
	for (size_t i = first; i < end; i = run_end(e, i, end)) {
		struct tally t = tally_run(e, i, run_end(e, i, end));

		if (e->rail[i] == NOT_FOUND)
			continue;
		e->rails[e->rail[i]].reached += t.reached;
		e->rails[e->rail[i]].silent += t.silent;
	}
}

static void note_silence(struct evidence *e, size_t i)
{
	uint64_t since = evidence_missing_since(e->in[i].memory);
	uint64_t *first = e->rail[i] != NOT_FOUND ? &e->rail_since[e->rail[i]] : NULL;

	if (first && e->voice[i] == VOICE_SILENT && (!*first || since < *first))
		*first = since;
}

static bool evidence_alloc(struct evidence *e, struct snapshot *s)
{
	size_t n = s->n_sessions + 1;

	e->voice = snapshot_alloc(s, n, sizeof(*e->voice));
	e->rail = snapshot_alloc(s, n, sizeof(*e->rail));
	e->device = snapshot_alloc(s, n, sizeof(*e->device));
	e->peer_first = snapshot_alloc(s, n, sizeof(*e->peer_first));
	e->peer_end = snapshot_alloc(s, n, sizeof(*e->peer_end));
	e->rails = snapshot_alloc(s, s->n_rails + 1, sizeof(*e->rails));
	e->rail_since = snapshot_alloc(s, s->n_rails + 1, sizeof(*e->rail_since));
	return e->voice && e->rail && e->device && e->peer_first && e->peer_end && e->rails &&
	       e->rail_since;
}

bool evidence_gather(struct evidence *e, struct snapshot *s, const struct judge_input *in)
{
	size_t n = s->n_sessions;

	*e = (struct evidence){
		.s = s, .in = in->sessions, .devices = in->devices, .ok_after = in->ok_after};
	if (!evidence_alloc(e, s))
		return false;
	for (size_t i = 0; i < n; i++) {
		e->rail[i] = find_rail(s, s->sessions[i].rail);
		e->device[i] = find_device(s, s->sessions[i].device);
		e->voice[i] = voice_of(e, i);
		note_silence(e, i);
	}
	for (size_t first = 0, end; first < n; first = end) {
		end = find_peer_end(s, first);
		tally_rails(e, first, end);
		for (size_t i = first; i < end; i++) {
			e->peer_first[i] = first;
			e->peer_end[i] = end;
		}
	}
	return true;
}

bool evidence_rail_dead(const struct evidence *e, size_t rail)
{
	return rail != NOT_FOUND && !e->rails[rail].reached &&
	       e->rails[rail].silent >= PEERS_TO_JUDGE;
}

struct tally evidence_peer_rails(const struct evidence *e, size_t i)
{
	struct tally sum = {0};
	size_t end = e->peer_end[i];

	for (size_t at = e->peer_first[i]; at < end; at = run_end(e, at, end)) {
		struct tally t = tally_run(e, at, run_end(e, at, end));

		sum.reached += t.reached;
		sum.silent += t.silent;
	}
	return sum;
}

size_t evidence_other_way(const struct evidence *e, size_t i, bool same_endpoint)
{
	const struct snap_session *all = e->s->sessions;

	for (size_t other = e->peer_first[i]; other < e->peer_end[i]; other++) {
		if (e->rail[other] == e->rail[i] || !reached(e->voice[other]))
			continue;
		if (!same_endpoint || !strcmp(all[other].address, all[i].address))
			return other;
	}
	return NOT_FOUND;
}

size_t evidence_same_rail(const struct evidence *e, size_t i)
{
	for (size_t other = e->peer_first[i]; other < e->peer_end[i]; other++)
		if (other != i && e->rail[other] == e->rail[i] && reached(e->voice[other]))
			return other;
	return NOT_FOUND;
}

static const char *label_of(const struct evidence *e, size_t i, bool pod)
{
	const char *label = pod ? e->in[i].pod : e->in[i].rack;

	return label ? label : "";
}

void evidence_place(const struct evidence *e, size_t i, bool pod, struct tally *ret_same,
		    struct tally *ret_others)
{
	const char *label = label_of(e, i, pod);

	*ret_same = *ret_others = (struct tally){0};
	if (!label[0])
		return;
	for (size_t at = 0; at < e->s->n_sessions; at = e->peer_end[at]) {
		struct tally t = tally_run(e, at, e->peer_end[at]);
		struct tally *into = strcmp(label_of(e, at, pod), label) ? ret_others : ret_same;

		into->reached += t.reached;
		into->silent += t.silent;
	}
}
