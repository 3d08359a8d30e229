/* Families under the names that other exporters have for the same counters, so that dashboards and
 * alerts written for those go on working ([counters] also_as; docs/COMPATIBILITY.md). They are told
 * after everything of ours, take what max_series leaves, and never take a name that is ours.
 * Internal to metrics.c. */
#pragma once
#include "exporters/exposition.h"
#include "health/snapshot.h"

/* node_infiniband_*, as Prometheus' node_exporter names them (1.5.0, and what 1.11 added). */
void also_put_node(struct exposition *e, const struct snapshot *s);
/* rdma_*, as rdma_exporter names them (0.8). */
void also_put_rdma(struct exposition *e, const struct snapshot *s);
