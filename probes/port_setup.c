#include "probes/port_setup.h"

#include <errno.h>
#include <string.h>

#include "probes/dcb.h"
#include "probes/generic_netlink.h"
#include "probes/link_modes.h"
#include "probes/port_config.h"
#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

void port_setup_init(struct port_setup *s, bool own_host)
{
	*s = (struct port_setup){.own_host = own_host, .route.fd = -1, .generic.fd = -1};
}

void port_setup_close(struct port_setup *s)
{
	netlink_close(&s->route);
	netlink_close(&s->generic);
}

static int ready(struct netlink *n, int protocol)
{
	return n->fd >= 0 ? 0 : netlink_open(n, protocol, 0);
}

static bool asked_on(const struct port_setup *s, const struct port_fact *f)
{
	return s->own_host && f->netdev[0] && f->link_layer == LINK_LAYER_ETHERNET;
}

/* What a kernel or a driver has not, and a netdev that just went, are no errors. */
static void note(uint64_t *errors, int error)
{
	if (error < 0 && error != -EOPNOTSUPP && error != -ENODEV && error != -ENOENT)
		errors[sysfs_error_class(error)]++;
}

void port_setup_read(struct port_setup *s, int root_fd, const char *device, struct port_fact *f,
		     uint64_t *errors)
{
	struct port_config_source from = {
		.root_fd = root_fd, .device = device, .netdev = f->netdev, .port = f->port};
	int r;

	port_config_read(&from, &f->config, errors);
	if (!asked_on(s, f))
		return;
	r = ready(&s->route, NETLINK_ROUTE);
	if (r == 0)
		r = dcb_ask(&s->route, f->netdev, &f->config);
	note(errors, r);
}

/* Kernels before 5.6 have no such family; it does not come later. */
static int link_ask(struct port_setup *s, const char *netdev, struct link_fact *ret)
{
	int r = ready(&s->generic, NETLINK_GENERIC);

	if (r == 0 && !s->ethtool)
		r = generic_netlink_family(&s->generic, LINK_MODES_FAMILY, &s->ethtool);
	return r < 0 ? r : link_modes_ask(&s->generic, s->ethtool, netdev, ret);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What a port of several legs has is what each has: one unknown leg leaves it unknown. */
static struct link_fact least(const struct link_fact *leg, unsigned n)
{
	struct link_fact l = leg[0];

	for (unsigned i = 1; i < n; i++) {
		l.megabits = lesser(l.megabits, leg[i].megabits);
		l.lanes = lesser(l.lanes, leg[i].lanes);
		l.possible_megabits = lesser(l.possible_megabits, leg[i].possible_megabits);
		l.partner_megabits = lesser(l.partner_megabits, leg[i].partner_megabits);
		l.common_megabits = lesser(l.common_megabits, leg[i].common_megabits);
		l.common_lanes = lesser(l.common_lanes, leg[i].common_lanes);
	}
	return l;
}

void port_setup_links(struct port_setup *s, struct port_fact *f, uint64_t *errors)
{
	unsigned n = port_fact_legs(f);

	f->link = (struct link_fact){0};
	memset(f->leg, 0, sizeof(f->leg));
	/* The lanes of an Ethernet port are the kernel's guess from its speed. */
	if (f->link_layer == LINK_LAYER_INFINIBAND)
		sysfs_lanes(f->rate_text, &f->link.lanes);
	if (!asked_on(s, f))
		return;
	for (unsigned i = 0; i < n; i++)
		note(errors, link_ask(s, f->config.members[i], &f->leg[i]));
	if (n > 0)
		f->link = least(f->leg, n);
	else
		note(errors, link_ask(s, f->netdev, &f->link));
}
