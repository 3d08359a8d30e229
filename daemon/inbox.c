#include "daemon/inbox.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/commander.h"
#include "daemon/daemon.h"
#include "daemon/looker.h"
#include "daemon/planner.h"
#include "daemon/stopper.h"
#include "daemon/subnets.h"
#include "daemon/wishes.h"
#include "probes/wire.h"

#define DRAINS_A_MINUTE 30   /* in the journal, of one device */
#define ASYNC_A_MINUTE 10    /* in the log, of one device */
#define REFUSALS_A_MINUTE 12 /* in both */
#define CORRUPT_A_MINUTE 6   /* in both */

/* --- the host's name --- */

static void pick_name(const struct daemon *d, char name[FACT_NAME])
{
	const char *listed = peers_mesh_name(d->peers);

	if (d->config.name[0] != '\0' || listed) {
		name_copy(name, FACT_NAME, listed && !d->config.name[0] ? listed : d->config.name);
		return;
	}
	memset(name, 0, FACT_NAME);
	/* One that is cut may lack its end. */
	if (gethostname(name, FACT_NAME) < 0 || name[FACT_NAME - 1] != '\0' || !name_valid(name))
		name_copy(name, FACT_NAME, "localhost");
}

static void send_config(const struct daemon *d, struct device *dev)
{
	struct wishes_config how = {
		.config = &d->config,
		.host = d->host,
		.device = dev->name,
		.sysfs_root = d->options->sysfs_root,
		.counters_only = d->options->sysfs_only,
		.instance = d->instance,
		.generation = dev->generation,
	};

	if (!dev->proc || dev->stopping)
		return;
	wishes_send_config(dev->proc, &how);
	dev->classes.n = d->config.n_classes;
	for (size_t i = 0; i < d->config.n_classes; i++)
		name_copy(dev->classes.name[i], FACT_NAME, d->config.classes[i].name);
}

void inbox_configure_worker(struct daemon *d, struct device *dev)
{
	send_config(d, dev);
	if (dev->proc && !dev->stopping)
		wishes_send_accept(dev->proc, d->peers);
}

void inbox_send_accept(struct daemon *d)
{
	for (size_t i = 0; i < supervisor_count(d->supervisor); i++) {
		struct device *dev = supervisor_get(d->supervisor, i);

		if (dev->proc && !dev->stopping)
			wishes_send_accept(dev->proc, d->peers);
	}
}

void inbox_name_host(struct daemon *d)
{
	char name[FACT_NAME];

	pick_name(d, name);
	if (strcmp(name, d->host) == 0)
		return;
	log_info("this host is %s in the mesh", name);
	name_copy(d->host, sizeof(d->host), name);
	for (size_t i = 0; i < supervisor_count(d->supervisor); i++)
		send_config(d, supervisor_get(d->supervisor, i));
}

/* --- rails --- */

/* A session's QPs are bound to the address: that it is another explains what follows. */
static void add_rail_event(struct daemon *d, const struct rail *rail, enum rail_change change)
{
	const struct rail_fact *f = &rail->fact;
	char where[FACT_ADDRESS + 32] = "";

	if (change == RAIL_READDRESSED)
		snprintf(where, sizeof(where),
			 "address or GID changed (%s): ", f->address[0] ? f->address : "none");
	journal_add(d->journal, clock_wall_ns(), "rail", rail->device, rail->name, NULL, "%s%s%s%s",
		    where, f->up ? "up" : "down", f->up ? "" : ": ", f->up ? "" : f->reason);
}

static void tell_rail(struct daemon *d, const struct rail *rail, enum rail_change change)
{
	const struct rail_fact *f = &rail->fact;

	switch (change) {
	case RAIL_SAME:
	case RAIL_CONFLICT:
	case RAIL_IGNORED:
		return;
	case RAIL_APPEARED:
	case RAIL_READDRESSED:
	case RAIL_UP:
	case RAIL_DOWN:
		break;
	}
	log_msg(f->up ? LOG_LEVEL_INFO : LOG_LEVEL_WARN, "rail %s (%s port %u, %s, %s) is %s%s%s",
		rail->name, rail->device, f->port, f->netdev[0] ? f->netdev : "no netdev",
		f->address[0] ? f->address : "no address", f->up ? "up" : "down", f->up ? "" : ": ",
		f->up ? "" : f->reason);
	add_rail_event(d, rail, change);
}

