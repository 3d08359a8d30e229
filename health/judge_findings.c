#include "health/judge_findings.h"

#include <string.h>

#include "health/blame.h"
#include "health/judge_facts.h"

/* worker (state, books), trouble, GUID, counters (hanging, saturated), rdma_cm; port or rail, dead
 * rail; one a peer; one a name; rails missing */
#define PER_DEVICE 7
#define PER_RAIL 2

size_t judge_findings_max(const struct snapshot *s, const struct judge_input *in)
{
	return PER_DEVICE * s->n_devices + PER_RAIL * s->n_rails + 2 * s->n_sessions +
	       judge_facts_max(s, in) + in->n_duplicates + in->n_refusals + 3;
}

static const char *subject(struct findings *f, const char *kind, const char *id)
{
	return snapshot_printf(f->s, "%s:%s", kind, id);
}

static void hang_on(struct findings *f, struct snap_finding *finding, struct snap_evidence evidence)
{
	struct snap_evidence *e;

	if (!finding)
		return;
	e = snapshot_alloc(f->s, 1, sizeof(*e));
	if (!e)
		return;
	*e = evidence;
	finding->evidence = e;
	finding->n_evidence = 1;
}

/* --- devices --- */

static void find_worker(struct findings *f, const struct snap_device *d)
{
	struct blame b = blame_worker(f->s, d);

	if (b.cause != CAUSE_NONE)
		findings_add(f, b.cause, true, subject(f, "device", d->name), b.reason,
			     d->worker_since_wall_ns);
}

/* One for all sessions of the device: a worker gone wild may spoil all its rows at once. */
static void find_doubted(const struct evidence *e, struct findings *f, size_t device)
{
	const struct snap_device *d = &e->s->devices[device];
	size_t n = 0, first = 0;

	for (size_t i = 0; i < e->s->n_sessions; i++)
		if (e->device[i] == device && evidence_doubted(e, i) && !n++)
			first = i;
	if (!n || d->worker_state != WORKER_UP)
		return;
	hang_on(f,
		findings_add(
			f, CAUSE_MONITOR, false, subject(f, "worker", d->name),
			snapshot_printf(f->s,
					"the worker of %s writes books that cannot be true, of "
					"%zu session%s (%s over %s: %s): their figures are "
					"those from before; it is a fault of this program or "
					"of its memory: restart it and report the log",
					d->name, n, n == 1 ? "" : "s", e->s->sessions[first].peer,
					e->s->sessions[first].rail, e->in[first].doubt),
			0),
		(struct snap_evidence){.name = "doubted_sessions", .value = (double)n});
}

/* Somebody wanted it so: no alarm, but nothing to be forgotten either. */
static void find_released(struct findings *f, const struct snap_device *d)
{
	if (d->worker_state == WORKER_RELEASED)
		findings_mark_minor(f, findings_add(f, CAUSE_CONFIGURATION, false,
						    subject(f, "device", d->name),
						    blame_worker(f->s, d).reason,
						    d->worker_since_wall_ns));
}

static void find_trouble(struct findings *f, const struct snap_device *d, const char *trouble)
{
	if (d->worker_state != WORKER_UP || !trouble || !trouble[0])
		return;
	findings_add(f, CAUSE_LOCAL_HOST, false, subject(f, "device", d->name),
		     snapshot_printf(f->s, "%s is not probed: %s", d->name, trouble), 0);
}

static void find_zero_guid(struct findings *f, const struct snap_device *d)
{
	if (!d->counters_fresh || !d->fact.node_guid_zero)
		return;
	findings_mark_minor(f, findings_add_of_rule(
				       f, "node_guid_zero", CAUSE_CONFIGURATION, false,
				       subject(f, "device", d->name),
				       snapshot_printf(f->s,
						       "the node GUID of %s is zero: set it (VF or "
						       "firmware configuration), rdma_cm needs it",
						       d->name),
				       0));
}

/* Probing goes on without them. */
static void find_hanging_counters(struct findings *f, const struct snap_device *d)
{
	if (d->worker_state != WORKER_UP || !d->counters_stuck_since_wall_ns)
		return;
	findings_mark_minor(
		f, findings_add_of_rule(
			   f, rule_name(RULE_COUNTERS_UNREADABLE), CAUSE_LOCAL_NIC, false,
			   subject(f, "counters", d->name),
			   snapshot_printf(f->s,
					   "the counters of %s cannot be read: its sysfs files "
					   "do not answer, look for its driver in the kernel log",
					   d->name),
			   d->counters_stuck_since_wall_ns));
}

/* What is connected goes on. rdma_cm works on queues of the whole host, so the others may hang with
 * it. */
