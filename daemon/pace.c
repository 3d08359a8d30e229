#include "daemon/pace.h"

uint64_t pace_next(uint64_t now_ns, uint64_t ended_ns, uint64_t cost_ns)
{
	uint64_t soon = now_ns + PACE_SOON_NS, rested = ended_ns + PACE_REST * cost_ns;

	return rested > soon ? rested : soon;
}

bool pace_renew(uint64_t now_ns, uint64_t ended_ns, uint64_t cost_ns)
{
	uint64_t old = ended_ns + PACE_OLD_NS, rested = ended_ns + PACE_REST * cost_ns;

	return now_ns >= old && now_ns >= rested;
}
