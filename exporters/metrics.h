/* /metrics: a snapshot as Prometheus text or OpenMetrics (docs/METRICS.md lists every family). */
#pragma once
#include "exporters/exposition.h"
#include "exporters/process.h"
#include "health/snapshot.h"

/* Append the whole exposition to out. Families of sessions come last of ours and take what
 * max_series leaves, whole sessions in their order; other exporters' names after them. process may
 * be NULL: no process_* families. 0 or -ENOMEM (out is then not to be used). */
int metrics_render(const struct snapshot *s, const struct process_facts *process,
		   enum exposition_format format, struct strbuf *out);
