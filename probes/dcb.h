/* Data Center Bridging by rtnetlink (RTM_GETDCB): which priorities have flow control, how DSCP and
 * priorities map. Only asks, which needs no privilege. */
#pragma once
#include "probes/facts.h"
#include "probes/netlink.h"

/* Fills pfc*, trust, classes_known, priority_class and dscp_priority of *ret, which are as if
 * unknown before. n is of NETLINK_ROUTE. As netlink_ask(); -EOPNOTSUPP: the driver has no DCB. */
int dcb_ask(struct netlink *n, const char *netdev, struct port_config_fact *ret);
/* Its answer's payload, any bytes, into *ret: 0 or -EBADMSG. For tests. */
int dcb_take(const uint8_t *payload, size_t len, struct port_config_fact *ret);
