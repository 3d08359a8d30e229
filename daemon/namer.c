#include "daemon/namer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/daemon.h"
#include "daemon/lookups.h"
#include "daemon/planner.h"
#include "daemon/ratelimit.h"
#include "daemon/resolver.h"

#define CHANGES_A_MINUTE 10 /* of names, in the log */
#define SOON_NS (50 * NSEC_PER_MSEC)

struct namer {
	struct daemon *daemon;
	struct lookups *lookups;
	struct resolver *resolver;
	struct loop_source *soon; /* answers come together: one plan for all of them */
	bool armed;
	struct ratelimit limit;
	bool changed;	  /* addresses came that the targets do not have yet */
	uint64_t pending; /* until then a new name is not missed; 0: all were */
};

/* --- asking --- */

static void ask(struct namer *n, uint64_t now_ns)
{
	const char *name;

	while (resolver_ready(n->resolver, now_ns) && (name = lookups_next(n->lookups, now_ns)))
		resolver_ask(n->resolver, name, now_ns);
}

static void tell(struct namer *n, const char *name, enum lookup_change change,
		 const struct resolver_answer *a)
{
	const struct lookup *l = lookups_find(n->lookups, name);
	unsigned held_back;
	char text[ADDRESS_TEXT] = "";

	if (change == LOOKUP_SAME || !l ||
	    !ratelimit_allow(&n->limit, clock_now_ns(), CHANGES_A_MINUTE, &held_back))
		return;
	if (held_back)
		log_warn("%u changes of host names were not told", held_back);
	if (a->n > 0)
		address_format(&a->addresses[0], text);
	if (change == LOOKUP_FAILED)
		log_warn("host name %s: %s; %s", name, a->error,
			 l->n ? "its last address stays in use" : "no address is known");
	else
		log_info("host name %s: %s%s", name, text, a->n > 1 ? " and others" : "");
}

static uint64_t random_u64(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = clock_now_ns();
	return v;
}

static void on_answer(void *arg, const char *name, const struct resolver_answer *a)
{
	struct namer *n = arg;
	uint64_t now_ns = clock_now_ns();
	enum lookup_change change = lookups_answer(
		n->lookups, name, a, n->daemon->config.resolve_interval_ns, now_ns, random_u64());

	tell(n, name, change, a);
	n->changed |= change != LOOKUP_SAME;
	ask(n, now_ns);
	if (n->changed && !n->armed)
		n->armed = loop_timer_arm(n->soon, now_ns + SOON_NS) == 0;
}

static void on_trouble(void *arg, const char *text)
{
	(void)arg;
	log_warn("%s; host names keep their last addresses", text);
}

static const struct resolver_events resolver_events = {
	.answer = on_answer,
	.trouble = on_trouble,
};

/* --- using --- */

/* Of the rail that a target belongs to; without a label, of this host's first one. */
static int family_of(void *arg, const struct target *t)
{
	const struct daemon *d = arg;

	for (size_t i = 0; i < rails_count(d->rails); i++) {
		const struct rail *rail = rails_get(d->rails, i);

		if (!rail->fact.address[0] || (t->rail[0] && strcmp(t->rail, rail->name) != 0))
			continue;
		return strchr(rail->fact.address, ':') ? AF_INET6 : AF_INET;
	}
	return AF_UNSPEC;
}

bool namer_place(struct namer *n)
{
	struct daemon *d = n->daemon;

	n->changed = false;
	if (lookups_count(n->lookups) == 0)
		return false;
	return peers_place(d->peers, n->lookups, clock_now_ns(), family_of, d);
}

int namer_follow(struct namer *n)
{
	uint64_t now_ns = clock_now_ns();
	int r = lookups_follow(n->lookups, &n->daemon->peer_source.list, now_ns);

	if (r < 0)
		return r;
	n->pending = 0;
	if (lookups_count(n->lookups) == 0) {
		resolver_rest(n->resolver);
		return 0;
	}
	n->pending = now_ns + LOOKUP_PENDING_NS;
	ask(n, now_ns);
	namer_place(n);
	return 0;
}

void namer_tick(struct namer *n, uint64_t now_ns, bool paused)
{
	if (lookups_count(n->lookups) == 0)
		return;
	resolver_tick(n->resolver, now_ns, paused);
	ask(n, now_ns);
	if (n->pending && now_ns > n->pending) {
		n->pending = 0;
		n->changed = true;
	}
	if (n->changed)
		planner_run(n->daemon);
}

size_t namer_failing(const struct namer *n)
{
	return lookups_failing(n->lookups);
}

static void on_soon(void *arg, uint64_t now_ns)
{
	struct namer *n = arg;

	(void)now_ns;
	n->armed = false;
	if (n->changed)
		planner_run(n->daemon);
}

struct namer *namer_new(struct daemon *d)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->daemon = d;
	n->lookups = lookups_new();
	n->soon = n->lookups ? loop_add_timer(d->loop, on_soon, n) : NULL;
	n->resolver = n->soon ? resolver_new(d->loop, &resolver_events, n) : NULL;
	if (n->resolver)
		return n;
	namer_free(n);
	return NULL;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	resolver_free(n->resolver);
	loop_source_free(n->soon);
	lookups_free(n->lookups);
	free(n);
}
