#include "probes/link_modes.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#define MODE_NAME 64
#define MODES_MAX 1024 /* the bits of a set; Linux has some 120 */
#define MEGABITS_MAX 100000000u
#define LANES_MAX 64

/* A mode that is told: its number and name, and whether it is in the set. */
struct mode {
	uint32_t index;
	char name[MODE_NAME];
	bool set;
};

/* Those that this end advertises: their speeds, 0 for others. */
struct modes {
	uint32_t megabits[MODES_MAX];
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *number(const char *s, uint32_t max, uint32_t *ret)
{
	uint32_t value = 0;

	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		value = value * 10 + (uint32_t)(*s - '0');
		if (value > max)
			return NULL;
	}
	*ret = value;
	return s;
}

/* Speed, "base", letters of the medium, lanes; no lanes are one: "25000baseKR/Full",
 * "200000baseLR4_ER4_FR4/Full", "10000baseR_FEC", "800000baseDR8_2/Full". Medium "T" has one lane
 * of four pairs, as the kernel counts. */
bool link_mode_parse(const char *name, uint32_t *ret_megabits, uint32_t *ret_lanes)
{
	uint32_t megabits, lanes = 1;
	const char *s = number(name, MEGABITS_MAX, &megabits);

	if (!s || megabits == 0 || strncmp(s, "base", 4) != 0)
		return false;
	s += 4;
	if (*s < 'A' || *s > 'Z')
		return false;
	while (*s >= 'A' && *s <= 'Z')
		s++;
	if (is_digit(*s) && (!number(s, LANES_MAX, &lanes) || lanes == 0))
		return false;
	*ret_megabits = megabits;
	*ret_lanes = lanes;
	return true;
}

/* with_mask: the set tells all that is possible, and flags what is in it. */
static bool take_mode(const struct netlink_attr *bit, bool with_mask, struct mode *ret)
{
	struct netlink_attrs in = netlink_inside(bit);
	struct netlink_attr attr;

	if (bit->type != ETHTOOL_A_BITSET_BITS_BIT ||
	    !netlink_find(in, ETHTOOL_A_BITSET_BIT_INDEX, &attr) ||
	    !netlink_u32(&attr, &ret->index) || ret->index >= MODES_MAX ||
	    !netlink_find(in, ETHTOOL_A_BITSET_BIT_NAME, &attr) ||
	    !netlink_text(&attr, ret->name, sizeof(ret->name)))
		return false;
	ret->set = !with_mask || netlink_find(in, ETHTOOL_A_BITSET_BIT_VALUE, &attr);
	return true;
}

struct set {
	struct netlink_attrs bits;
	bool with_mask;
};

static bool open_set(struct netlink_attrs attrs, uint16_t type, struct set *ret)
{
	struct netlink_attr set, bits, flag;

	if (!netlink_find(attrs, type, &set) ||
	    !netlink_find(netlink_inside(&set), ETHTOOL_A_BITSET_BITS, &bits))
		return false;
	ret->bits = netlink_inside(&bits);
	ret->with_mask = !netlink_find(netlink_inside(&set), ETHTOOL_A_BITSET_NOMASK, &flag);
	return true;
}

/* The next mode that is understood; false at the end. */
static bool next_mode(struct set *set, struct mode *ret)
{
	struct netlink_attr bit;

	while (netlink_next(&set->bits, &bit))
		if (take_mode(&bit, set->with_mask, ret))
			return true;
	return false;
}

static void take_ours(struct netlink_attrs attrs, struct link_fact *to, struct modes *advertised)
{
	uint32_t megabits, lanes;
	struct mode mode;
	struct set set;

	if (!open_set(attrs, ETHTOOL_A_LINKMODES_OURS, &set))
		return;
	while (next_mode(&set, &mode)) {
		if (!link_mode_parse(mode.name, &megabits, &lanes))
			continue;
		advertised->megabits[mode.index] = mode.set ? megabits : 0;
		if (megabits > to->possible_megabits)
			to->possible_megabits = megabits;
	}
}

