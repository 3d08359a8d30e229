/* Which rails a device has: from its ports and addresses and the [rail] sections. Pure. */
#pragma once
#include <netinet/in.h>
#include "probes/wish.h"

#define RAIL_ADDRESS_MAX 256

struct scan_port {
	uint32_t port;
	bool active;
	bool probeable; /* RC by rdma_cm is possible; else reason says why not */
	enum link_layer link_layer;
	uint32_t mtu; /* bytes of the active MTU; 0: unknown */
	char reason[FACT_NAME];
};

struct scan_address {
	uint32_t port;
	struct in6_addr addr; /* IPv4 as v4-mapped */
	uint32_t ifindex;     /* 0: unknown */
	char netdev[FACT_NETDEV];
	uint8_t gid[16];
	uint32_t gid_index;
	enum gid_type gid_type;
	bool listed; /* in the list of peers, which is how the others know us */
	bool in_use; /* the source of a rail now */
};

struct device_scan {
	char device[FACT_NAME];
	uint32_t n_ports, n_addresses;
	struct scan_port ports[PORT_MAX];
	struct scan_address addresses[GID_MAX];
};

struct rail_pick {
	struct rail_fact fact; /* complete; up says that it could be probed */
	struct in6_addr source;
	uint32_t n_addresses; /* to listen on; the source is the first */
	struct in6_addr addresses[RAIL_ADDRESS_MAX];
};

/* Whether an address of the GID table may be used: not link-local, not zero, RoCE v2 unless v1 is
 * allowed, and an index that the CM can carry (a GID index above 255 does not connect). */
bool rail_address_usable(const struct scan_address *a, bool allow_rocev1);
/* Fills picks (RAIL_MAX of them); the number. With specs: one rail each that concerns the device,
 * up or not. Without: every active port with a usable address. An address serves one rail. */
uint32_t rails_select(const struct device_scan *scan, const struct rail_spec *specs,
		      uint32_t n_specs, bool allow_rocev1, struct rail_pick *picks);
/* Text of an address; IPv4 for a v4-mapped one. */
void rail_address_text(const struct in6_addr *a, char out[FACT_ADDRESS]);
