/* Rails whose addresses are in one subnet. Connections stay on their own device all the same, for
 * rdma_cm binds them by their source address; but unless ARP is told otherwise each NIC answers for
 * the other's address, and what is meant for one comes in on the other, where it is dropped. */
#pragma once
#include <ifaddrs.h>
#include <stdbool.h>
#include "daemon/address.h"
#include "daemon/rails.h"

/* Whether one is in the subnet that the other has on this host; own: of getifaddrs(), may be NULL.
 * An address that this host does not have is in none. */
bool subnets_shared(const struct ifaddrs *own, const union address *a, const union address *b);

#define SUBNET_PAIRS 8 /* that are told; who has more has heard enough */

struct subnet_pair {
	char rail[FACT_NAME], other[FACT_NAME];
	char text[2 * FACT_TEXT]; /* a sentence, with the sysctls as they are */
};

/* Rails that share a subnet of IPv4 while the host answers ARP for all its addresses on every NIC.
 * With arp_ignore set, or with IPv6, whose neighbours are asked for one by one, there is no such
 * pair. Zeroed: never looked. */
struct subnet_pairs {
	const char *settings; /* where ARP is set; NULL: /proc/sys/net/ipv4/conf */
	uint64_t looked_ns;   /* 0: look at once */
	size_t n;
	struct subnet_pair pair[SUBNET_PAIRS];
};

/* Looks again when it is a minute ago; also set looked_ns to 0 when addresses changed. A pair that
 * did not stand the last time is warned of in the log. */
void subnets_look(struct subnet_pairs *pairs, const struct rails *rails, uint64_t now_ns);
/* An ARP setting of the netdev as the kernel takes it, the greater of its own and that of all;
 * dir is /proc/sys/net/ipv4/conf, or a tree like it. -1: not known. */
int subnets_setting(const char *dir, const char *netdev, const char *name);
