#include "health/blame.h"

#include <string.h>

#include "health/when.h"

#define PORT_ACTIVE 4u /* of sysfs `state` */

static const char *const op_words[OP_COUNT] = {"SEND", "READ", "WRITE", "ATOMIC"};

/* --- our own side --- */

struct blame blame_worker(struct snapshot *s, const struct snap_device *d)
{
	struct blame b = {VERDICT_UNKNOWN, CAUSE_MONITOR, ""};
	char since[WHEN_LEN];

	when_text(d->worker_since_wall_ns, since);
	switch (d->worker_state) {
	case WORKER_UP:
		b.cause = CAUSE_NONE;
		break;
	case WORKER_STARTING:
		b.cause = CAUSE_NONE;
		b.reason = snapshot_printf(s, "the worker of %s is starting", d->name);
		break;
	case WORKER_RELEASED:
		b.cause = CAUSE_NONE;
		b.reason = snapshot_printf(s,
					   "%s is released since %s: 'rdma-pingmesh acquire %s' "
					   "takes it back",
					   d->name, since, d->name);
		break;
	case WORKER_STUCK:
		b.reason =
			snapshot_printf(s,
					"the worker of %s is stuck since %s: the NIC or its driver "
					"does not answer, or the process is frozen; nothing is "
					"measured over it",
					d->name, since);
		break;
	case WORKER_EXITED:
		if (d->gone) {
			b.cause = CAUSE_LOCAL_NIC;
			b.reason = snapshot_printf(s,
						   "%s is gone from this host since %s: is the NIC "
						   "there and its driver loaded?",
						   d->name, since);
			break;
		}
		b.reason = snapshot_printf(
			s, "the worker of %s ended at %s; nothing is measured over it", d->name,
			since);
		break;
	case WORKER_BACKOFF:
		b.reason =
			snapshot_printf(s,
					"the worker of %s ended at %s and is being restarted with "
					"delay (%llu restarts so far); nothing is measured over it",
					d->name, since, (unsigned long long)d->restarts);
		break;
	}
	return b;
}

static const struct port_fact *port_of(const struct snapshot *s, const struct snap_rail *r)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		if (strcmp(d->name, r->fact.device))
			continue;
		for (size_t p = 0; p < d->n_ports; p++)
			if (d->ports[p].port == r->fact.port)
				return &d->ports[p];
	}
	return NULL;
}

/* Not the port's fault when the rail has no address, or cannot be probed by its kind. What sysfs
 * said some seconds ago may still call a port active that has just gone down, so that alone
 * proves nothing. */
static bool rail_misconfigured(const struct snapshot *s, const struct snap_rail *r)
{
	const struct port_fact *p = port_of(s, r);

	if (p && p->state_known && p->state != PORT_ACTIVE)
		return false;
	return !r->fact.address[0] || (p && p->link_layer == LINK_LAYER_UNKNOWN);
}

struct blame blame_rail(const struct evidence *e, size_t rail, struct snapshot *s)
{
	const struct snap_rail *r = &s->rails[rail];
	const char *trouble = evidence_trouble(e, rail);
	struct blame b = {VERDICT_FAILING, CAUSE_LOCAL_PORT, ""};

	if (!r->present) {
		b.cause = CAUSE_LOCAL_NIC;
		b.reason = snapshot_printf(
			s,
			r->fact.device[0] ? "rail %s is gone: no RDMA device here carries it now"
					  : "rail %s is configured, and no RDMA device here has "
					    "carried it so "
					    "far: its NIC or driver is missing, or its [rail] "
					    "section asks for "
					    "what does not exist",
			r->name);
		return b;
	}
	if (trouble) {
		b.cause = CAUSE_LOCAL_HOST;
		b.reason = snapshot_printf(s, "%s is not probed: %s", r->fact.device, trouble);
		return b;
	}
	if (rail_misconfigured(s, r)) {
		b.cause = CAUSE_CONFIGURATION;
		b.reason = snapshot_printf(s, "rail %s cannot be used: %s", r->name,
					   r->fact.reason[0] ? r->fact.reason
							     : "it has no usable address");
		return b;
	}
	b.reason = snapshot_printf(
		s, "port %u of %s (rail %s%s%s) is down: %s", r->fact.port, r->fact.device, r->name,
		r->fact.netdev[0] ? ", " : "", r->fact.netdev,
		r->fact.reason[0] ? r->fact.reason : "check cable and switch port");
	return b;
}

