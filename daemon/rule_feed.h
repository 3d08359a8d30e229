/* Feeds the rules of a device with what its counters and our own probes on it say. */
#pragma once

struct counter_round;
struct daemon;
struct device;

/* round is the last one of its worker; one that was fed already does nothing. */
void rule_feed(struct daemon *d, struct device *dev, const struct counter_round *round);
