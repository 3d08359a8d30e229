#include "health/judge.h"

#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "health/blame.h"
#include "health/finding.h"
#include "health/judge_findings.h"
#include "health/judge_rules.h"

struct judge {
	struct finding_memory *findings;
};

struct judge *judge_new(void)
{
	struct judge *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->findings = finding_memory_new();
	if (!j->findings) {
		free(j);
		return NULL;
	}
	return j;
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	finding_memory_free(j->findings);
	free(j);
}

/* --- sessions --- */

/* An echo that came late was acknowledged too, and proves nothing about those after it. */
static void note_acks(struct judge_memory *m, const struct snap_session *s)
{
	m->ack_count_then = s->ack_count;
	m->send_success_then_ns = s->op[OP_SEND].last_success_ns;
}

static void note_misses(struct judge_memory *m, const struct snap_session *s,
			const struct snapshot *now)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t *since = &m->missing_since_ns[op];
		bool began = false;

		if (!s->op[op].interval_ns || !s->op[op].miss_streak) {
			*since = 0;
		} else if (!*since) {
			*since = now->mono_ns;
			m->missing_since_wall_ns[op] = now->wall_ns;
			began = true;
		}
		if (op == OP_SEND &&
		    (began || s->op[op].last_success_ns != m->send_success_then_ns))
			note_acks(m, s);
	}
}

static void remember(struct judge_memory *m, const struct blame *b, bool recovering,
		     uint64_t wall_ns)
{
	m->previous = m->judged ? m->verdict : VERDICT_UNKNOWN;
	m->changed = m->previous != b->verdict;
	if (m->changed || !m->judged)
		m->since_wall_ns = wall_ns;
	m->judged = true;
	m->verdict = b->verdict;
	if (b->verdict == VERDICT_OK) {
		m->cause = CAUSE_NONE;
		m->reason[0] = '\0';
	} else if (!recovering && b->verdict != VERDICT_UNKNOWN) {
		m->cause = b->cause;
		name_copy(m->reason, sizeof(m->reason), b->reason);
	}
}

static void judge_one(const struct evidence *e, size_t i, struct snapshot *s)
{
	struct snap_session *session = &s->sessions[i];
	struct judge_memory *m = e->in[i].memory;
	struct blame b = blame_session(e, i, s);

	remember(m, &b, e->voice[i] == VOICE_FINE, s->wall_ns);
	session->verdict = b.verdict;
	session->verdict_since_wall_ns = m->since_wall_ns;
	session->cause = b.cause;
	session->reason = b.reason;
}

/* --- devices --- */

struct rail_count {
	unsigned n, down;
	size_t first_down;
	size_t dead; /* index of a rail whose peers are all silent */
};

static struct rail_count count_rails(const struct evidence *e, const char *device)
{
	struct rail_count c = {.dead = NOT_FOUND};

	for (size_t i = 0; i < e->s->n_rails; i++) {
		const struct snap_rail *r = &e->s->rails[i];

		if (!r->present || strcmp(r->fact.device, device))
			continue;
		c.n++;
		if (evidence_rail_dead(e, i))
			c.dead = i;
		if (r->up)
			continue;
		if (!c.down++)
			c.first_down = i;
	}
	return c;
}

static struct blame judge_device(const struct evidence *e, const struct snap_device *d,
				 const char *trouble, struct snapshot *s)
{
	struct rail_count rails = count_rails(e, d->name);
	struct blame b = blame_worker(s, d);

	if (d->worker_state != WORKER_UP) {
		if (b.cause == CAUSE_LOCAL_NIC)
			b.verdict = VERDICT_FAILING;
		return b;
	}
	if (trouble && trouble[0])
		return (struct blame){VERDICT_UNKNOWN, CAUSE_LOCAL_HOST, snapshot_str(s, trouble)};
	if (rails.down) {
		b = blame_rail(e, rails.first_down, s);
		if (rails.down < rails.n)
			b.verdict = VERDICT_DEGRADED;
		return b;
	}
	if (rails.dead != NOT_FOUND)
		return blame_dead_rail(e, rails.dead, s);
	if (!rails.n)
		return (struct blame){VERDICT_UNKNOWN, CAUSE_NONE,
				      e->s->counters_only
					      ? "only its counters are read (--sysfs-root)"
					      : "no rail: no active port with a usable address"};
	return (struct blame){VERDICT_OK, CAUSE_NONE, ""};
}

