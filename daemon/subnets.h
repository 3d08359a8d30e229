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
/* Warns in the log when a present rail of another netdev shares the subnet of this one. */
void subnets_warn(const struct rails *rails, const struct rail *rail);
