/* The line and the event when a rule of a port says something else than in the snapshot before. */
#pragma once
#include "health/snapshot.h"

struct journal;

/* before NULL: there was none. */
void rule_log_changes(struct journal *j, const struct snapshot *before, const struct snapshot *now);
