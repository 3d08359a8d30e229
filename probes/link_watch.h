/* Changes of netdevs as the kernel tells them (RTM_NEWLINK, RTM_DELLINK): carrier, speed, names,
 * bonding. Told to whoever listens, without any right; asks the kernel nothing. */
#pragma once
#include "probes/netlink.h"

struct link_watch {
	struct netlink netlink; /* its fd is readable when there is news */
};

int link_watch_open(struct link_watch *w); /* 0 or -errno */
void link_watch_close(struct link_watch *w);
/* fn for each netdev that changed; without waiting. netdev NULL: some news got lost, take it that
 * each changed. */
void link_watch_read(struct link_watch *w, void (*fn)(void *arg, const char *netdev), void *arg);