/* A new own address may name this host, and is no peer from now on. */
static bool learn_address(struct daemon *d, const struct rail *rail)
{
	char err[CONF_MAX_ERROR];
	union address own;

	if (address_parse(rail->fact.address, &own, err, sizeof(err)) < 0 ||
	    !peers_learn_own(d->peers, &own))
		return false;
	inbox_name_host(d);
	inbox_send_accept(d);
	return true;
}

/* True: what is planned may be another now. */
static bool learn_rail(struct daemon *d, struct device *dev, uint32_t index,
		       const struct rail_fact *fact)
{
	struct rail *rail;
	enum rail_change change;

	if (dev->excluded)
		return false;
	change = rails_learn(d->rails, dev->name, index, fact, &rail);
	if (change == RAIL_CONFLICT && !dev->conflict_told) {
		dev->conflict_told = true;
		log_warn("%s port %u would be rail %s too, which another port has: name it by "
			 "device in its [rail] section",
			 dev->name, fact->port, fact->name);
	}
	if (!rail)
		return false;
	if (change == RAIL_APPEARED)
		dev->rail_ns = clock_now_ns();
	tell_rail(d, rail, change);
	if (change == RAIL_APPEARED || change == RAIL_READDRESSED)
		d->subnets.looked_ns = 0;
	/* One that is up again may be so at another address. */
	return learn_address(d, rail) || change == RAIL_APPEARED || change == RAIL_READDRESSED ||
	       change == RAIL_UP;
}

void inbox_read_rails(struct daemon *d, struct device *dev)
{
	const struct table *table = worker_proc_table(dev->proc);
	bool replan = false;

	for (uint32_t i = 0; i < RAIL_MAX; i++) {
		struct rail_fact fact;

		if (table_get_rail(table, i, &fact))
			replan |= learn_rail(d, dev, i, &fact);
	}
	if (replan)
		planner_run(d);
}

/* --- facts --- */

static void on_session(struct daemon *d, struct device *dev, const struct fact *f)
{
	struct session *s = sessions_in_row(d->sessions, dev->name, f->row, f->session_id);
	enum session_state state = (enum session_state)f->number;
	bool first_loss = state == SESSION_BACKOFF && f->conn.attempts_in_row <= 1;

	looker_soon(d->looker);
	if (!s)
		return;
	session_take_conn(s, &f->conn);
	/* A dead peer is tried for ever: only the way up, down and the first failure are events. */
	if (state != SESSION_UP && f->old != SESSION_UP && !first_loss)
		return;
	journal_add(d->journal, clock_wall_ns(), "session", dev->name, s->key.rail, s->key.peer,
		    "%s -> %s%s%s", session_state_name((enum session_state)f->old),
		    session_state_name(state), f->conn.reason[0] ? ": " : "", f->conn.reason);
}

/* Every QP that ends raises it, some drivers several times: counted, and told by the drain. */
static bool async_is_routine(unsigned event)
{
	return strcmp(async_event_names[event], "qp_last_wqe_reached") == 0;
}

static void on_async(struct daemon *d, struct device *dev, const struct fact *f)
{
	char port[32] = "";
	unsigned held_back;

	looker_soon(d->looker);
	if (async_is_routine(f->number))
		return;
	if (f->port)
		snprintf(port, sizeof(port), " port %u", f->port);
	journal_add(d->journal, clock_wall_ns(), "async", dev->name, NULL, NULL, "%s%s%s",
		    async_event_names[f->number], f->port ? " on" : "", port);
	if (ratelimit_allow(&dev->async_limit, clock_now_ns(), ASYNC_A_MINUTE, &held_back))
		log_info("%s%s: event %s", dev->name, port, async_event_names[f->number]);
}

/* Connects to dead peers end in drains all the time: they must not push all else out of the
 * journal. One that timed out is always worth its place. */
