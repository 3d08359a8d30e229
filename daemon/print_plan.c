#include "daemon/print_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/names.h"
#include "daemon/check.h"
#include "daemon/lookups.h"
#include "daemon/options.h"
#include "daemon/peer_source.h"
#include "daemon/plan.h"
#include "daemon/port_survey.h"
#include "daemon/resolve_once.h"
#include "daemon/route.h"

struct printing {
	const struct options *options;
	struct config config;
	struct peer_source source;
	struct peers *peers;
	struct lookups *lookups;
	struct port_survey survey;
};

/* --- addresses --- */

static int family_of(void *arg, const struct target *t)
{
	const struct port_survey *survey = arg;

	for (size_t i = 0; i < survey->n; i++) {
		const struct survey_rail *rail = &survey->rails[i];

		if (rail->n_addresses && (!t->rail[0] || strcmp(t->rail, rail->name) == 0))
			return IN6_IS_ADDR_V4MAPPED(&rail->addresses[0]) ? AF_INET : AF_INET6;
	}
	return AF_UNSPEC;
}

static void print_failure(void *arg, const char *name, const char *why)
{
	(void)arg;
	fprintf(stderr, "host name %s: %s\n", name, why);
}

static int resolve(struct printing *p)
{
	int r = lookups_follow(p->lookups, &p->source.list, 0);

	if (r < 0 || lookups_count(p->lookups) == 0)
		return r;
	r = resolve_once(p->lookups, print_failure, NULL);
	if (r < 0)
		return r;
	peers_place(p->peers, p->lookups, UINT64_MAX, family_of, &p->survey);
	return 0;
}

/* --- the plan --- */

static int rail_at(const struct port_survey *survey, const union address *source)
{
	struct in6_addr mapped = address_mapped(source);

	for (size_t i = 0; i < survey->n; i++)
		for (uint32_t k = 0; k < survey->rails[i].n_addresses; k++)
			if (IN6_ARE_ADDR_EQUAL(&survey->rails[i].addresses[k], &mapped))
				return (int)i;
	return -1;
}

static int rail_by_subnet(const struct printing *p, const struct target *t)
{
	for (size_t i = 0; i < p->survey.n; i++) {
		const struct rail_spec *spec = config_rail(&p->config, p->survey.rails[i].name);

		if (spec && spec->prefix_len >= 0 &&
		    address_in_subnet(&t->address, &spec->subnet, spec->prefix_len))
			return (int)i;
	}
	return -1;
}

/* The routes are this host's: of another one's tree, only subnets can tell. */
static int route(void *arg, const struct target *t)
{
	const struct printing *p = arg;
	union address source;
	int rail = -1;

	if (!p->options->sysfs_only && route_source(&t->address, &source))
		rail = rail_at(&p->survey, &source);
	if (rail < 0)
		rail = rail_by_subnet(p, t);
	return rail < 0 && t->address.sa.sa_family == AF_UNSPEC ? 0 : rail;
}

static void learn_own(struct printing *p)
{
	for (size_t i = 0; i < p->survey.n; i++) {
		const struct survey_rail *rail = &p->survey.rails[i];

		for (uint32_t k = 0; k < rail->n_addresses; k++) {
			union address own = address_unmapped(&rail->addresses[k]);

			peers_learn_own(p->peers, &own);
		}
	}
}

static void self_name(const struct printing *p, char name[FACT_NAME])
{
	const char *listed = peers_mesh_name(p->peers);

	memset(name, 0, FACT_NAME);
	if (p->config.name[0] || listed)
		name_copy(name, FACT_NAME, p->config.name[0] ? p->config.name : listed);
	else if (!p->options->sysfs_only && gethostname(name, FACT_NAME - 1) < 0)
		name[0] = '\0';
}

static size_t gather_targets(const struct printing *p, const struct target **list)
{
	char self[FACT_NAME];
	size_t n = 0;

	self_name(p, self);
	for (size_t i = 0; i < peers_count(p->peers); i++) {
		const struct target *t = peers_get(p->peers, i);

		if (target_ready(t) && strcmp(t->host, self) != 0 && !peers_is_us(p->peers, t))
			list[n++] = t;
	}
	return n;
}

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static void print_entries(const struct printing *p, const struct plan *plan)
{
	char interval[32];
	size_t disabled = 0;

	conf_format_duration(config_shortest_interval_ns(&p->config), interval, sizeof(interval));
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_entry *e = &plan->entries[i];

		printf("%s %s %s %s %s %s\n", e->key.rail, e->key.peer, or_dash(e->key.peer_rail),
		       or_dash(e->target->text), e->key.class_name, interval);
		disabled += e->disabled;
	}
	if (plan->unmatched)
		fprintf(stderr,
			"%zu listed addresses match no rail of this host: their rail label is no "
			"rail here, or no route leads to them from one\n",
			plan->unmatched);
	if (disabled)
		fprintf(stderr,
			"%zu of these sessions are more than limits.qps_per_device allows "
			"and would be disabled\n",
			disabled);
}

static int make(struct printing *p, const struct target **targets)
{
	struct plan_rail rails[RAILS_MAX];
	const char *classes[CLASS_MAX];
	struct plan_input in = {
		.targets = targets,
		.n_targets = gather_targets(p, targets),
		.rails = rails,
		.n_rails = p->survey.n,
		.rails_complete = true,
		.classes = classes,
		.n_classes = p->config.n_classes,
		.sessions_per_device = p->config.qps_per_device / 2,
		.route = route,
		.arg = p,
	};
	struct plan plan;
	int r;

	for (size_t i = 0; i < p->survey.n; i++)
		rails[i] = (struct plan_rail){p->survey.rails[i].name, p->survey.rails[i].device};
	for (size_t i = 0; i < p->config.n_classes; i++)
		classes[i] = p->config.classes[i].name;
	r = plan_make(&plan, &in);
	if (r == 0)
		print_entries(p, &plan);
	plan_free(&plan);
	return r;
}

static int plan_and_print(struct printing *p)
{
	const struct target **targets;
	int r = port_survey(&p->survey, p->options->sysfs_root, &p->config);

	p->peers = peers_new();
	p->lookups = lookups_new();
	if (r < 0 || !p->peers || !p->lookups)
		return -ENOMEM;
	r = peers_load(p->peers, &p->source.list);
	if (r < 0)
		return r;
	learn_own(p);
	r = resolve(p);
	targets = r == 0 ? calloc(peers_count(p->peers) + 1, sizeof(*targets)) : NULL;
	if (!targets)
		return r < 0 ? r : -ENOMEM;
	if (p->survey.n == 0)
		fprintf(stderr,
			"no rail: no active RDMA port with a usable address under "
			"%s/class/infiniband, and none is configured\n",
			p->options->sysfs_root);
	r = make(p, targets);
	free(targets);
	return r;
}

int print_plan(const struct options *options)
{
	struct printing *p = calloc(1, sizeof(*p));
	unsigned unknown;
	int r;

	if (!p)
		return 1;
	p->options = options;
	r = check_load(options, &p->config, &p->source, &unknown);
	if (r == 0) {
		r = plan_and_print(p);
		if (r < 0 || fflush(stdout) != 0)
			fprintf(stderr, "rdma-pingmeshd: %s\n", strerror(r < 0 ? -r : errno));
		r = r < 0 || ferror(stdout);
	} else {
		r = CHECK_EXIT_BAD;
	}
	peers_free(p->peers);
	lookups_free(p->lookups);
	peer_source_free(&p->source);
	config_free(&p->config);
	free(p);
	return r;
}
