#include "probes/dcb.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

/* DCB_ATTR_DCB_APP_TRUST_TABLE of kernels since 6.3; older headers do not have it. */
#define ATTR_TRUST_TABLE 11

#define DSCP_DISPUTED PRIORITIES /* while the table is read: two entries, two priorities */

static bool copy(const struct netlink_attr *attr, void *ret, size_t size)
{
	/* Later kernels may say more behind what is known. */
	if (attr->len < size)
		return false;
	memcpy(ret, attr->data, size);
	return true;
}

/* True: it is an entry for a DSCP. */
static bool take_app(const struct netlink_attr *attr, struct port_config_fact *to)
{
	struct dcb_app app;
	uint8_t *priority;

	if (attr->type != DCB_ATTR_IEEE_APP || !copy(attr, &app, sizeof(app)) ||
	    app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= DSCP_COUNT ||
	    app.priority >= PRIORITIES)
		return false;
	priority = &to->dscp_priority[app.protocol];
	/* Of two entries for one DSCP each driver takes another. */
	*priority = *priority == DSCP_UNMAPPED || *priority == app.priority ? app.priority
									    : DSCP_DISPUTED;
	return true;
}

static bool take_apps(const struct netlink_attr *table, struct port_config_fact *to)
{
	struct netlink_attrs inside = netlink_inside(table);
	struct netlink_attr attr;
	bool any = false;

	while (netlink_next(&inside, &attr))
		any |= take_app(&attr, to);
	for (unsigned i = 0; i < DSCP_COUNT; i++)
		if (to->dscp_priority[i] == DSCP_DISPUTED)
			to->dscp_priority[i] = DSCP_UNMAPPED;
	return any;
}

/* Selectors in the order in which the port trusts them: the first decides. */
static enum port_trust trust_of(const struct netlink_attr *table)
{
	struct netlink_attrs inside = netlink_inside(table);
	struct netlink_attr attr;
	uint8_t selector;

	while (netlink_next(&inside, &attr))
		if (copy(&attr, &selector, sizeof(selector)))
			return selector == IEEE_8021QAZ_APP_SEL_DSCP ? TRUST_DSCP : TRUST_PCP;
	return TRUST_UNKNOWN;
}

/* More than fits into bytes per second of 64 bits is no limit. */
static void take_max_rates(const struct ieee_maxrate *max, struct port_config_fact *to)
{
	to->max_rates_known = true;
	for (unsigned t = 0; t < TRAFFIC_CLASSES; t++)
		if (max->tc_maxrate[t] <= UINT64_MAX / BYTES_OF_KILOBIT)
			to->max_kilobits[t] = max->tc_maxrate[t];
}

static void take_ieee(struct netlink_attrs ieee, struct port_config_fact *to)
{
	bool any_dscp = false;
	struct netlink_attr attr;
	struct ieee_maxrate max;
	struct ieee_pfc pfc;
	struct ieee_ets ets;

	if (netlink_find(ieee, DCB_ATTR_IEEE_PFC, &attr) && copy(&attr, &pfc, sizeof(pfc))) {
		to->pfc_known = true;
		to->pfc = pfc.pfc_en;
	}
	if (netlink_find(ieee, DCB_ATTR_IEEE_ETS, &attr) && copy(&attr, &ets, sizeof(ets))) {
		to->classes_known = true;
		memcpy(to->priority_class, ets.prio_tc, sizeof(to->priority_class));
	}
	if (netlink_find(ieee, DCB_ATTR_IEEE_MAXRATE, &attr) && copy(&attr, &max, sizeof(max)))
		take_max_rates(&max, to);
	if (netlink_find(ieee, DCB_ATTR_IEEE_APP_TABLE, &attr))
		any_dscp = take_apps(&attr, to);
	if (netlink_find(ieee, ATTR_TRUST_TABLE, &attr))
		to->trust = (uint8_t)trust_of(&attr);
	else if (any_dscp) /* drivers trust DSCP from the first entry on (mlx5, ice, bnxt) */
		to->trust = TRUST_DSCP;
	else if (to->pfc_known)
		to->trust = TRUST_PCP;
}

/* Half a table would be another setup than the host's, and compared with those of other hosts. */
static bool is_whole(struct netlink_attrs ieee)
{
	static const uint16_t tables[] = {DCB_ATTR_IEEE_APP_TABLE, ATTR_TRUST_TABLE};
	struct netlink_attr attr;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (netlink_find(ieee, tables[i], &attr) && !netlink_whole(netlink_inside(&attr)))
			return false;
	return netlink_whole(ieee);
}

static void forget(struct port_config_fact *c)
{
	c->pfc_known = c->pfc = c->classes_known = c->max_rates_known = 0;
	memset(c->max_kilobits, 0, sizeof(c->max_kilobits));
	c->trust = TRUST_UNKNOWN;
	memset(c->priority_class, 0, sizeof(c->priority_class));
	memset(c->dscp_priority, DSCP_UNMAPPED, sizeof(c->dscp_priority));
}

int dcb_take(const uint8_t *payload, size_t len, struct port_config_fact *ret)
{
	struct netlink_attrs attrs = netlink_attrs(payload, len, sizeof(struct dcbmsg));
	struct netlink_attr ieee;

	forget(ret);
	if (!netlink_find(attrs, DCB_ATTR_IEEE, &ieee) || !is_whole(netlink_inside(&ieee)))
		return -EBADMSG;
	take_ieee(netlink_inside(&ieee), ret);
	return 0;
}

static int on_answer(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	return type == RTM_GETDCB ? dcb_take(payload, len, arg) : -EBADMSG;
}

int dcb_ask(struct netlink *n, const char *netdev, struct port_config_fact *ret)
{
	struct dcbmsg ask = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	struct netlink_request q;

	forget(ret);
	if (!netdev[0] || strlen(netdev) >= IFNAMSIZ)
		return -ENODEV;
	netlink_begin(&q, RTM_GETDCB, 0, &ask, sizeof(ask));
	netlink_put_text(&q, DCB_ATTR_IFNAME, netdev);
	return netlink_ask(n, &q, on_answer, ret);
}
