#include "health/hold.h"

static bool held(uint64_t reached_ns, uint64_t now_ns, uint64_t hold_ns)
{
	return reached_ns && now_ns - reached_ns < hold_ns;
}

/* What is only remembered reaches a level when it is first said, as after a limit was lowered. */
static bool reached(const struct hold *h, enum rule_state level, enum rule_state said, bool busy)
{
	return said >= level && (busy || h->said < level);
}

bool hold_next(struct hold *h, enum rule_state said, bool busy, uint64_t now_ns, uint64_t hold_ns)
{
	enum rule_state before = h->state, lowest = said;

	if (reached(h, RULE_CRITICAL, said, busy))
		h->critical_ns = now_ns;
	if (reached(h, RULE_WARNING, said, busy))
		h->warning_ns = now_ns;
	h->said = said;
	/* It holds no level, and brings none back, that its time has ended for. */
	if (!busy && said >= RULE_WARNING)
		lowest = RULE_OK;
	if (h->critical_ns == now_ns || held(h->critical_ns, now_ns, hold_ns))
		h->state = RULE_CRITICAL;
	else if (h->warning_ns == now_ns || held(h->warning_ns, now_ns, hold_ns))
		h->state = RULE_WARNING;
	else
		h->state = lowest;
	return h->state != before;
}
