/* What the service manager is told: READY, STATUS, RELOADING, STOPPING and the watchdog's food.
 * Without NOTIFY_SOCKET all of it does nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/loop.h"

#define NOTIFY_STALL_NS 3000000000ULL /* a tick later than this is no progress */

struct notify;

struct notify *notify_new(struct loop *loop); /* NULL with errno */
void notify_free(struct notify *n);
/* Once; and again after a reload. */
void notify_ready(struct notify *n);
void notify_reloading(struct notify *n, uint64_t now_ns);
void notify_stopping(struct notify *n);
/* Sent when it differs from the last one. */
void notify_status(struct notify *n, const char *text);
/* main's tick ran. The watchdog is fed between ticks for as long as they come. */
void notify_progress(struct notify *n, uint64_t now_ns);

/* Time between two feedings for a watchdog of usec: under half of it; 0 for none. */
uint64_t notify_watchdog_period_ns(uint64_t usec);
