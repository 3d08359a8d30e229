/* How a port is set up, by files: MTU and bond of its netdev with the links of its members, mlx5's
 * switches of congestion control, rdma_cm's defaults in configfs, the ToS that NVIDIA's own driver
 * forces. DCB adds the rest (probes/dcb.h). Nothing is ever made: a missing directory of configfs
 * is a default that nobody changed. */
#pragma once
#include "probes/facts.h"

struct port_config_source {
	int root_fd; /* /sys, or a tree that looks like it */
	const char *device, *netdev;
	uint8_t port;
};

/* Fills what files tell of *ret, which is as if unknown before. Failures other than absence are
 * counted in errors[READ_ERROR_COUNT]. */
void port_config_read(const struct port_config_source *from, struct port_config_fact *ret,
		      uint64_t *errors);
