/* Families of generic netlink by name. */
#pragma once
#include "probes/netlink.h"

/* The number by which the kernel knows a family now ("devlink", "ethtool"): n is of
 * NETLINK_GENERIC. 0 or -errno: -ENOENT, this kernel has it not, or not yet. */
int generic_netlink_family(struct netlink *n, const char *name, uint16_t *ret_family);
