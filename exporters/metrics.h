/* /metrics: a snapshot as Prometheus text or OpenMetrics (docs/METRICS.md lists every family). */
#pragma once
#include "exporters/counter_lines.h"
#include "exporters/exposition.h"
#include "exporters/process.h"
#include "health/snapshot.h"

/* Append the whole exposition to out. Families of sessions come last of ours and take what
 * max_series leaves, whole sessions in their order; other exporters' names after them. process may
 * be NULL: no process_* families. kept: lines of counters, the same for each rendering of one host;
 * NULL: they are made for this one. 0 or -ENOMEM (out is then not to be used). */
int metrics_render(const struct snapshot *s, const struct process_facts *process,
		   enum exposition_format format, struct counter_lines *kept, struct strbuf *out);