static struct blame blame_own_side(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	const char *why = e->in[i].conn_reason;
	struct blame b = {VERDICT_UNKNOWN, CAUSE_CONFIGURATION, ""};

	if (session->state == SESSION_DISABLED) {
		b.reason = snapshot_printf(s, "not probed: %s",
					   why && why[0] ? why : "disabled by the configuration");
		return b;
	}
	if (e->device[i] != NOT_FOUND && s->devices[e->device[i]].worker_state != WORKER_UP)
		return blame_worker(s, &s->devices[e->device[i]]);
	if (evidence_doubted(e, i)) {
		b.cause = CAUSE_MONITOR;
		b.reason = snapshot_printf(s,
					   "the worker of %s is not believed (%s): the figures of "
					   "this session are those from before",
					   session->device, e->in[i].doubt);
		return b;
	}
	if (e->rail[i] != NOT_FOUND)
		b = blame_rail(e, e->rail[i], s);
	else
		b.cause = CAUSE_LOCAL_NIC;
	b.verdict = VERDICT_UNKNOWN;
	b.reason = snapshot_printf(s, "nothing is known about %s: %s", session->peer,
				   b.reason[0] ? b.reason : "its rail is gone");
	return b;
}

/* --- words --- */

static bool is_listed(const struct evidence *e, size_t i, enum op op, bool missing)
{
	return missing ? evidence_missing(e->in[i].memory, op) : evidence_answers(e, i, op);
}

/* "SEND", "SEND, READ and WRITE": those that miss, or else those that answer; "" for none. An
 * ending makes each of them many. */
static const char *op_list(const struct evidence *e, size_t i, struct snapshot *s, bool missing,
			   const char *ending)
{
	const char *list = "";
	unsigned last = OP_COUNT;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (is_listed(e, i, (enum op)op, missing))
			last = op;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (!is_listed(e, i, (enum op)op, missing))
			continue;
		list = snapshot_printf(s, "%s%s%s%s", list,
				       !list[0]	    ? ""
				       : op == last ? " and "
						    : ", ",
				       op_words[op], ending);
	}
	return list;
}

/* " (retry exceeded)" or "". While the session is up its last error is of an earlier connection. */
static const char *error_words(const struct snap_session *session, struct snapshot *s)
{
	if (session->state == SESSION_UP || !session->error.wall_ns || !session->error.text[0])
		return "";
	return snapshot_printf(s, " (%.*s)", FACT_NAME, session->error.text);
}

/* --- the peer is reached --- */

static bool about_secret(const struct snap_session *session)
{
	static const char *const said[] = {SAID_SECRET_WANTED, SAID_NO_SECRET, SAID_SECRET_DIFFERS,
					   SAID_UNPROVEN};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (!strcmp(session->error.text, said[i]))
			return true;
	return false;
}

static struct blame blame_rejected(const struct snap_session *session, const char *since,
				   struct snapshot *s)
{
	struct blame b = {VERDICT_FAILING, CAUSE_REMOTE_HOST, ""};

