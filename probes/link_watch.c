#include "probes/link_watch.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>

int link_watch_open(struct link_watch *w)
{
	return netlink_open(&w->netlink, NETLINK_ROUTE, RTMGRP_LINK);
}

void link_watch_close(struct link_watch *w)
{
	netlink_close(&w->netlink);
}

struct listener {
	void (*fn)(void *arg, const char *netdev);
	void *arg;
};

static int take(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	const struct listener *l = arg;
	struct netlink_attr attr;
	char name[IFNAMSIZ];

	if (type != RTM_NEWLINK && type != RTM_DELLINK)
		return 0;
	if (netlink_find(netlink_attrs(payload, len, sizeof(struct ifinfomsg)), IFLA_IFNAME,
			 &attr) &&
	    netlink_text(&attr, name, sizeof(name)))
		l->fn(l->arg, name);
	return 0;
}

void link_watch_read(struct link_watch *w, void (*fn)(void *arg, const char *netdev), void *arg)
{
	struct listener l = {.fn = fn, .arg = arg};

	if (!netlink_hear(&w->netlink, take, &l))
		fn(arg, NULL);
}
