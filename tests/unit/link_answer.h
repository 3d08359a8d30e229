/* Answers of ethtool's netlink family about link modes, as the kernel lays them out. */
#pragma once
#include "netlink_kernel.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#define ETHTOOL_FAMILY 0x1b

/* A mode of a test: where it is in the kernel's table does not matter, but it is the same for both
 * ends. */
struct told_mode {
	uint32_t index;
	const char *name;
	bool advertised, partners;
};

static inline void link_answer_begin(struct netlink_kernel *k, const char *netdev, uint32_t speed,
				     uint32_t lanes, uint8_t autoneg)
{
	const struct genlmsghdr head = {.cmd = ETHTOOL_MSG_LINKMODES_GET_REPLY, .version = 1};

	kernel_message(k, ETHTOOL_FAMILY, 0, &head, sizeof(head));
	kernel_nest(k, ETHTOOL_A_LINKMODES_HEADER);
	kernel_text(k, ETHTOOL_A_HEADER_DEV_NAME, netdev);
	kernel_unnest(k);
	kernel_u8(k, ETHTOOL_A_LINKMODES_AUTONEG, autoneg);
	kernel_u32(k, ETHTOOL_A_LINKMODES_SPEED, speed);
	if (lanes)
		kernel_u32(k, ETHTOOL_A_LINKMODES_LANES, lanes);
}

static inline void link_answer_bit(struct netlink_kernel *k, const struct told_mode *m, bool value)
{
	kernel_nest(k, ETHTOOL_A_BITSET_BITS_BIT);
	kernel_u32(k, ETHTOOL_A_BITSET_BIT_INDEX, m->index);
	kernel_text(k, ETHTOOL_A_BITSET_BIT_NAME, m->name);
	if (value)
		kernel_attr(k, ETHTOOL_A_BITSET_BIT_VALUE, NULL, 0);
	kernel_unnest(k);
}

/* All are supported by this end. */
static inline void link_answer_modes(struct netlink_kernel *k, const struct told_mode *modes,
				     size_t n)
{
	kernel_nest(k, ETHTOOL_A_LINKMODES_OURS);
	kernel_u32(k, ETHTOOL_A_BITSET_SIZE, 120);
	kernel_nest(k, ETHTOOL_A_BITSET_BITS);
	for (size_t i = 0; i < n; i++)
		link_answer_bit(k, &modes[i], modes[i].advertised);
	kernel_unnest(k);
	kernel_unnest(k);
	kernel_nest(k, ETHTOOL_A_LINKMODES_PEER);
	kernel_attr(k, ETHTOOL_A_BITSET_NOMASK, NULL, 0);
	kernel_u32(k, ETHTOOL_A_BITSET_SIZE, 120);
	kernel_nest(k, ETHTOOL_A_BITSET_BITS);
	for (size_t i = 0; i < n; i++)
		if (modes[i].partners)
			link_answer_bit(k, &modes[i], false);
	kernel_unnest(k);
	kernel_unnest(k);
}

static inline void family_answer(struct netlink_kernel *k)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};

	kernel_message(k, GENL_ID_CTRL, 0, &head, sizeof(head));
	kernel_u16(k, CTRL_ATTR_FAMILY_ID, ETHTOOL_FAMILY);
	kernel_answer(k);
}
