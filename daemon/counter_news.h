/* What happened to a device's counters, for log and journal. */
#pragma once
#include "probes/facts.h"

struct device;
struct journal;

/* round is the last one of the device's worker, whose totals are read already: counters that began
 * anew since the last call, and files that began to fail, are an event and a line of the log; a
 * netdev that has no statistics to tell is a line, once. */
void counter_news_tell(struct journal *j, struct device *dev, const struct counter_round *round);
