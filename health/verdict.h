/* Verdicts and causes. Pure: facts and time in, judgement out. */
#pragma once
#include "probes/facts.h"

enum verdict { VERDICT_OK, VERDICT_DEGRADED, VERDICT_FAILING, VERDICT_UNKNOWN };

enum cause {
	CAUSE_NONE,
	CAUSE_LOCAL_PORT,
	CAUSE_LOCAL_NIC,
	CAUSE_LOCAL_HOST,
	CAUSE_REMOTE_NIC,
	CAUSE_REMOTE_HOST,
	CAUSE_PATH,
	CAUSE_CONGESTION,
	CAUSE_CONFIGURATION,
	CAUSE_MONITOR,
	CAUSE_INCONCLUSIVE,
};
#define CAUSE_COUNT 11

const char *verdict_name(enum verdict v);
const char *cause_name(enum cause c);

/* What a trouble of that cause makes of a host or a port that has it: failing when it is its own
 * and critical, else degraded. A monitor that does not measure is no proof of a host that does not
 * work. */
enum verdict verdict_of_trouble(enum cause cause, bool critical);

/* How much of a turn it takes, for a verdict not to flap. */
struct verdict_limits {
	uint32_t failing_after; /* misses in a row of one operation; at least 1 */
	uint32_t ok_after; /* successes in a row of every operation, after a miss; at least 1 */
};

/* The next verdict of a session, from what its books did since the last look: a miss of any
 * operation is degraded, failing_after in a row are failing, ok again after ok_after successes in a
 * row of every operation that is on (the first ok needs one of each). prev is the books at the last
 * look, or NULL at the first. */
enum verdict verdict_next(enum verdict current, const struct verdict_limits *limits,
			  const struct op_books *prev, const struct op_books *now);
