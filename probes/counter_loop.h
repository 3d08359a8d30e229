/* The counter thread of a worker, and all there is of one under --sysfs-root: round after round
 * into the table, with a heartbeat as WORKER_COUNTER. It may be stuck in the kernel at any time;
 * nothing here then waits for it longer than told. */
#pragma once
#include "probes/facts.h"

struct table;
struct counter_loop;

/* Starts the thread. The table must outlive it. NULL with errno. */
struct counter_loop *counter_loop_start(struct table *t, const char *sysfs_root, const char *device,
					uint64_t interval_ns, uint32_t netdev_stats);
/* Another interval, and another number of statistics of each port's netdev (0: none; others than 0
 * for the /sys of this host alone). At once, also if the current wait is longer. */
void counter_loop_set(struct counter_loop *l, uint64_t interval_ns, uint32_t netdev_stats);
/* A round now, with everything read anew (counter_reader_poke). Never blocks. */
void counter_loop_poke(struct counter_loop *l);
/* The last round found the device's directory gone. */
bool counter_loop_device_gone(const struct counter_loop *l);
/* Tell it to end and wait at most max_ns. true: it ended and is freed. false: it is stuck in the
 * kernel; it is abandoned with its memory, still uses the table if it ever comes back, and l must
 * not be used again. NULL: true. */
bool counter_loop_stop(struct counter_loop *l, uint64_t max_ns);
