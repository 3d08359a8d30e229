/* What a device's driver says of its health by devlink (`devlink health`): reporters with their
 * state and how often they found an error and recovered from it. Read alone; nothing is diagnosed,
 * dumped, recovered or set. May wait for the lock of a device that is being recovered: two seconds
 * at most. Counter thread only. */
#pragma once
#include "probes/facts.h"
#include "probes/netlink.h"

struct devlink_health { /* zeroed: nothing is known */
	uint32_t n, dropped;
	struct health_fact reporter[HEALTH_MAX];
};

/* The number by which the kernel knows devlink, for devlink_health_read(). 0 or -errno: -ENOENT,
 * this kernel has no devlink, or not yet. */
int devlink_family(struct netlink *n, uint16_t *ret_family);
/* The reporters of the device at a PCI address ("0000:3b:00.0"); those of its ports by one name
 * are added up. 0 or -errno, and nothing is known then. */
int devlink_health_read(struct devlink_health *h, struct netlink *n, uint16_t family,
			const char *pci_address);
/* The first reporter whose error says that the firmware takes no commands; NULL: none. */
const struct health_fact *devlink_firmware_error(const struct devlink_health *h);