static void take_common(struct link_fact *to, uint32_t megabits, uint32_t lanes)
{
	if (megabits < to->common_megabits)
		return;
	if (megabits > to->common_megabits || lanes < to->common_lanes)
		to->common_lanes = lanes;
	to->common_megabits = megabits;
}

static void take_partners(struct netlink_attrs attrs, struct link_fact *to,
			  const struct modes *advertised)
{
	bool negotiated = false, as_now = false;
	struct link_fact seen = {0};
	uint32_t megabits, lanes;
	struct mode mode;
	struct set set;

	if (!open_set(attrs, ETHTOOL_A_LINKMODES_PEER, &set))
		return;
	while (next_mode(&set, &mode)) {
		negotiated |= mode.set && !strcmp(mode.name, "Autoneg");
		if (!mode.set || !link_mode_parse(mode.name, &megabits, &lanes))
			continue;
		if (megabits > seen.partner_megabits)
			seen.partner_megabits = megabits;
		if (advertised->megabits[mode.index] != megabits)
			continue;
		take_common(&seen, megabits, lanes);
		as_now |= megabits == to->megabits;
	}
	if (!negotiated)
		return;
	to->partner_megabits = seen.partner_megabits;
	if (as_now) {
		to->common_megabits = seen.common_megabits;
		to->common_lanes = seen.common_lanes;
	}
}

static uint32_t bounded(struct netlink_attrs attrs, uint16_t type, uint32_t max)
{
	struct netlink_attr attr;
	uint32_t value;

	/* Drivers that do not know say all ones. */
	if (!netlink_find(attrs, type, &attr) || !netlink_u32(&attr, &value) || value > max)
		return 0;
	return value;
}

int link_modes_take(const uint8_t *payload, size_t len, struct link_fact *ret)
{
	struct netlink_attrs attrs = netlink_attrs(payload, len, sizeof(struct genlmsghdr));
	struct modes advertised = {0};
	struct netlink_attr attr;
	uint8_t autoneg = 0;

	*ret = (struct link_fact){0};
	if (!netlink_find(attrs, ETHTOOL_A_LINKMODES_HEADER, &attr))
		return -EBADMSG;
	ret->megabits = bounded(attrs, ETHTOOL_A_LINKMODES_SPEED, MEGABITS_MAX);
	ret->lanes = bounded(attrs, ETHTOOL_A_LINKMODES_LANES, LANES_MAX);
	take_ours(attrs, ret, &advertised);
	if (netlink_find(attrs, ETHTOOL_A_LINKMODES_AUTONEG, &attr))
		netlink_u8(&attr, &autoneg);
	if (autoneg == 1)
		take_partners(attrs, ret, &advertised);
	return 0;
}

static int on_answer(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	(void)type;
	return link_modes_take(payload, len, arg);
}

int link_modes_ask(struct netlink *n, uint16_t family, const char *netdev, struct link_fact *ret)
{
	struct genlmsghdr head = {.cmd = ETHTOOL_MSG_LINKMODES_GET,
				  .version = ETHTOOL_GENL_VERSION};
	_Alignas(struct nlattr) uint8_t name[NLA_HDRLEN + IFNAMSIZ] = {0};
	struct nlattr attr = {.nla_type = ETHTOOL_A_HEADER_DEV_NAME};
	struct netlink_request q;
	size_t len = strlen(netdev) + 1;

	*ret = (struct link_fact){0};
	if (len == 1 || len > IFNAMSIZ)
		return -ENODEV;
	attr.nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy(name, &attr, sizeof(attr));
	memcpy(name + NLA_HDRLEN, netdev, len);
	netlink_begin(&q, family, 0, &head, sizeof(head));
	netlink_put(&q, ETHTOOL_A_LINKMODES_HEADER | NLA_F_NESTED, name, NLA_ALIGN(attr.nla_len));
	return netlink_ask(n, &q, on_answer, ret);
}