/* --- the host --- */

static bool anything_measured(const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_sessions; i++)
		if (s->sessions[i].verdict != VERDICT_UNKNOWN)
			return true;
	return false;
}

static bool all_released(const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_devices; i++)
		if (s->devices[i].worker_state != WORKER_RELEASED)
			return false;
	return true;
}

static const char *nothing_measured_words(const struct snapshot *s)
{
	if (!s->n_devices)
		return "nothing is measured: this host has no RDMA device";
	if (all_released(s))
		return "nothing is measured: every RDMA device is released";
	if (s->counters_only)
		return "nothing is measured: only counters are read (--sysfs-root)";
	if (!s->n_rails)
		return "nothing is measured: no RDMA port is active and has a usable address";
	if (!s->n_sessions)
		return "nothing is measured: no peer is configured, or none is reached by a rail";
	return "nothing is measured yet";
}

static void judge_host(struct snapshot *s, const struct findings *f)
{
	const struct snap_finding *worst = NULL;
	enum verdict verdict = VERDICT_OK;
	bool counted = false; /* by a NIC: it needs no probe to be known */
	size_t more = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct snap_finding *finding = &f->list[i];
		enum verdict weight =
			f->minor[i] ? VERDICT_OK
				    : verdict_of_trouble(finding->cause, finding->critical);

		if (weight == VERDICT_OK)
			continue;
		counted |= finding->rule != NULL;
		more++;
		/* The first of the worst: local findings come first in the list. */
		if (weight <= verdict)
			continue;
		verdict = weight;
		worst = &f->list[i];
	}
	if (verdict != VERDICT_FAILING && !counted && !anything_measured(s))
		verdict = VERDICT_UNKNOWN;
	s->verdict = verdict;
	s->cause = worst ? worst->cause : CAUSE_NONE;
	if (worst)
		s->reason = more == 1
				    ? worst->text
				    : snapshot_printf(s, "%s (and %zu more finding%s)", worst->text,
						      more - 1, more == 2 ? "" : "s");
	else
		s->reason = verdict == VERDICT_UNKNOWN ? nothing_measured_words(s) : "";
}

static void judge_nothing(struct snapshot *s)
{
	for (size_t i = 0; i < s->n_sessions; i++) {
		s->sessions[i].verdict = VERDICT_UNKNOWN;
		s->sessions[i].cause = CAUSE_MONITOR;
		s->sessions[i].reason = "out of memory";
	}
	for (size_t i = 0; i < s->n_devices; i++) {
		s->devices[i].verdict = VERDICT_UNKNOWN;
		s->devices[i].cause = CAUSE_MONITOR;
		s->devices[i].reason = "out of memory";
	}
	s->verdict = VERDICT_UNKNOWN;
	s->cause = CAUSE_MONITOR;
	s->reason = "rdma-pingmeshd is out of memory and cannot judge";
}

void judge_run(struct judge *j, const struct judge_input *in, struct snapshot *s)
{
	struct evidence e;
	struct findings f;

	for (size_t i = 0; i < s->n_sessions; i++)
		note_misses(in->sessions[i].memory, &s->sessions[i], s);
	if (!evidence_gather(&e, s, in) ||
	    !findings_begin(&f, s, j->findings, judge_findings_max(s, in) + judge_rules_max(s))) {
		judge_nothing(s);
		return;
	}
	for (size_t i = 0; i < s->n_sessions; i++)
		judge_one(&e, i, s);
	for (size_t i = 0; i < s->n_devices; i++) {
		struct snap_device *d = &s->devices[i];
		struct blame b = judge_device(&e, d, in->devices[i].trouble, s);

		d->verdict = b.verdict;
		d->cause = b.cause;
		d->reason = b.reason;
		judge_port_rules(s, d);
	}
	judge_findings(&e, in, &f);
	judge_rule_findings(&f);
	judge_host(s, &f);
	findings_end(&f);
}
