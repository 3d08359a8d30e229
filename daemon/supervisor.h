/* All RDMA devices of the host and their workers. */
#pragma once
#include "daemon/device.h"
#include "daemon/scan.h"

#define SUPERVISOR_MAX (2 * SCAN_MAX) /* devices remembered, absent ones included */

struct config;
struct supervisor;

/* ctx is copied. NULL: no memory. */
struct supervisor *supervisor_new(const struct device_context *ctx);
void supervisor_free(struct supervisor *s); /* kills what still runs */
/* Geometry of a worker's table: samples of a minute at the shortest interval. */
struct table_layout supervisor_layout(const struct config *config);
/* Exclusions, intervals, and the geometry of the next workers' tables. */
void supervisor_configure(struct supervisor *s, const struct config *config, uint64_t now_ns);
void supervisor_found(struct supervisor *s, const struct scan_result *found, uint64_t now_ns);
void supervisor_leaving(struct supervisor *s, const char *device, uint64_t now_ns);
void supervisor_tick(struct supervisor *s, uint64_t now_ns, bool paused);
/* Devices that are gone are forgotten, but for those that `keep` wants. */
void supervisor_forget_absent(struct supervisor *s, bool (*keep)(void *arg, const char *device),
			      void *arg);
/* Goodbye to all; then ask supervisor_running() and in the end kill. */
void supervisor_stop(struct supervisor *s, uint64_t now_ns);
size_t supervisor_running(const struct supervisor *s);
void supervisor_kill(struct supervisor *s);

/* Sorted by name; excluded ones are not there. Valid until the next found or forget. */
size_t supervisor_count(const struct supervisor *s);
struct device *supervisor_get(const struct supervisor *s, size_t i);
struct device *supervisor_find(const struct supervisor *s, const char *name); /* NULL: unknown */
