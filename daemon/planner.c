#include "daemon/planner.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/daemon.h"
#include "daemon/inbox.h"
#include "daemon/namer.h"
#include "daemon/route.h"

#define SETTLE_RAIL_NS NSEC_PER_SEC	/* the rails of a device appear together */
#define SETTLE_UP_NS (5 * NSEC_PER_SEC) /* a device without rails is told as such */
#define SETTLE_START_NS (10 * NSEC_PER_SEC)

/* Rails that can carry sessions: configured, or seen with an address now or before. */
struct planner {
	struct daemon *d;
	struct plan_rail rails[RAILS_MAX];
	const struct rail *of[RAILS_MAX];
	size_t n_rails;
};

static int rail_with_address(const struct planner *p, const union address *source)
{
	char err[CONF_MAX_ERROR];
	union address own;

	for (size_t i = 0; i < p->n_rails; i++)
		if (address_parse(p->of[i]->fact.address, &own, err, sizeof(err)) == 0 &&
		    address_equal(&own, source))
			return (int)i;
	return -1;
}

/* While a link is down its route is gone: what went over a rail before stays there. */
static int rail_of_before(const struct planner *p, const struct target *t)
{
	const struct sessions *sessions = p->d->sessions;

	for (size_t i = 0; i < sessions_count(sessions); i++) {
		const struct session *s = sessions_get(sessions, i);

		if (!s->wanted || strcmp(s->key.peer, t->host) != 0 ||
		    !address_equal(&s->target.address, &t->address))
			continue;
		for (size_t r = 0; r < p->n_rails; r++)
			if (strcmp(p->rails[r].name, s->key.rail) == 0)
				return (int)r;
	}
	return -1;
}

/* A rail whose device was never seen has no route: its subnet tells who is on it. */
static int rail_of_subnet(const struct planner *p, const struct target *t)
{
	for (size_t i = 0; i < p->n_rails; i++) {
		const struct rail_spec *spec = config_rail(&p->d->config, p->rails[i].name);

		if (spec && spec->prefix_len >= 0 &&
		    address_in_subnet(&t->address, &spec->subnet, spec->prefix_len))
			return (int)i;
	}
	return -1;
}

static int route(void *arg, const struct target *t)
{
	const struct planner *p = arg;
	union address source;
	int rail = -1;

	if (route_source(&t->address, &source))
		rail = rail_with_address(p, &source);
	if (rail < 0)
		rail = rail_of_before(p, t);
	if (rail < 0)
		rail = rail_of_subnet(p, t);
	/* One whose address cannot be known has its session all the same, to say so. */
	return rail < 0 && t->address.sa.sa_family == AF_UNSPEC ? 0 : rail;
}

/* The one that had it last, else the one that it is to have. */
static const char *device_of(const struct daemon *d, const struct rail *rail)
{
	const struct rail_spec *spec = config_rail(&d->config, rail->name);

	return rail->device[0] || !spec ? rail->device : spec->device;
}

static void gather_rails(struct planner *p)
{
	for (size_t i = 0; i < rails_count(p->d->rails); i++) {
		const struct rail *rail = rails_get(p->d->rails, i);

		const char *device = device_of(p->d, rail);

		if ((!rail->configured && rail->address[0] == '\0') ||
		    config_device_excluded(&p->d->config, device))
			continue;
		p->of[p->n_rails] = rail;
		p->rails[p->n_rails++] = (struct plan_rail){.name = rail->name, .device = device};
	}
}

/* By name too: the address of a rail whose device was never seen is not known for ours, nor is one
 * that the name servers do not tell. */
bool planner_is_self(const struct daemon *d, const struct target *t)
{
	return strcmp(t->host, d->host) == 0 || peers_is_us(d->peers, t);
}

static size_t gather_targets(const struct daemon *d, const struct target **list)
{
	const struct peers *peers = d->peers;
	size_t n = 0;

	for (size_t i = 0; i < peers_count(peers); i++) {
		const struct target *t = peers_get(peers, i);

		if (target_ready(t) && !planner_is_self(d, t))
			list[n++] = t;
	}
	return n;
}

/* Each rail as a target of its own, in own[] of RAILS_MAX; they join the list. By the last address
 * that it had: a rail that lost it is down, and its books go on. */
