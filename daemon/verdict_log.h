/* The line that is written when a session's verdict changes: all that is needed to find the
 * connection in switches, captures and the driver's own tools. */
#pragma once
#include "health/snapshot.h"

struct journal;
struct session;

/* The events when verdicts of the host and its devices are others than in the snapshot before;
 * before NULL: there was none. */
void verdict_log_host(struct journal *j, const struct snapshot *before, const struct snapshot *now);
void verdict_log_change(struct journal *j, const struct snap_session *now,
			const struct session *session);
