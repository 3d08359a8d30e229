/* JSON of what is known of a device's and a port's place and setup: members of their rows. */
#pragma once
#include "exporters/jsonw.h"
#include "health/snapshot.h"

/* "pci_address", "numa_node", "firmware", "board", "is_vf", "pci_link". */
void json_put_device_facts(struct jsonw *j, const struct snap_device *d);
/* "facts": an object; what nobody tells is null in it. rail: the port's, or NULL. */
void json_put_port_facts(struct jsonw *j, const struct port_fact *p, const struct snap_rail *rail);
