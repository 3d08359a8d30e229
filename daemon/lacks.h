/* Operations that the configuration turns on and a session cannot run: told once when that is
 * known, and shown in the session's row for as long as it is so. */
#pragma once

struct daemon;
struct session;
struct snapshot;
struct snap_session;

/* Something about it changed: an event, and a line of the log. */
void lacks_tell(struct daemon *d, struct session *s);
/* "atomic is not run: this device has no atomics"; "" when all run. Lives as long as the snapshot,
 * or NULL without memory. */
const char *lacks_words(struct snapshot *snapshot, const struct session *s);
