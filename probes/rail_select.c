#include "probes/rail_select.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

#define GID_INDEX_MAX 255 /* rdma_connect() answers EINVAL above it */

void rail_address_text(const struct in6_addr *a, char out[FACT_ADDRESS])
{
	if (IN6_IS_ADDR_V4MAPPED(a))
		inet_ntop(AF_INET, &a->s6_addr[12], out, FACT_ADDRESS);
	else
		inet_ntop(AF_INET6, a, out, FACT_ADDRESS);
}

bool rail_address_usable(const struct scan_address *a, bool allow_rocev1)
{
	if (IN6_IS_ADDR_LINKLOCAL(&a->addr) || IN6_IS_ADDR_UNSPECIFIED(&a->addr))
		return false;
	if (a->gid_type == GID_TYPE_ROCE_V1 && !allow_rocev1)
		return false;
	return a->gid_index <= GID_INDEX_MAX;
}

static bool in_subnet(const struct in6_addr *a, const struct rail_spec *spec)
{
	int bits = spec->prefix_len;

	for (int i = 0; bits > 0; i++, bits -= 8) {
		uint8_t mask = bits >= 8 ? 0xff : (uint8_t)(0xff << (8 - bits));

		if ((a->s6_addr[i] ^ spec->subnet.s6_addr[i]) & mask)
			return false;
	}
	return true;
}

/* Sources in the order of taste: v2 before v1; one that the peers know; IPv4; the one in use, for
 * an address that is added must not move a rail; lower index. */
static bool better(const struct scan_address *a, const struct scan_address *b)
{
	bool a4 = IN6_IS_ADDR_V4MAPPED(&a->addr), b4 = IN6_IS_ADDR_V4MAPPED(&b->addr);

	if (a->gid_type != b->gid_type &&
	    (a->gid_type == GID_TYPE_ROCE_V1 || b->gid_type == GID_TYPE_ROCE_V1))
		return b->gid_type == GID_TYPE_ROCE_V1;
	if (a->listed != b->listed)
		return a->listed;
	if (a4 != b4)
		return a4;
	if (a->in_use != b->in_use)
		return a->in_use;
	return a->gid_index < b->gid_index;
}

static const struct scan_port *find_port(const struct device_scan *scan, uint32_t port)
{
	for (uint32_t i = 0; i < scan->n_ports; i++)
		if (scan->ports[i].port == port)
			return &scan->ports[i];
	return NULL;
}

static bool has_address(const struct rail_pick *p, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < p->n_addresses; i++)
		if (IN6_ARE_ADDR_EQUAL(&p->addresses[i], a))
			return true;
	return false;
}

static void add_address(struct rail_pick *p, const struct in6_addr *a)
{
	if (p->n_addresses < RAIL_ADDRESS_MAX && !has_address(p, a))
		p->addresses[p->n_addresses++] = *a;
}

static bool taken(const struct rail_pick *picks, uint32_t n, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < n; i++)
		if (has_address(&picks[i], a))
			return true;
	return false;
}

/* Everything of one rail that follows from its source address. */
static void fill_source(struct rail_pick *p, const struct scan_address *a,
			const struct scan_port *port)
{
	p->source = a->addr;
	p->fact.port = a->port;
	p->fact.gid_index = a->gid_index;
	p->fact.gid_type = a->gid_type;
	p->fact.mtu = port->mtu;
	memcpy(p->fact.gid, a->gid, sizeof(p->fact.gid));
	name_copy(p->fact.netdev, sizeof(p->fact.netdev), a->netdev);
	rail_address_text(&a->addr, p->fact.address);
}

struct filter {
	const struct device_scan *scan;
	const struct rail_spec *spec; /* NULL: none */
	uint32_t port;		      /* 0: any */
	bool allow_rocev1;
};

static bool matches(const struct filter *f, const struct scan_address *a)
{
	if (f->port && a->port != f->port)
		return false;
	if (!rail_address_usable(a, f->allow_rocev1))
		return false;
	if (!f->spec)
		return true;
	if (f->spec->netdev[0] && strcmp(f->spec->netdev, a->netdev))
		return false;
	return in_subnet(&a->addr, f->spec);
}

/* Finds the source and the addresses of picks[n]; false: nothing matches. */
static bool pick(const struct filter *f, struct rail_pick *picks, uint32_t n)
{
	const struct scan_address *best = NULL;
	const struct scan_port *port;
	struct rail_pick *p = &picks[n];

	for (uint32_t i = 0; i < f->scan->n_addresses; i++) {
		const struct scan_address *a = &f->scan->addresses[i];

		if (!matches(f, a) || taken(picks, n, &a->addr) || !find_port(f->scan, a->port))
			continue;
		if (!best || better(a, best))
			best = a;
	}
	if (!best)
		return false;
	port = find_port(f->scan, best->port);
	fill_source(p, best, port);
	add_address(p, &best->addr);
	for (uint32_t i = 0; i < f->scan->n_addresses; i++) {
		const struct scan_address *a = &f->scan->addresses[i];

		if (a->port == best->port && matches(f, a) && !taken(picks, n, &a->addr))
			add_address(p, &a->addr);
	}
	p->fact.up = port->active && port->probeable;
	if (!port->probeable)
		name_copy(p->fact.reason, sizeof(p->fact.reason), port->reason);
	else if (!port->active)
		snprintf(p->fact.reason, sizeof(p->fact.reason), "port %u of %s is not active",
			 port->port, f->scan->device);
	return true;
}

static void name_pick(struct rail_pick *p, const struct device_scan *scan, const char *name)
{
	name_copy(p->fact.name, sizeof(p->fact.name), name);
	name_copy(p->fact.device, sizeof(p->fact.device), scan->device);
}

static uint32_t select_by_spec(const struct device_scan *scan, const struct rail_spec *specs,
			       uint32_t n_specs, bool allow_rocev1, struct rail_pick *picks)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_specs && n < RAIL_MAX; i++) {
		struct filter f = {scan, &specs[i], 0, allow_rocev1};
		bool named = specs[i].device[0] && !strcmp(specs[i].device, scan->device);

		if (specs[i].device[0] && !named)
			continue;
		name_pick(&picks[n], scan, specs[i].name);
		if (pick(&f, picks, n)) {
			n++;
		} else if (named) {
			snprintf(picks[n].fact.reason, sizeof(picks[n].fact.reason),
				 "%s has no address that [rail %s] asks for", scan->device,
				 specs[i].name);
			picks[n].fact.port = scan->n_ports ? scan->ports[0].port : 1;
			n++;
		} else {
			memset(&picks[n], 0, sizeof(picks[n]));
		}
	}
	return n;
}

uint32_t rails_select(const struct device_scan *scan, const struct rail_spec *specs,
		      uint32_t n_specs, bool allow_rocev1, struct rail_pick *picks)
{
	char name[FACT_NAME + 16];
	uint32_t n = 0;

	memset(picks, 0, RAIL_MAX * sizeof(*picks));
	if (n_specs)
		return select_by_spec(scan, specs, n_specs, allow_rocev1, picks);
	for (uint32_t i = 0; i < scan->n_ports && n < RAIL_MAX; i++) {
		struct filter f = {scan, NULL, scan->ports[i].port, allow_rocev1};

		if (!pick(&f, picks, n)) {
			memset(&picks[n], 0, sizeof(picks[n]));
			continue;
		}
		if (scan->ports[i].port == 1)
			snprintf(name, sizeof(name), "%s", scan->device);
		else
			snprintf(name, sizeof(name), "%s/%u", scan->device, scan->ports[i].port);
		name_pick(&picks[n++], scan, name);
	}
	return n;
}
