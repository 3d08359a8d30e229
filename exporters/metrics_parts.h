/* The parts of /metrics, one file each. Internal to metrics_*.c and also_*.c. Each appends its
 * families for the whole snapshot; running out of memory shows in the output buffer. */
#pragma once
#include "exporters/counter_lines.h"
#include "exporters/exposition.h"
#include "exporters/process.h"
#include "health/snapshot.h"

void metrics_put_rails(struct exposition *e, const struct snapshot *s);
void metrics_put_devices(struct exposition *e, const struct snapshot *s);
void metrics_put_rules(struct exposition *e, const struct snapshot *s);
void metrics_put_config(struct exposition *e, const struct snapshot *s);
void metrics_put_health(struct exposition *e, const struct snapshot *s);
void metrics_put_sessions(struct exposition *e, const struct snapshot *s);
void metrics_put_loopbacks(struct exposition *e, const struct snapshot *s);
void metrics_put_self(struct exposition *e, const struct snapshot *s,
		      const struct process_facts *process);

/* The lines of counters and of the netdevs' statistics, where these are others than before. */
void metrics_make_counters(struct counter_lines *l, const struct snapshot *s);
void metrics_make_netdevs(struct counter_lines *l, const struct snapshot *s);

/* Begins a sample of a port: its two labels stand, more may follow, then the value. False: it is
 * not admitted. */
bool metrics_open_port(struct exposition *e, const struct snap_device *d, unsigned port);

/* Most series that metrics_put_self() writes: kept free for it, since it tells what is missing. */
#define METRICS_SELF_SERIES 16
