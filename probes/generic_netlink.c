#include "probes/generic_netlink.h"

#include <errno.h>

#include <linux/genetlink.h>

static int take_family(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	struct netlink_attr attr;

	(void)type;
	if (!netlink_find(netlink_attrs(payload, len, sizeof(struct genlmsghdr)),
			  CTRL_ATTR_FAMILY_ID, &attr) ||
	    !netlink_u16(&attr, arg))
		return -EBADMSG;
	return 0;
}

int generic_netlink_family(struct netlink *n, const char *name, uint16_t *ret_family)
{
	struct genlmsghdr head = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct netlink_request q;
	uint16_t family = 0;
	int r;

	netlink_begin(&q, GENL_ID_CTRL, 0, &head, sizeof(head));
	netlink_put_text(&q, CTRL_ATTR_FAMILY_NAME, name);
	r = netlink_ask(n, &q, take_family, &family);
	if (r == 0 && family < NLMSG_MIN_TYPE)
		r = -EBADMSG;
	if (r == 0)
		*ret_family = family;
	return r;
}
