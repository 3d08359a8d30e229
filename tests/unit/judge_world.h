/* A small host for the tests of the judge: devices, rails and sessions as the daemon fills them. */
#pragma once
#include "support.h"

#include "core/clock.h"
#include "health/judge.h"

#define SEC NSEC_PER_SEC
#define WORLD_MAX 16
#define T0 (1796000000ULL * SEC)

struct world {
	struct judge *judge;
	struct snapshot *s; /* of the last look */
	uint64_t now, wall;
	size_t n_devices, n_rails, n_sessions, n_loopbacks;
	struct snap_device devices[WORLD_MAX];
	struct snap_rail rails[WORLD_MAX];
	struct snap_session sessions[WORLD_MAX];
	struct snap_session loopbacks[WORLD_MAX];
	struct judge_session in[WORLD_MAX];
	struct judge_memory memory[WORLD_MAX];
	struct judge_device in_devices[WORLD_MAX];
	const char *duplicates[WORLD_MAX];
	size_t n_duplicates;
	struct judge_refusal refusals[WORLD_MAX];
	size_t n_refusals;
	uint64_t rails_expected;
	bool starting;
	bool counters_only;
};

static inline void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->judge = judge_new();
	w->now = 1000 * SEC;
	w->wall = T0;
}

static inline void world_free(struct world *w)
{
	snapshot_unref(w->s);
	judge_free(w->judge);
}

/* A device with one port that is a rail, both of that name. Add in alphabetical order. */
static inline void add_rail(struct world *w, const char *name)
{
	struct snap_device *d = &w->devices[w->n_devices++];
	struct snap_rail *r = &w->rails[w->n_rails++];

	d->name = r->name = name;
	d->worker_state = WORKER_UP;
	d->worker_since_wall_ns = T0;
	r->present = r->up = true;
	snprintf(r->fact.device, sizeof(r->fact.device), "%s", name);
	snprintf(r->fact.address, sizeof(r->fact.address), "10.99.0.1");
	r->fact.port = 1;
	r->fact.up = 1;
}

/* A session that is up and ok with SEND and READ. Add in the order of (peer, rail). */
static inline size_t add_session(struct world *w, const char *peer, const char *rail,
				 const char *address)
{
	size_t i = w->n_sessions++;
	struct snap_session *s = &w->sessions[i];

	s->peer = peer;
	s->rail = s->device = rail;
	s->peer_rail = rail;
	s->class_name = "default";
	s->address = address;
	s->state = SESSION_UP;
	s->error.connect_failure = -1;
	s->op[OP_SEND].interval_ns = s->op[OP_READ].interval_ns = SEC;
	w->in[i].books_verdict = VERDICT_OK;
	w->in[i].memory = &w->memory[i];
	return i;
}

static inline void pass(struct world *w, uint64_t ns)
{
	w->now += ns;
	w->wall += ns;
}

static inline void answer(struct world *w, size_t i, enum op op)
{
	struct op_books *b = &w->sessions[i].op[op];

	b->ok++;
	b->ok_streak++;
	b->miss_streak = 0;
	b->last_success_ns = w->now;
	b->last_success_wall_ns = w->wall;
}

static inline void miss(struct world *w, size_t i, enum op op)
{
	struct op_books *b = &w->sessions[i].op[op];

	b->failed[FAIL_TIMEOUT]++;
	b->misses++;
	b->miss_streak++;
	b->ok_streak = 0;
	w->in[i].books_verdict = b->miss_streak > 1 ? VERDICT_FAILING : VERDICT_DEGRADED;
}

static inline void silence(struct world *w, size_t i)
{
	for (unsigned n = 0; n < 2; n++) {
		miss(w, i, OP_SEND);
		miss(w, i, OP_READ);
	}
}

static inline void fail_connect(struct world *w, size_t i, enum connect_failure failure,
				const char *text)
{
	struct snap_session *s = &w->sessions[i];

	s->state = SESSION_BACKOFF;
	s->error.wall_ns = w->wall;
	s->error.mono_ns = w->now;
	s->error.connect_failure = (int32_t)failure;
	snprintf(s->error.text, sizeof(s->error.text), "%s", text);
	silence(w, i);
}

/* A second later: judge it all. */
static inline void look(struct world *w)
{
	struct judge_input in = {w->in,		  w->in_devices, w->duplicates,
				 w->n_duplicates, w->refusals,	 w->n_refusals};
	struct snapshot *s = snapshot_new(NULL);

	in.ok_after = 3;

	snapshot_unref(w->s);
	w->s = s;
	pass(w, SEC);
	s->mono_ns = w->now;
	s->wall_ns = w->wall;
	s->rails_expected = w->rails_expected;
	s->starting = w->starting;
	s->counters_only = w->counters_only;
	s->n_devices = w->n_devices;
	s->devices = memcpy(snapshot_alloc(s, WORLD_MAX, sizeof(*s->devices)), w->devices,
			    sizeof(w->devices));
	s->n_rails = w->n_rails;
	s->rails =
		memcpy(snapshot_alloc(s, WORLD_MAX, sizeof(*s->rails)), w->rails, sizeof(w->rails));
	s->n_loopbacks = w->n_loopbacks;
	s->loopbacks = w->loopbacks;
	s->n_sessions = w->n_sessions;
	s->sessions = memcpy(snapshot_alloc(s, WORLD_MAX, sizeof(*s->sessions)), w->sessions,
			     sizeof(w->sessions));
	judge_run(w->judge, &in, s);
}

static inline const struct snap_finding *finding(const struct world *w, const char *subject)
{
	for (size_t i = 0; i < w->s->n_findings; i++)
		if (!strcmp(w->s->findings[i].subject, subject))
			return &w->s->findings[i];
	return NULL;
}

#define assert_says(text, part)                                                                    \
	do {                                                                                       \
		if (!strstr(text, part))                                                           \
			print_error("'%s' is not in: %s\n", part, text);                           \
		assert_non_null(strstr(text, part));                                               \
	} while (0)
