/* The GIDs of a device's ports, as sysfs lists them: all slots that are not empty. */
#pragma once
#include "probes/facts.h"

#define GID_INDEX_MAX 4096 /* slots of a port that are looked at */

struct gid_table {
	uint32_t n, dropped; /* dropped: non-empty beyond GID_MAX, or slots beyond GID_INDEX_MAX */
	struct gid_fact gids[GID_MAX]; /* by port in the order of scanning, then by index */
};

void gid_table_clear(struct gid_table *t);
/* Add the GIDs of a port; dev_fd is the device's directory. Empty slots are no error; failures are
 * counted in errors[READ_ERROR_COUNT]. */
void gid_table_scan(struct gid_table *t, int dev_fd, uint8_t port, enum link_layer layer,
		    uint64_t *errors);
/* The netdev of the port's first GID that has one, or "". */
const char *gid_table_netdev(const struct gid_table *t, uint8_t port);