static void on_drain(struct daemon *d, struct device *dev, const struct fact *f)
{
	enum drain_outcome outcome = (enum drain_outcome)f->number;
	unsigned held_back;
	char more[64] = "";

	if (!ratelimit_allow(&dev->drain_limit, clock_now_ns(), DRAINS_A_MINUTE, &held_back) &&
	    outcome != DRAIN_TIMEOUT)
		return;
	if (held_back)
		snprintf(more, sizeof(more), " (and %u more in the minutes before)", held_back);
	journal_add(d->journal, clock_wall_ns(), "drain", dev->name, NULL, NULL, "%s%s%.160s%s",
		    drain_outcome_name(outcome), f->text[0] ? ": " : "", f->text, more);
}

static void on_device(struct daemon *d, struct device *dev, const struct fact *f)
{
	if (f->text[0] != '\0')
		log_warn("%s: %s", dev->name, f->text);
	else
		log_info("%s: can be used again", dev->name);
	journal_add(d->journal, clock_wall_ns(), "device", dev->name, NULL, NULL, "%s",
		    f->text[0] ? f->text : "usable");
}

/* Our list's own word for it, else what its bearers say, else the address that the text begins
 * with. */
static void duplicate_name(const struct daemon *d, const struct fact *f, char name[FACT_NAME])
{
	for (size_t i = 0; i < peers_count(d->peers); i++)
		if (hash_str(peers_get(d->peers, i)->host) == f->host_hash) {
			name_copy(name, FACT_NAME, peers_get(d->peers, i)->host);
			return;
		}
	if (name_valid(f->host))
		name_copy(name, FACT_NAME, f->host);
	else
		snprintf(name, FACT_NAME, "%.*s", (int)strcspn(f->text, " "), f->text);
}

static void on_stalled(struct daemon *d, struct device *dev, bool stalled)
{
	const char *text = stalled ? "rdma_cm does not answer: no connection can be made"
				   : "rdma_cm answers again";

	dev->cm_stalled_wall_ns = stalled ? clock_wall_ns() : 0;
	log_msg(stalled ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "%s: %s", dev->name, text);
	journal_add(d->journal, clock_wall_ns(), "device", dev->name, NULL, NULL, "%s", text);
	looker_soon(d->looker);
}

/* The books count each; how it was wrong is worth a line, not one for each of a stream of them. */
static void on_corrupt(struct daemon *d, struct device *dev, const struct fact *f)
{
	struct session *s = sessions_in_row(d->sessions, dev->name, f->row, f->session_id);
	unsigned held_back;

	if (!s ||
	    !ratelimit_allow(&dev->corrupt_limit, clock_now_ns(), CORRUPT_A_MINUTE, &held_back))
		return;
	log_warn("%s: %s, rail %s: %s", dev->name, s->key.peer, s->key.rail, f->text);
	journal_add(d->journal, clock_wall_ns(), "corrupt", dev->name, s->key.rail, s->key.peer,
		    "%s", f->text);
}

static void on_answered(struct daemon *d, struct device *dev, const struct fact *f)
{
	struct session *s = sessions_in_row(d->sessions, dev->name, f->row, f->session_id);

	if (!s || (f->host[0] && !name_valid(f->host)) || !strcmp(s->answers_as, f->host))
		return;
	name_copy(s->answers_as, sizeof(s->answers_as), f->host);
	log_msg(f->host[0] ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "%s, listed as %s, answers as %s",
		s->target.text, s->key.peer, f->host[0] ? f->host : s->key.peer);
	journal_add(d->journal, clock_wall_ns(), "session", dev->name, s->key.rail, s->key.peer,
		    "%s answers as %s", s->target.text, f->host[0] ? f->host : s->key.peer);
	looker_soon(d->looker);
}

static void on_duplicate(struct daemon *d, struct device *dev, const struct fact *f)
{
	unsigned held_back;

	dev->duplicate_ns = clock_now_ns();
	duplicate_name(d, f, dev->duplicate);
	if (!ratelimit_allow(&dev->duplicate_limit, dev->duplicate_ns, 1, &held_back))
		return;
	log_warn("%s: two live daemons say that they are one host: %s", dev->name, f->text);
	journal_add(d->journal, clock_wall_ns(), "duplicate", dev->name, NULL, NULL, "%s", f->text);
}

/* The address that the text of a refusal begins with, as the list names it; NULL: not in the list.
 */