static void find_stalled(struct findings *f, const struct snap_device *d)
{
	uint64_t since = d->cm_stalled_since_wall_ns;

	if (d->worker_state != WORKER_UP || !since)
		return;
	hang_on(f,
		findings_add(
			f, CAUSE_LOCAL_HOST, false, subject(f, "rdma_cm", d->name),
			snapshot_printf(f->s,
					"rdma_cm stalled on %s: resolving of addresses hangs "
					"in the kernel of this host, no connection can be made; "
					"the peers are not to blame: look into the kernel log",
					d->name),
			since),
		(struct snap_evidence){.name = "stalled_seconds",
				       .value = f->s->wall_ns > since
							? (double)(f->s->wall_ns - since) / 1e9
							: 0});
}

static void find_saturated(struct findings *f, const struct snap_device *d)
{
	const struct counter_value *first = NULL;
	struct snap_finding *finding;
	size_t n = 0;

	for (size_t i = 0; i < d->n_values; i++) {
		if (!(d->values[i].flags & COUNTER_SATURATED))
			continue;
		if (!n++)
			first = &d->values[i];
	}
	if (!n)
		return;
	finding = findings_add_of_rule(
		f, rule_name(RULE_COUNTERS_SATURATED), CAUSE_MONITOR, false,
		subject(f, "counters", d->name),
		snapshot_printf(f->s,
				"%zu counter%s of %s stand%s at the maximum and count%s no "
				"more (%.*s, port %u): clear with perfquery -R",
				n, n == 1 ? "" : "s", d->name, n == 1 ? "s" : "", n == 1 ? "s" : "",
				FACT_NAME, first->name, first->port),
		0);
	findings_mark_minor(f, finding);
	hang_on(f, finding,
		(struct snap_evidence){
			.name = "saturated_counters", .value = (double)n, .threshold = 1});
}

/* --- rails --- */

/* Its worker is away, and that is a finding already, or it is just starting. */
static bool worker_explains(const struct snapshot *s, const struct snap_rail *r)
{
	for (size_t i = 0; i < s->n_devices; i++)
		if (!strcmp(s->devices[i].name, r->fact.device))
			return s->devices[i].worker_state != WORKER_UP;
	return false;
}

static void find_rail(const struct evidence *e, struct findings *f, size_t rail)
{
	const struct snap_rail *r = &e->s->rails[rail];
	struct blame b;
	const char *id;

	if (!r->present && f->s->starting)
		return;
	if ((r->present && r->up) || worker_explains(f->s, r) || evidence_trouble(e, rail))
		return;
	b = blame_rail(e, rail, f->s);
	if (b.cause == CAUSE_LOCAL_PORT)
		id = snapshot_printf(f->s, "port:%s/%u", r->fact.device, r->fact.port);
	else
		id = subject(f, "rail", r->name);
	findings_add_of_rule(f, b.cause == CAUSE_LOCAL_PORT ? rule_name(RULE_LINK_DOWN) : NULL,
			     b.cause, true, id, b.reason, 0);
}

static void find_dead_rail(const struct evidence *e, struct findings *f, size_t rail)
{
	struct blame b;

	if (!evidence_rail_dead(e, rail))
		return;
	b = blame_dead_rail(e, rail, f->s);
	hang_on(f,
		findings_add(f, b.cause, true, subject(f, "rail", f->s->rails[rail].name), b.reason,
			     e->rail_since[rail]),
		(struct snap_evidence){.name = "silent_peers",
				       .value = e->rails[rail].silent,
				       .threshold = PEERS_TO_JUDGE});
}

static void find_missing_rails(struct findings *f)
{
	const struct snapshot *s = f->s;
	size_t present = 0;
	struct snap_finding *finding;

	for (size_t i = 0; i < s->n_rails; i++)
		present += s->rails[i].present || worker_explains(s, &s->rails[i]);
	if (s->starting || !s->rails_expected || present >= s->rails_expected)
		return;
	finding = findings_add_of_rule(
		f, "rails_missing", CAUSE_LOCAL_NIC, true, "host:rails",
		snapshot_printf(f->s,
				"%zu of %llu expected rails exist: a NIC, its driver or "
				"an address is missing (or [rails] expected is wrong)",
				present, (unsigned long long)s->rails_expected),
		0);
	hang_on(f, finding,
		(struct snap_evidence){.name = "rails",
				       .value = (double)present,
				       .threshold = (double)s->rails_expected});
}

/* --- peers --- */

static bool troubled(const struct evidence *e, size_t i)
{
	const struct snap_session *s = &e->s->sessions[i];

	switch (s->verdict) {
	case VERDICT_DEGRADED:
	case VERDICT_FAILING:
		return !evidence_rail_dead(e, e->rail[i]) || e->voice[i] != VOICE_SILENT;
	case VERDICT_OK:
	case VERDICT_UNKNOWN:
		return false;
	}
	return false;
}

/* The session that speaks for its peer: the worst, and of those the one that knows a cause. */
static bool speaks_better(const struct snap_session *a, const struct snap_session *b)
{
	if (a->verdict != b->verdict)
		return a->verdict == VERDICT_FAILING;
	return b->cause == CAUSE_INCONCLUSIVE && a->cause != CAUSE_INCONCLUSIVE;
}

