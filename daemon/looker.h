/* Looks at everything: once a second, and soon after something happened; where there are neither
 * sessions nor rails, when a round of counters has come or grown old, when somebody asks, and every
 * five seconds. A look reads the workers' tables, settles the books, judges, tells changes of
 * verdict, and leaves a new snapshot. */
#pragma once
#include <stdint.h>

struct daemon;
struct device;
struct looker;
struct snapshot;

struct looker *looker_new(struct daemon *d); /* NULL with errno */
void looker_free(struct looker *l);
/* Look within 100 ms, or later where looks take long (pace.h). */
void looker_soon(struct looker *l);
void looker_look(struct looker *l);
/* Once a second: looks, unless nothing could be seen. */
void looker_tick(struct looker *l, uint64_t now_ns);
/* What the table of the device's worker says, into sessions, rails and device; the last time,
 * when the worker has ended. */
void looker_read_device(struct looker *l, struct device *dev);
/* A new reference to the last snapshot, or to one made for who asks where that one is older than a
 * second; NULL before the first. */
struct snapshot *looker_snapshot(struct looker *l);
