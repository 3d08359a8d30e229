#include "probes/dcb.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define ANSWER_MAX 16384 /* the kernel makes none above a page or two */
#define STRANGERS_MAX 16 /* late answers to questions given up before */
/* DCB_ATTR_DCB_APP_TRUST_TABLE of kernels since 6.3; older headers do not have it. */
#define ATTR_TRUST_TABLE 11

/* NLA_HDRLEN, NLA_ALIGN() and NLA_TYPE_MASK of the headers are signed. */
#define ATTR_HEADER sizeof(struct nlattr)
#define ATTR_TYPE(type) ((unsigned)(type) & (unsigned)NLA_TYPE_MASK)

static size_t attr_room(size_t len)
{
	return (len + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

struct answer {
	struct port_config_fact *to;
	bool any_dscp;
	bool has_trust;
};

typedef void (*attr_fn)(struct answer *a, unsigned type, const void *data, size_t len);

/* Each attribute; false when they do not fill the room that they say they do. */
static bool each_attr(struct answer *a, const char *data, size_t len, attr_fn fn)
{
	while (len >= sizeof(struct nlattr)) {
		struct nlattr attr;
		size_t step;

		memcpy(&attr, data, sizeof(attr));
		if (attr.nla_len < ATTR_HEADER || attr.nla_len > len)
			return false;
		fn(a, ATTR_TYPE(attr.nla_type), data + ATTR_HEADER, attr.nla_len - ATTR_HEADER);
		step = attr_room(attr.nla_len);
		if (step > len)
			step = len;
		data += step;
		len -= step;
	}
	return true;
}

static void take_app(struct answer *a, unsigned type, const void *data, size_t len)
{
	struct dcb_app app;
	uint8_t *priority;

	if (type != DCB_ATTR_IEEE_APP || len < sizeof(app))
		return;
	memcpy(&app, data, sizeof(app));
	if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= DSCP_COUNT ||
	    app.priority >= PRIORITIES)
		return;
	priority = &a->to->dscp_priority[app.protocol];
	/* Of two entries for one DSCP each driver takes another. */
	*priority =
		*priority == DSCP_UNMAPPED || *priority == app.priority ? app.priority : PRIORITIES;
	a->any_dscp = true;
}

/* In the order in which the port trusts them; the first decides. */
static void take_trust(struct answer *a, unsigned type, const void *data, size_t len)
{
	uint8_t selector;

	(void)type; /* there are no others in that table */
	if (len < sizeof(selector) || a->has_trust)
		return;
	memcpy(&selector, data, sizeof(selector));
	a->has_trust = true;
	a->to->trust = selector == IEEE_8021QAZ_APP_SEL_DSCP ? TRUST_DSCP : TRUST_PCP;
}

static void take_ieee(struct answer *a, unsigned type, const void *data, size_t len)
{
	struct port_config_fact *to = a->to;
	struct ieee_pfc pfc;
	struct ieee_ets ets;

	if (type == DCB_ATTR_IEEE_PFC && len >= sizeof(pfc)) {
		memcpy(&pfc, data, sizeof(pfc));
		to->pfc_known = true;
		to->pfc = pfc.pfc_en;
	} else if (type == DCB_ATTR_IEEE_ETS && len >= sizeof(ets)) {
		memcpy(&ets, data, sizeof(ets));
		to->classes_known = true;
		memcpy(to->priority_class, ets.prio_tc, sizeof(to->priority_class));
	} else if (type == DCB_ATTR_IEEE_APP_TABLE) {
		each_attr(a, data, len, take_app);
	} else if (type == ATTR_TRUST_TABLE) {
		each_attr(a, data, len, take_trust);
	}
}

static void take_top(struct answer *a, unsigned type, const void *data, size_t len)
{
	if (type == DCB_ATTR_IEEE)
		each_attr(a, data, len, take_ieee);
}

static void forget(struct port_config_fact *c)
{
	c->pfc_known = c->pfc = c->classes_known = 0;
	c->trust = TRUST_UNKNOWN;
	memset(c->priority_class, 0, sizeof(c->priority_class));
	memset(c->dscp_priority, DSCP_UNMAPPED, sizeof(c->dscp_priority));
}

static int take_answer(const char *data, size_t len, struct port_config_fact *ret)
{
	struct answer a = {.to = ret};

	forget(ret);
	if (len < NLMSG_ALIGN(sizeof(struct dcbmsg)) ||
	    !each_attr(&a, data + NLMSG_ALIGN(sizeof(struct dcbmsg)),
		       len - NLMSG_ALIGN(sizeof(struct dcbmsg)), take_top)) {
		forget(ret);
		return -EBADMSG;
	}
	for (unsigned i = 0; i < DSCP_COUNT; i++)
		if (ret->dscp_priority[i] == PRIORITIES)
			ret->dscp_priority[i] = DSCP_UNMAPPED;
	/* Drivers trust DSCP from the first entry for one on (mlx5, ice, bnxt). */
	if (!a.has_trust && a.any_dscp)
		ret->trust = TRUST_DSCP;
	else if (!a.has_trust && ret->pfc_known)
		ret->trust = TRUST_PCP;
	return 0;
}

int dcb_parse(const void *data, size_t len, uint32_t sequence, struct port_config_fact *ret)
{
	struct nlmsghdr header;
	int error;

	if (len < sizeof(header))
		return -EBADMSG;
	memcpy(&header, data, sizeof(header));
	if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > len)
		return -EBADMSG;
	if (header.nlmsg_seq != sequence)
		return -EAGAIN;
	if (header.nlmsg_type == RTM_GETDCB)
		return take_answer((const char *)data + NLMSG_HDRLEN,
				   header.nlmsg_len - NLMSG_HDRLEN, ret);
	if (header.nlmsg_type != NLMSG_ERROR || header.nlmsg_len < NLMSG_HDRLEN + sizeof(error))
		return -EBADMSG;
	memcpy(&error, (const char *)data + NLMSG_HDRLEN, sizeof(error));
	/* Zero would be a receipt, which is not what was asked for. */
	return error < 0 && error >= -4095 ? error : -EBADMSG;
}