static size_t add_loopbacks(const struct planner *p, struct target *own, const struct target **list)
{
	char err[CONF_MAX_ERROR];
	size_t n = 0;

	for (size_t i = 0; p->d->config.loopback && i < p->n_rails; i++) {
		const struct rail *rail = p->of[i];
		struct target *t = &own[n];

		if (address_parse(rail->address, &t->address, err, sizeof(err)) < 0)
			continue;
		name_copy(t->host, sizeof(t->host), p->d->host);
		name_copy(t->rail, sizeof(t->rail), rail->name);
		name_copy(t->text, sizeof(t->text), rail->address);
		t->loopback = true;
		list[n++] = t;
	}
	return n;
}

static void tell_unmatched(struct daemon *d, const struct plan *plan, size_t n_rails)
{
	if (n_rails == 0 || !d->rails_complete || plan->unmatched == d->unmatched)
		return;
	d->unmatched = plan->unmatched;
	if (d->unmatched > 0)
		log_warn("%zu listed addresses cannot be reached from any rail of this host: their "
			 "rail label is no rail here, or no route leads to them from one",
			 d->unmatched);
}

static void follow(struct daemon *d, const struct plan *plan)
{
	struct sessions_context ctx = daemon_sessions_context(d);

	if (sessions_follow(d->sessions, plan, &ctx) < 0)
		log_error("out of memory: not all sessions could be planned");
	for (size_t i = 0; i < supervisor_count(d->supervisor); i++)
		sessions_place(d->sessions, supervisor_get(d->supervisor, i), &ctx);
}

static void make(struct planner *p, const struct target **targets, struct target *own)
{
	const char *classes[CLASS_MAX];
	struct daemon *d = p->d;
	struct plan_input in = {
		.targets = targets,
		.rails = p->rails,
		.n_rails = p->n_rails,
		.rails_complete = d->rails_complete,
		.classes = classes,
		.n_classes = d->config.n_classes,
		.sessions_per_device = d->config.qps_per_device / 2,
		.route = route,
		.arg = p,
	};
	struct plan plan;

	for (size_t i = 0; i < d->config.n_classes; i++)
		classes[i] = d->config.classes[i].name;
	in.n_targets = gather_targets(d, targets);
	in.n_targets += add_loopbacks(p, own, targets + in.n_targets);
	if (plan_make(&plan, &in) < 0) {
		log_error("out of memory: the sessions stay as they are");
		return;
	}
	tell_unmatched(d, &plan, p->n_rails);
	follow(d, &plan);
	plan_free(&plan);
}

/* Has told its rails, or cannot be waited for. */
static bool device_settled(const struct device *dev, uint64_t now_ns)
{
	switch (dev->state) {
	case WORKER_STARTING:
		return now_ns - dev->started_ns > SETTLE_START_NS;
	case WORKER_UP:
		if (dev->rail_ns)
			return now_ns - dev->rail_ns > SETTLE_RAIL_NS;
		return now_ns - dev->since_ns > SETTLE_UP_NS;
	case WORKER_STUCK:
	case WORKER_EXITED:
	case WORKER_BACKOFF:
	case WORKER_RELEASED:
		break;
	}
	return true;
}

static bool rails_complete(const struct daemon *d)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < supervisor_count(d->supervisor); i++)
		if (!device_settled(supervisor_get(d->supervisor, i), now_ns))
			return false;
	return d->scanned;
}

void planner_run(struct daemon *d)
{
	struct planner p = {.d = d};
	const struct target **targets;
	struct target *own;

	if (d->options->sysfs_only || d->stopper)
		return;
	targets = calloc(peers_count(d->peers) + RAILS_MAX, sizeof(*targets));
	own = calloc(RAILS_MAX, sizeof(*own));
	if (!targets || !own) {
		log_error("out of memory: the sessions stay as they are");
		free(targets);
		free(own);
		return;
	}
	if (namer_place(d->namer)) {
		inbox_name_host(d);
		inbox_send_accept(d);
	}
	d->rails_complete = rails_complete(d);
	d->rails_known |= d->rails_complete;
	gather_rails(&p);
	make(&p, targets, own);
	free(targets);
	free(own);
}
