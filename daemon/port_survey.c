#include "daemon/port_survey.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/address.h"
#include "daemon/config.h"
#include "daemon/scan.h"
#include "probes/counter.h"

#define PORT_ACTIVE 4 /* IB_PORT_ACTIVE */

struct survey {
	struct port_survey *ret;
	const struct config *config;
	struct counter_round round;
	struct device_scan scan;
	struct rail_pick picks[RAIL_MAX];
	struct ifaddrs *interfaces; /* NULL: those of another host are not here */
};

/* --- addresses of a device --- */

static struct scan_address *add_address(struct device_scan *scan, uint32_t port, const char *netdev)
{
	struct scan_address *a;

	if (scan->n_addresses == GID_MAX)
		return NULL;
	a = &scan->addresses[scan->n_addresses++];
	memset(a, 0, sizeof(*a));
	a->port = port;
	name_copy(a->netdev, sizeof(a->netdev), netdev);
	return a;
}

/* On Ethernet a GID is an address. */
static void add_gid(struct device_scan *scan, const struct gid_fact *gid)
{
	struct scan_address *a;

	if (gid->type != GID_TYPE_ROCE_V2 && gid->type != GID_TYPE_ROCE_V1)
		return;
	a = add_address(scan, gid->port, gid->netdev);
	if (!a)
		return;
	memcpy(&a->addr, gid->gid, sizeof(a->addr));
	memcpy(a->gid, gid->gid, sizeof(a->gid));
	a->gid_index = gid->index;
	a->gid_type = (enum gid_type)gid->type;
}

/* On InfiniBand and iWARP it is that of the network interface. */
static void add_interface(struct device_scan *scan, const struct port_fact *port,
			  const struct ifaddrs *list)
{
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		const union address *from = (const union address *)i->ifa_addr;
		struct scan_address *a;

		if (!from || strcmp(i->ifa_name, port->netdev) != 0 ||
		    (from->sa.sa_family != AF_INET && from->sa.sa_family != AF_INET6))
			continue;
		a = add_address(scan, port->port, port->netdev);
		if (a)
			a->addr = address_mapped(from);
	}
}

static bool has_roce_gid(const struct counter_round *round, uint32_t port)
{
	for (uint32_t i = 0; i < round->n_gids; i++)
		if (round->gids[i].port == port && (round->gids[i].type == GID_TYPE_ROCE_V2 ||
						    round->gids[i].type == GID_TYPE_ROCE_V1))
			return true;
	return false;
}

static void fill_scan(struct survey *s, const char *device)
{
	const struct counter_round *round = &s->round;

	memset(&s->scan, 0, sizeof(s->scan));
	name_copy(s->scan.device, sizeof(s->scan.device), device);
	for (uint32_t i = 0; i < round->n_ports; i++) {
		const struct port_fact *port = &round->ports[i];
		struct scan_port *to = &s->scan.ports[s->scan.n_ports++];

		to->port = port->port;
		to->probeable = true;
		to->active = port->state_known && port->state == PORT_ACTIVE;
		if (port->netdev[0] && !has_roce_gid(round, port->port))
			add_interface(&s->scan, port, s->interfaces);
	}
	for (uint32_t i = 0; i < round->n_gids; i++)
		add_gid(&s->scan, &round->gids[i]);
}

/* --- rails --- */

static struct survey_rail *find(struct port_survey *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->rails[i].name, name) == 0)
			return &s->rails[i];
	return NULL;
}

static struct survey_rail *take(struct port_survey *s, const char *name)
{
	struct survey_rail *rail = find(s, name);

	if (rail || s->n == RAILS_MAX)
		return rail;
	rail = &s->rails[s->n++];
	name_copy(rail->name, sizeof(rail->name), name);
	return rail;
}

static void take_pick(struct survey *s, const struct rail_pick *pick)
{
	struct survey_rail *rail;

	/* Without a section, a rail is a port that is up. */
	if (s->config->n_rails == 0 && !pick->fact.up)
		return;
	rail = take(s->ret, pick->fact.name);
	if (!rail || rail->n_addresses)
		return;
	name_copy(rail->device, sizeof(rail->device), pick->fact.device);
	rail->n_addresses = pick->n_addresses;
	memcpy(rail->addresses, pick->addresses, sizeof(rail->addresses));
}

static void survey_device(struct survey *s, const char *root, const char *device)
{
	struct counter_reader *reader = counter_reader_new(root, device);
	uint32_t n;

	if (!reader)
		return;
	memset(&s->round, 0, sizeof(s->round));
	if (counter_reader_run(reader, &s->round, clock_now_ns(), clock_wall_ns()) == 0) {
		fill_scan(s, device);
		n = rails_select(&s->scan, s->config->rails, (uint32_t)s->config->n_rails,
				 s->config->allow_rocev1, s->picks);
		for (uint32_t i = 0; i < n; i++)
			take_pick(s, &s->picks[i]);
	}
	counter_reader_free(reader);
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(((const struct survey_rail *)a)->name, ((const struct survey_rail *)b)->name);
}

int port_survey(struct port_survey *ret, const char *sysfs_root, const struct config *config)
{
	struct survey *s = calloc(1, sizeof(*s));
	struct scan_result found;

	if (!s)
		return -ENOMEM;
	memset(ret, 0, sizeof(*ret));
	s->ret = ret;
	s->config = config;
	if (strcmp(sysfs_root, "/sys") == 0 && getifaddrs(&s->interfaces) < 0)
		s->interfaces = NULL;
	for (size_t i = 0; i < config->n_rails; i++)
		name_copy(take(ret, config->rails[i].name)->device, FACT_NAME,
			  config->rails[i].device);
	scan_directory(sysfs_root, &found);
	for (size_t i = 0; i < found.n; i++)
		if (!config_device_excluded(config, found.name[i]))
			survey_device(s, sysfs_root, found.name[i]);
	qsort(ret->rails, ret->n, sizeof(ret->rails[0]), name_cmp);
	if (s->interfaces)
		freeifaddrs(s->interfaces);
	free(s);
	return 0;
}