	if (!strcmp(session->error.text, SAID_NOT_LISTED)) {
		b.cause = CAUSE_CONFIGURATION;
		b.reason = snapshot_printf(s,
					   "%s refuses us since %s: its list has no peer with the "
					   "address of rail %s; both hosts need the same list, or "
					   "[peers] accept = any there",
					   session->peer, since, session->rail);
	} else if (!strcmp(session->error.text, SAID_LEAVING) ||
		   !strcmp(session->error.text, SAID_GOODBYE)) {
		b.reason = snapshot_printf(s,
					   "rdma-pingmeshd on %s said goodbye: it was stopped on "
					   "purpose (since %s)",
					   session->peer, since);
	} else if (about_secret(session)) {
		b.cause = CAUSE_CONFIGURATION;
		b.reason = snapshot_printf(s,
					   "%s and this host do not share a secret since %s%s: "
					   "[peers] secret_file must hold the same on both",
					   session->peer, since, error_words(session, s));
	} else if (!strcmp(session->error.text, SAID_CLOSED)) {
		b.reason = snapshot_printf(s,
					   "%s accepts connections on rail %s and closes them at "
					   "once since %s: see the log of rdma-pingmeshd there",
					   session->peer, session->rail, since);
	} else if (!strcmp(session->error.text, SAID_NO_RESOURCES)) {
		b.reason = snapshot_printf(s,
					   "%s has no queue pair, memory or place left for a "
					   "connection since %s: look at limits.qps_per_device, "
					   "LimitMEMLOCK and the QPs of its device there",
					   session->peer, since);
	} else {
		b.reason = snapshot_printf(
			s,
			"%s refuses connections on rail %s since %s%s: its NIC and "
			"kernel answer, but nothing listens on the RDMA port: is "
			"rdma-pingmeshd running there?",
			session->peer, session->rail, since, error_words(session, s));
	}
	return b;
}

static struct blame blame_refused(const struct snap_session *session, uint64_t since_wall_ns,
				  struct snapshot *s)
{
	struct blame b = {VERDICT_FAILING, CAUSE_CONFIGURATION, ""};
	char since[WHEN_LEN];

	when_text(since_wall_ns, since);
	switch (session->error.connect_failure) {
	case CONNECT_STALE:
		b.cause = CAUSE_REMOTE_HOST;
		b.reason = snapshot_printf(s,
					   "%s still holds an old connection of ours since %s and "
					   "refuses a new one; it should give in by itself",
					   session->peer, since);
		return b;
	case CONNECT_VERSION:
		b.reason =
			snapshot_printf(s,
					"%s runs a version of rdma-pingmeshd that does not talk to "
					"this one (since %s): upgrade the older of the two",
					session->peer, since);
		return b;
	case CONNECT_HELLO:
		b.reason = snapshot_printf(
			s,
			"%s connects but its first message is not understood since "
			"%s%s: compare the versions, and whether the address is "
			"really %s",
			session->peer, since, error_words(session, s), session->peer);
		return b;
	}
	return blame_rejected(session, since, s);
}

static bool only_missing(const struct evidence *e, size_t i, enum op op)
{
	for (unsigned other = 0; other < OP_COUNT; other++)
		if (other != op && evidence_missing(e->in[i].memory, (enum op)other))
			return false;
	return evidence_missing(e->in[i].memory, op);
}

static struct blame blame_partly(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	const char *works = op_list(e, i, s, false, "");
	struct blame b = {VERDICT_FAILING, CAUSE_INCONCLUSIVE, ""};
	char since[WHEN_LEN];

	when_text(evidence_missing_since(e->in[i].memory), since);
	if (evidence_refused(e, i))
		return blame_refused(session, evidence_missing_since(e->in[i].memory), s);
	if (only_missing(e, i, OP_SEND)) {
		b.cause = CAUSE_REMOTE_HOST;
		b.reason = snapshot_printf(
			s,
			"the host %s stopped answering on rail %s since %s; its NIC "
			"still %s%s: the host or rdma-pingmeshd there is frozen or "
			"overloaded, network and NIC are fine",
			session->peer, session->rail, since,
			works[0] ? "does " : "acknowledges SENDs", op_list(e, i, s, false, "s"));
	} else if (e->in[i].books_verdict != VERDICT_DEGRADED && /* one miss proves no defect */
		   !evidence_missing(e->in[i].memory, OP_SEND) && evidence_answers(e, i, OP_SEND)) {
		b.cause = CAUSE_REMOTE_NIC;
		b.reason = snapshot_printf(s,
					   "%s to %s on rail %s fails since %s%s while SENDs are "
					   "echoed: its NIC or PCIe does not serve its memory",
					   op_list(e, i, s, true, ""), session->peer, session->rail,
					   since, error_words(session, s));
	} else {
		b.reason = snapshot_printf(s, "%s to %s on rail %s misses since %s%s; %s works",
					   op_list(e, i, s, true, ""), session->peer, session->rail,
					   since, error_words(session, s),
					   works[0] ? works : "its NIC");
	}
	return b;
}