static const char *listed_as(const struct daemon *d, const char *text)
{
	char word[FACT_ADDRESS], err[CONF_MAX_ERROR];
	union address a;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " "), text);
	if (address_parse(word, &a, err, sizeof(err)) < 0)
		return NULL;
	for (size_t i = 0; i < peers_count(d->peers); i++)
		if (address_equal(&peers_get(d->peers, i)->address, &a))
			return peers_get(d->peers, i)->host;
	return NULL;
}

/* The worker has thinned them out. */
static void on_refused(struct daemon *d, struct device *dev, const struct fact *f)
{
	bool secret = f->number == WIRE_REJECT_SECRET_WANTED ||
		      f->number == WIRE_REJECT_NO_SECRET || f->number == WIRE_REJECT_SECRET_DIFFERS;
	const char *peer = listed_as(d, f->text);
	unsigned held_back;

	if (secret && peer) {
		refusals_note(&d->refusals, peer, f->number, clock_now_ns());
		looker_soon(d->looker);
	}
	if (!ratelimit_allow(&dev->refused_limit, clock_now_ns(), REFUSALS_A_MINUTE, &held_back))
		return;
	log_warn("%s: %s", dev->name, f->text);
	journal_add(d->journal, clock_wall_ns(), "refused", dev->name, NULL, peer, "%s", f->text);
}

static void on_fact(void *arg, struct device *dev, const struct fact *f)
{
	struct daemon *d = arg;
	struct sessions_context ctx = daemon_sessions_context(d);

	switch ((enum fact_type)f->type) {
	case FACT_READY:
		sessions_place(d->sessions, dev, &ctx);
		break;
	case FACT_RAIL:
		if (learn_rail(d, dev, f->rail, &f->rail_fact))
			planner_run(d);
		looker_soon(d->looker);
		break;
	case FACT_SESSION:
		on_session(d, dev, f);
		break;
	case FACT_REMOVED:
		sessions_removed(d->sessions, dev, f->row, f->session_id, &ctx);
		break;
	case FACT_ATTENTION:
		looker_soon(d->looker);
		break;
	case FACT_CORRUPT:
		on_corrupt(d, dev, f);
		break;
	case FACT_ASYNC:
		on_async(d, dev, f);
		break;
	case FACT_DRAIN:
		on_drain(d, dev, f);
		break;
	case FACT_DEVICE:
		on_device(d, dev, f);
		break;
	case FACT_DUPLICATE:
		on_duplicate(d, dev, f);
		break;
	case FACT_REFUSED:
		on_refused(d, dev, f);
		break;
	case FACT_STALLED:
		on_stalled(d, dev, f->number);
		break;
	case FACT_ANSWERED:
		on_answered(d, dev, f);
		break;
	case FACT_BYE:
		break;
	}
}

/* --- workers --- */

static void on_started(void *arg, struct device *dev)
{
	struct daemon *d = arg;

	dev->conflict_told = false;
	inbox_configure_worker(d, dev);
}

/* The last look into its table: what is not read now is lost. */
static void on_ended(void *arg, struct device *dev)
{
	struct daemon *d = arg;
	struct sessions_context ctx = daemon_sessions_context(d);

	looker_read_device(d->looker, dev);
	rails_worker_ended(d->rails, dev->name);
	sessions_worker_ended(d->sessions, dev, &ctx);
	device_totals_fold(&dev->totals);
	looker_soon(d->looker);
}

static void on_state(void *arg, struct device *dev, const char *text)
{
	struct daemon *d = arg;
	enum log_level level = LOG_LEVEL_INFO;

	switch (dev->state) {
	case WORKER_STUCK:
	case WORKER_BACKOFF:
		level = LOG_LEVEL_WARN;
		break;
	case WORKER_STARTING:
	case WORKER_UP:
	case WORKER_EXITED:
	case WORKER_RELEASED:
		break;
	}
	log_msg(level, "%s: %s", dev->name, text);
	journal_add(d->journal, clock_wall_ns(), "worker", dev->name, NULL, NULL, "%s", text);
	looker_soon(d->looker);
	commander_check(d->commander, clock_now_ns());
	stopper_check(d);
}

const struct device_events inbox_events = {
	.started = on_started,
	.fact = on_fact,
	.ended = on_ended,
	.state = on_state,
};
