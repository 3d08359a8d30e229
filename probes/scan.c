#include "probes/scan.h"

#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

enum gid_type scan_gid_type(uint32_t ibv_gid_type)
{
	switch (ibv_gid_type) {
	case IBV_GID_TYPE_IB:
		return GID_TYPE_IB;
	case IBV_GID_TYPE_ROCE_V1:
		return GID_TYPE_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return GID_TYPE_ROCE_V2;
	default:
		return GID_TYPE_UNKNOWN;
	}
}

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static int scan_ports(struct ibv_context *ctx, struct device_scan *s)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(ctx, &attr);

	if (err)
		return -err;
	for (uint32_t i = 1; i <= attr.phys_port_cnt && s->n_ports < PORT_MAX; i++) {
		struct scan_port *p = &s->ports[s->n_ports];
		struct ibv_port_attr pa;

		err = ibv_query_port(ctx, (uint8_t)i, &pa);
		if (err)
			return -err;
		*p = (struct scan_port){
			.port = i,
			.active = pa.state == IBV_PORT_ACTIVE,
			.probeable = true,
			.mtu = mtu_bytes(pa.active_mtu),
			.link_layer = pa.link_layer == IBV_LINK_LAYER_ETHERNET ? LINK_LAYER_ETHERNET
				      : pa.link_layer == IBV_LINK_LAYER_INFINIBAND
					      ? LINK_LAYER_INFINIBAND
					      : LINK_LAYER_UNKNOWN,
		};
		/* EFA calls its link layer unspecified and has no RC and no rdma_cm. */
		if (p->link_layer == LINK_LAYER_UNKNOWN) {
			p->probeable = false;
			name_copy(p->reason, sizeof(p->reason),
				  "the link layer is unknown: no RC by rdma_cm");
		}
		s->n_ports++;
	}
	return 0;
}

/* RoCE: the GID is the address. */
static void add_gid(struct device_scan *s, const struct ibv_gid_entry *e)
{
	struct scan_address *a = &s->addresses[s->n_addresses];
	char name[IF_NAMESIZE];

	memset(a, 0, sizeof(*a));
	a->port = e->port_num;
	a->gid_index = e->gid_index;
	a->gid_type = scan_gid_type(e->gid_type);
	a->ifindex = e->ndev_ifindex;
	memcpy(a->gid, e->gid.raw, sizeof(a->gid));
	memcpy(&a->addr, e->gid.raw, sizeof(a->addr));
	if (a->ifindex && if_indextoname(a->ifindex, name))
		name_copy(a->netdev, sizeof(a->netdev), name);
	s->n_addresses++;
}

/* InfiniBand and iWARP: the netdevs of the device carry the addresses (IPoIB); dev_port counts
 * from 0. Their names stand in sysfs beside the device. */
static bool netdev_of_port(const struct ibv_context *ctx, const char *netdev, uint32_t port)
{
	char path[512];
	unsigned dev_port = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/device/net/%s/dev_port", ctx->device->ibdev_path, netdev);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%u", &dev_port) != 1)
		dev_port = 0;
	fclose(f);
	return dev_port + 1 == port;
}

static void add_netdev_address(struct device_scan *s, uint32_t port, const struct ifaddrs *ifa,
			       const struct ibv_gid_entry *e)
{
	struct scan_address *a = &s->addresses[s->n_addresses];

	if (s->n_addresses == GID_MAX)
		return;
	memset(a, 0, sizeof(*a));
	a->port = port;
	a->gid_index = e->gid_index;
	a->gid_type = GID_TYPE_IB;
	memcpy(a->gid, e->gid.raw, sizeof(a->gid));
	a->ifindex = if_nametoindex(ifa->ifa_name);
	name_copy(a->netdev, sizeof(a->netdev), ifa->ifa_name);
	if (ifa->ifa_addr->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)ifa->ifa_addr;

		a->addr.s6_addr[10] = a->addr.s6_addr[11] = 0xff;
		memcpy(&a->addr.s6_addr[12], &in->sin_addr, 4);
	} else {
		a->addr = ((const struct sockaddr_in6 *)(const void *)ifa->ifa_addr)->sin6_addr;
	}
	s->n_addresses++;
}

static void add_netdevs(struct ibv_context *ctx, struct device_scan *s,
			const struct ibv_gid_entry *e)
{
	struct ifaddrs *list, *ifa;

	if (getifaddrs(&list) < 0)
		return;
	for (ifa = list; ifa; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr ||
		    (ifa->ifa_addr->sa_family != AF_INET && ifa->ifa_addr->sa_family != AF_INET6))
			continue;
		if (netdev_of_port(ctx, ifa->ifa_name, e->port_num))
			add_netdev_address(s, e->port_num, ifa, e);
	}
	freeifaddrs(list);
}

static bool gid_is_address(const struct ibv_gid_entry *e)
{
	return e->gid_type == IBV_GID_TYPE_ROCE_V1 || e->gid_type == IBV_GID_TYPE_ROCE_V2;
}

static bool first_of_port(const struct ibv_gid_entry *e, ssize_t i)
{
	for (ssize_t j = 0; j < i; j++)
		if (e[j].port_num == e[i].port_num)
			return false;
	return true;
}

int scan_device(struct ibv_context *ctx, const char *device, struct device_scan *ret)
{
	struct ibv_gid_entry *entries = calloc(GID_MAX, sizeof(*entries));
	ssize_t n;
	int r;

	memset(ret, 0, sizeof(*ret));
	name_copy(ret->device, sizeof(ret->device), device);
	if (!entries)
		return -ENOMEM;
	r = scan_ports(ctx, ret);
	if (r < 0)
		goto out;
	/* One call for the whole table: empty slots are left out, holes do no harm. */
	n = ibv_query_gid_table(ctx, entries, GID_MAX, 0);
	r = n < 0 ? (int)n : 0;
	for (ssize_t i = 0; i < n && ret->n_addresses < GID_MAX; i++) {
		if (gid_is_address(&entries[i]))
			add_gid(ret, &entries[i]);
		else if (first_of_port(entries, i))
			add_netdevs(ctx, ret, &entries[i]);
	}
out:
	free(entries);
	return r;
}