/* --- silence: compare with the others --- */

static const char *others_words(unsigned n, const char *rail, struct snapshot *s)
{
	return snapshot_printf(s, "%u other peer%s on rail %s %s fine", n, n == 1 ? "" : "s", rail,
			       n == 1 ? "is" : "are");
}

/* All of a rack or pod, and nobody else: what they share is the path. */
static bool blame_place(const struct evidence *e, size_t i, bool pod, const char *since,
			struct snapshot *s, struct blame *ret)
{
	struct tally same, others;

	evidence_place(e, i, pod, &same, &others);
	if (same.reached || same.silent < PEERS_TO_JUDGE || !others.reached)
		return false;
	ret->cause = CAUSE_PATH;
	ret->reason = snapshot_printf(s,
				      "all %u peers in %s %s are silent since %s, %u elsewhere "
				      "answer: the path to that %s, its switch or power",
				      same.silent, pod ? "pod" : "rack",
				      pod ? e->in[i].pod : e->in[i].rack, since, others.reached,
				      pod ? "pod" : "rack");
	return true;
}

/* Another rail reaches the peer. */
static struct blame blame_one_rail(const struct evidence *e, size_t i, unsigned others,
				   const char *head, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	size_t way = evidence_other_way(e, i, false), same = evidence_other_way(e, i, true);
	struct blame b = {VERDICT_FAILING, CAUSE_INCONCLUSIVE, ""};

	if (same != NOT_FOUND) {
		b.cause = CAUSE_PATH;
		b.reason =
			snapshot_printf(s,
					"%s; the same address answers over rail %s, so %s and its "
					"NIC are fine: the path from rail %s to it",
					head, s->sessions[same].rail, session->peer, session->rail);
	} else if (others + 1 >= PEERS_TO_JUDGE) {
		b.cause = CAUSE_REMOTE_NIC;
		b.reason = snapshot_printf(s,
					   "%s; %s, and %s answers over rail %s: its NIC %s, that "
					   "NIC's cable or switch port",
					   head, others_words(others, session->rail, s),
					   session->peer, s->sessions[way].rail, session->address);
	} else {
		b.reason = snapshot_printf(
			s,
			"%s; %s answers over rail %s, so the host is alive; "
			"our NIC, its NIC and the path of rail %s cannot be told "
			"apart with %s",
			head, session->peer, s->sessions[way].rail, session->rail,
			others ? "one other peer" : "no other peer to compare with");
	}
	return b;
}

/* Our rail reaches the peer otherwise: in another class, or at another of its NICs. */
static struct blame blame_by_contrast(const struct evidence *e, size_t i, const char *head,
				      struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	const struct snap_session *other = &s->sessions[evidence_same_rail(e, i)];
	struct blame b = {VERDICT_FAILING, CAUSE_REMOTE_NIC, ""};

	if (!strcmp(other->address, session->address)) {
		b.cause = CAUSE_PATH;
		b.reason = snapshot_printf(s,
					   "%s in class %s; class %s between the same two NICs is "
					   "fine: what the switches do with that class (QoS, PFC)",
					   head, session->class_name, other->class_name);
	} else {
		b.reason =
			snapshot_printf(s,
					"%s at %s; its address %s answers over the same rail: its "
					"NIC %s, that NIC's cable or switch port",
					head, session->address, other->address, session->address);
	}
	return b;
}

