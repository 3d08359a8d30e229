/* What the kernel tells of a device by netlink and not by files: optional counters of its ports and
 * its driver's own view of its health. Looked for seldom, asked often only where there is
 * something. What is not there costs nothing and is no error. Counter thread only. */
#pragma once
#include "probes/devlink.h"
#include "probes/optional_counters.h"

struct counter_netlink { /* made by counter_netlink_init() */
	struct netlink rdma, generic;
	uint16_t family; /* of devlink; 0: not known */
	uint32_t index;	 /* of the device, while n_ports is not 0 */
	uint32_t n_ports;
	struct optional_counters ports[PORT_MAX]; /* by index, as the reader's */
	bool has_health;
	struct devlink_health health;
	uint64_t stuck_since_wall_ns;
	char stuck_text[FACT_TEXT];
};

void counter_netlink_init(struct counter_netlink *cn);
void counter_netlink_close(struct counter_netlink *cn);
/* The device left: nothing is known. */
void counter_netlink_forget(struct counter_netlink *cn);
/* Look what there is. errors[0] is of the device, [i + 1] of the port ports[i]. */
void counter_netlink_list(struct counter_netlink *cn, const char *device, const char *pci_address,
			  const uint8_t *ports, uint32_t n_ports, uint64_t wall_ns,
			  uint64_t (*errors)[READ_ERROR_COUNT]);
/* Values of the optional counters of a port: those with `told`. false: something is not as it was
 * when it was listed. */
bool counter_netlink_read(struct counter_netlink *cn, const char *device, uint32_t port_index,
			  uint8_t port);
/* Health, and whether the firmware is stuck, into a device's facts. */
void counter_netlink_tell(const struct counter_netlink *cn, struct device_fact *f);