static void find_peer(const struct evidence *e, struct findings *f, size_t first, size_t end)
{
	const struct snap_session *worst = NULL;
	struct snap_finding *finding;

	for (size_t i = first; i < end; i++) {
		const struct snap_session *s = &e->s->sessions[i];

		if (!troubled(e, i))
			continue;
		if (!worst || speaks_better(s, worst))
			worst = s;
	}
	if (!worst)
		return;
	finding = findings_add(f, worst->cause, false, subject(f, "peer", worst->peer),
			       worst->reason, 0);
	if (worst->has_loss)
		hang_on(f, finding,
			(struct snap_evidence){.name = "loss_ratio",
					       .value = worst->loss_ratio,
					       .window_seconds = worst->window_seconds});
}

static void find_duplicates(const struct judge_input *in, struct findings *f)
{
	for (size_t i = 0; i < in->n_duplicates; i++)
		findings_add(
			f, CAUSE_CONFIGURATION, false, subject(f, "host", in->duplicates[i]),
			snapshot_printf(f->s,
					"two live daemons call themselves %s and push each other's "
					"connections aside: give one of them another [daemon] name",
					in->duplicates[i]),
			0);
}

/* Whether an earlier session of that peer is to the same address. */
static bool address_seen(const struct snapshot *s, size_t first, size_t i)
{
	for (size_t before = first; before < i; before++)
		if (!strcmp(s->sessions[before].address, s->sessions[i].address))
			return true;
	return false;
}

/* The endpoint is well, but not where the list has it: an address that moved or is there twice, or
 * a list and a [daemon] name that differ. Labels stay those of the list. */
static void find_other_names(const struct evidence *e, struct findings *f, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct snap_session *s = &e->s->sessions[i];
		const char *name = e->in[i].answers_as;

		if (s->state != SESSION_UP || !name || !name[0] || address_seen(e->s, first, i))
			continue;
		findings_mark_minor(
			f, findings_add(
				   f, CAUSE_CONFIGURATION, false, subject(f, "address", s->address),
				   snapshot_printf(f->s,
						   "%s is listed as %s, but %s answers there: was "
						   "the address moved, or is it there twice? Else "
						   "the list and the [daemon] name there differ",
						   s->address, s->peer, name),
				   0));
	}
}

/* Probing goes on with the list that is known. */
static void find_hanging_file(struct findings *f)
{
	const struct snapshot *s = f->s;

	if (!s->peer_file_hangs_wall_ns)
		return;
	findings_mark_minor(
		f, findings_add(f, CAUSE_LOCAL_HOST, false, subject(f, "file", s->peer_file),
				snapshot_printf(f->s,
						"the peer file %s cannot be read: its file system "
						"does not answer; the list in force stays, and the "
						"file is read as soon as it can be",
						s->peer_file),
				s->peer_file_hangs_wall_ns));
}

static void find_unkept_journal(struct findings *f)
{
	const struct snapshot *s = f->s;

	if (!s->journal.failing_wall_ns)
		return;
	findings_mark_minor(
		f, findings_add(f, CAUSE_MONITOR, false, "host:journal",
				snapshot_printf(f->s,
						"events are not kept on disk: %s; the last ones "
						"stay in memory, and it is tried again",
						s->journal.words),
				s->journal.failing_wall_ns));
}

static void find_refusals(const struct judge_input *in, struct findings *f)
{
	for (size_t i = 0; i < in->n_refusals; i++)
		findings_add(f, CAUSE_CONFIGURATION, false,
			     subject(f, "peer", in->refusals[i].peer), in->refusals[i].text, 0);
}

void judge_findings(const struct evidence *e, const struct judge_input *in, struct findings *f)
{
	const struct snapshot *s = e->s;

	for (size_t i = 0; i < s->n_rails; i++) {
		find_rail(e, f, i);
		find_dead_rail(e, f, i);
	}
	find_missing_rails(f);
	for (size_t i = 0; i < s->n_devices; i++) {
		find_worker(f, &s->devices[i]);
		find_doubted(e, f, i);
		find_released(f, &s->devices[i]);
		find_trouble(f, &s->devices[i], in->devices[i].trouble);
		find_zero_guid(f, &s->devices[i]);
		find_hanging_counters(f, &s->devices[i]);
		find_saturated(f, &s->devices[i]);
		find_stalled(f, &s->devices[i]);
	}
	judge_facts(in, f);
	find_duplicates(in, f);
	find_refusals(in, f);
	find_hanging_file(f);
	find_unkept_journal(f);
	for (size_t i = 0; i < s->n_sessions; i = e->peer_end[i]) {
		find_peer(e, f, i, e->peer_end[i]);
		find_other_names(e, f, i, e->peer_end[i]);
	}
}