size_t dcb_request(char buf[DCB_REQUEST], uint32_t sequence, const char *netdev)
{
	const size_t at = NLMSG_LENGTH(sizeof(struct dcbmsg));
	struct dcbmsg ask = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	size_t name = strnlen(netdev, IFNAMSIZ) + 1;
	struct nlattr attr = {.nla_len = (uint16_t)(ATTR_HEADER + name),
			      .nla_type = DCB_ATTR_IFNAME};
	struct nlmsghdr header = {
		.nlmsg_len = (uint32_t)(at + attr_room(attr.nla_len)),
		.nlmsg_type = RTM_GETDCB,
		.nlmsg_flags = NLM_F_REQUEST,
		.nlmsg_seq = sequence,
	};

	if (name < 2 || name > IFNAMSIZ)
		return 0;
	memset(buf, 0, DCB_REQUEST);
	memcpy(buf, &header, sizeof(header));
	memcpy(buf + NLMSG_HDRLEN, &ask, sizeof(ask));
	memcpy(buf + at, &attr, sizeof(attr));
	memcpy(buf + at + ATTR_HEADER, netdev, name);
	return header.nlmsg_len;
}

int dcb_open(struct dcb *d)
{
	static const struct timeval patience = {.tv_sec = 1};
	int r;

	*d = (struct dcb){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
	if (d->fd < 0)
		return -errno;
	if (setsockopt(d->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0)
		return 0;
	r = -errno;
	dcb_close(d);
	return r;
}

void dcb_close(struct dcb *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static int await(struct dcb *d, struct port_config_fact *ret)
{
	char answer[ANSWER_MAX];
	struct sockaddr_nl from;

	for (unsigned i = 0; i < STRANGERS_MAX; i++) {
		socklen_t size = sizeof(from);
		ssize_t n =
			recvfrom(d->fd, answer, sizeof(answer), MSG_TRUNC, (void *)&from, &size);
		int r;

		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if ((size_t)n > sizeof(answer))
			return -EMSGSIZE;
		/* Others than the kernel may send here too. */
		if (size < sizeof(from) || from.nl_pid != 0)
			continue;
		r = dcb_parse(answer, (size_t)n, d->sequence, ret);
		if (r != -EAGAIN)
			return r;
	}
	return -ETIMEDOUT;
}

int dcb_ask(struct dcb *d, const char *netdev, struct port_config_fact *ret)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	char request[DCB_REQUEST];
	size_t len = dcb_request(request, ++d->sequence, netdev);

	forget(ret);
	if (len == 0)
		return -ENODEV;
	if (sendto(d->fd, request, len, 0, (void *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return await(d, ret);
}
