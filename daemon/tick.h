/* What main does for its devices and their sessions every second; the simulation's main does the
 * same. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* At d->tick_at_ns or later: notes how late it is and when the next one is due, looks after the
 * workers, and gives places to sessions. True: main itself stood still. */
bool tick_devices(struct daemon *d, uint64_t now_ns);
