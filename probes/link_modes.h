/* What an Ethernet link runs at and what both of its ends could, by ethtool's netlink family
 * (`ethtool NETDEV`): only asks, which needs no privilege. Modes are told by the kernel with their
 * names, and speed and lanes are taken from these: there is no table of ours that a newer kernel
 * could outgrow. The kernel asks the driver, mostly its firmware: not to be done often.
 *
 * The other end's modes are believed only after a negotiation that was completed, and when the
 * speed of now is among what both advertise: else a driver tells what it happens to have (mlx5's
 * registers are read whether or not anybody negotiated). What one end could alone proves nothing.
 */
#pragma once
#include "probes/facts.h"
#include "probes/netlink.h"

#define LINK_MODES_FAMILY "ethtool" /* of generic netlink */

/* *ret is as if unknown before. n is of NETLINK_GENERIC, family its number for ethtool. As
 * netlink_ask(); -EOPNOTSUPP: the driver tells no modes. */
int link_modes_ask(struct netlink *n, uint16_t family, const char *netdev, struct link_fact *ret);
/* Its answer's payload, any bytes, into *ret: 0 or -EBADMSG. For tests. */
int link_modes_take(const uint8_t *payload, size_t len, struct link_fact *ret);
/* "100000baseCR4/Full": 100,000 Mbit/s on 4 lanes. false: the name is of no speed ("Autoneg"). */
bool link_mode_parse(const char *name, uint32_t *ret_megabits, uint32_t *ret_lanes);