static struct blame blame_silent(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	unsigned others = e->rails[e->rail[i]].reached; /* this peer is silent on it */
	struct tally rails = evidence_peer_rails(e, i);
	struct blame b = {VERDICT_FAILING, CAUSE_INCONCLUSIVE, ""};
	const char *head;
	char since[WHEN_LEN];

	when_text(evidence_missing_since(e->in[i].memory), since);
	/* One miss is not silence yet. */
	head = snapshot_printf(s, "%s %s on rail %s since %s%s", session->peer,
			       e->in[i].books_verdict == VERDICT_DEGRADED ? "missed a probe"
									  : "is silent",
			       session->rail, since, error_words(session, s));
	if (blame_place(e, i, false, since, s, &b) || blame_place(e, i, true, since, s, &b))
		return b;
	if (evidence_same_rail(e, i) != NOT_FOUND)
		return blame_by_contrast(e, i, head, s);
	if (evidence_other_way(e, i, false) != NOT_FOUND)
		return blame_one_rail(e, i, others, head, s);
	if (rails.silent >= 2 && others + 1 >= PEERS_TO_JUDGE) {
		b.cause = CAUSE_REMOTE_HOST;
		b.reason = snapshot_printf(
			s, "%s, as on all its %u rails; %s: the host is down or cut off", head,
			rails.silent, others_words(others, session->rail, s));
	} else if (others) {
		b.reason = snapshot_printf(
			s,
			"%s; %s, so not this host; %s, its NIC and the path to it "
			"cannot be told apart from here",
			head, others_words(others, session->rail, s), session->peer);
	} else {
		b.reason = snapshot_printf(s,
					   "%s; no other peer on the rail answers to compare with: "
					   "this host, %s or the path between",
					   head, session->peer);
	}
	return b;
}

/* Its session to itself passes the host and the NIC, and no cable: ", ..." or "". */
static const char *loopback_words(const struct snapshot *s, const char *rail)
{
	for (size_t i = 0; i < s->n_loopbacks; i++) {
		if (strcmp(s->loopbacks[i].rail, rail))
			continue;
		switch (s->loopbacks[i].verdict) {
		case VERDICT_OK:
			return "; its loopback answers, so rather cable or switch port";
		case VERDICT_FAILING:
			return "; its loopback fails too, so rather the NIC or its driver";
		case VERDICT_DEGRADED:
		case VERDICT_UNKNOWN:
			break;
		}
	}
	return "";
}

struct blame blame_dead_rail(const struct evidence *e, size_t rail, struct snapshot *s)
{
	const char *name = s->rails[rail].name, *works = NULL;
	char since[WHEN_LEN];

	for (size_t r = 0; r < s->n_rails && !works; r++)
		if (e->rails[r].reached)
			works = s->rails[r].name;
	return (struct blame){
		VERDICT_FAILING, CAUSE_LOCAL_NIC,
		snapshot_printf(
			s,
			"nothing answers on rail %s since %s: all %u peers are silent at once, "
			"so it is this host's NIC %s, its cable or its switch port%s%s%s",
			name, when_text(e->rail_since[rail], since), e->rails[rail].silent,
			s->rails[rail].fact.device, loopback_words(s, name),
			works ? "; peers answer over rail " : "", works ? works : "")};
}

/* --- one session --- */

