/* Counters that exist only where an administrator switched them on (`rdma statistic set link
 * DEVICE/PORT optional-counters cc_rx_ce_pkts`): they are not in sysfs but told by RDMA netlink.
 * Asked only for what is switched on, so that a port without any costs its driver nothing. Nothing
 * is switched here. Fixed size, no allocation; counter thread only. */
#pragma once
#include "probes/counter_table.h"
#include "probes/netlink.h"

#define OPTIONAL_MAX 32 /* of a port; the rest is counted */

struct optional_counter {
	char name[FACT_NAME];
	bool told; /* in the last answer */
	bool has_value, has_before;
	const struct counter_row *row;
	uint64_t before, value;
};

struct optional_counters { /* of a port; zeroed: there are none */
	uint32_t n, dropped;
	struct optional_counter counter[OPTIONAL_MAX];
};

/* The kernel's number of a device. 0 or -errno, -ENODEV: there is none of that name. */
int optional_device(struct netlink *n, const char *device, uint32_t *ret_index);
/* Which are switched on. What is known of each that stays is kept. 0 or -errno, and none are on
 * then: -EOPNOTSUPP and -EINVAL say that the kernel (before 5.16), the driver or the port has no
 * such thing. */
int optional_list(struct optional_counters *o, struct netlink *n, uint32_t index, uint8_t port);
/* Values of those that are switched on; told says which were got. device guards against another
 * one that got the number since. 0 or -errno, and none were got then. */
int optional_read(struct optional_counters *o, struct netlink *n, uint32_t index,
		  const char *device, uint8_t port);
