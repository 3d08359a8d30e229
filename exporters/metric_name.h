/* Which names of a vendor's counters may become names of metrics. The others are told by
 * rdma_hw_stat_total, where the name is a label. Decided by the name alone, so that a counter
 * never moves from one family to another between devices or versions of a driver. */
#pragma once
#include <stdbool.h>

enum metric_scope { METRIC_PORT, METRIC_DEVICE, METRIC_NETDEV };

/* True when rdma_<name> (METRIC_PORT), rdma_device_<name> (METRIC_DEVICE) or rdma_netdev_<name>
 * (METRIC_NETDEV) is a legal name that promtool has no complaint about and that no family of ours
 * has or may get. */
bool metric_name_usable(enum metric_scope scope, const char *name, bool gauge);
/* True when rdma_<name>_total is a legal name, whatever promtool says, that no family of ours has
 * or may get but those named after the drivers' counters. */
bool metric_name_free(const char *name);