/* Nothing is missing now, but not enough successes in a row are together yet. */
static struct blame blame_recovering(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct judge_session *in = &e->in[i];
	const struct window_sums *w = &in->recent;
	struct blame b = {VERDICT_DEGRADED, in->memory->cause, ""};

	if (b.cause == CAUSE_NONE || b.cause == CAUSE_CONGESTION)
		b.cause = CAUSE_INCONCLUSIVE;
	if (b.cause == CAUSE_INCONCLUSIVE && w->late && w->late >= w->failed &&
	    w->answered >= w->due) {
		b.cause = CAUSE_CONGESTION;
		b.reason = snapshot_printf(
			s,
			"answers of %s on rail %s come after the deadline (%llu of "
			"%llu in the last minute, none lost): congestion or a pause",
			s->sessions[i].peer, s->sessions[i].rail, (unsigned long long)w->late,
			(unsigned long long)w->due);
		return b;
	}
	b.reason = snapshot_printf(s, "%s answers again, not yet %u time%s in a row%s%s",
				   s->sessions[i].peer, e->ok_after, e->ok_after == 1 ? "" : "s",
				   in->memory->reason[0] ? "; before: " : "", in->memory->reason);
	return b;
}

static struct blame blame_unable(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	struct blame b = {VERDICT_FAILING, CAUSE_LOCAL_HOST, ""};
	const char *why = e->in[i].conn_reason;
	char since[WHEN_LEN];

	when_text(evidence_missing_since(e->in[i].memory), since);
	if (evidence_nowhere(e, i)) {
		b.cause = CAUSE_CONFIGURATION;
		b.reason = snapshot_printf(
			s,
			"%s is not probed since %s, for its address is not known: "
			"%s; check the peer list and the name servers",
			session->peer, since, why && why[0] ? why : "its host name has none");
	} else if (session->error.connect_failure == CONNECT_WRONG_DEVICE) {
		b.cause = CAUSE_CONFIGURATION;
		b.reason = snapshot_printf(
			s,
			"%s (%s) is not reached over rail %s as it should since "
			"%s%s: check routes, GID types, and the rail of this address "
			"in the peer list",
			session->peer, session->address, session->rail, since,
			error_words(session, s));
	} else if (!strcmp(session->error.text, SAID_STALLED)) {
		b.reason = snapshot_printf(s,
					   "no connection to %s can be made since %s: rdma_cm of "
					   "this host does not answer; see its kernel log",
					   session->peer, since);
	} else {
		b.reason = snapshot_printf(
			s,
			"this host has no resources for a connection to %s since "
			"%s%s: look at limits.qps_per_device, LimitMEMLOCK of the "
			"service and the QPs of %s",
			session->peer, since, error_words(session, s), session->device);
	}
	return b;
}

static struct blame blame_trouble(const struct evidence *e, size_t i, struct snapshot *s)
{
	switch (e->voice[i]) {
	case VOICE_FINE:
		return blame_recovering(e, i, s);
	case VOICE_PARTLY:
		return blame_partly(e, i, s);
	case VOICE_SILENT:
		if (evidence_rail_dead(e, e->rail[i]))
			return blame_dead_rail(e, e->rail[i], s);
		return blame_silent(e, i, s);
	case VOICE_UNMEASURED:
		break;
	}
	return blame_unable(e, i, s);
}

static const char *waiting_words(const struct evidence *e, size_t i, struct snapshot *s)
{
	const struct snap_session *session = &s->sessions[i];
	const char *why = e->in[i].conn_reason;

	if (session->state == SESSION_UP)
		return "connected; not every operation has had an answer yet";
	if (why && why[0])
		return snapshot_printf(s, "not connected yet: %s", why);
	return "not connected yet";
}

struct blame blame_session(const struct evidence *e, size_t i, struct snapshot *s)
{
	enum verdict verdict = e->in[i].books_verdict;
	struct blame b = {verdict, CAUSE_NONE, ""};

	if (!evidence_side_ok(e, i))
		return blame_own_side(e, i, s);
	switch (verdict) {
	case VERDICT_OK:
		return b;
	case VERDICT_UNKNOWN:
		b.reason = waiting_words(e, i, s);
		return b;
	case VERDICT_DEGRADED:
	case VERDICT_FAILING:
		break;
	}
	b = blame_trouble(e, i, s);
	b.verdict = verdict;
	return b;
}
