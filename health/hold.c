#include "health/hold.h"

/* What is over is forgotten: a reload to a longer hold brings nothing back. */
static bool holds(uint64_t *reached_ns, uint64_t now_ns, uint64_t hold_ns)
{
	if (*reached_ns == now_ns || (*reached_ns && now_ns - *reached_ns < hold_ns))
		return true;
	*reached_ns = 0;
	return false;
}

/* What is only remembered reaches a level when it is first said, as after a limit was lowered. */
static bool reached(const struct hold *h, enum rule_state level, enum rule_state said, bool busy)
{
	return said >= level && (busy || h->said < level);
}

bool hold_next(struct hold *h, enum rule_state said, bool busy, uint64_t now_ns, uint64_t hold_ns)
{
	enum rule_state before = h->state, lowest = said;
	bool critical, warning;

	if (reached(h, RULE_CRITICAL, said, busy))
		h->critical_ns = now_ns;
	if (reached(h, RULE_WARNING, said, busy))
		h->warning_ns = now_ns;
	h->said = said;
	/* It holds no level, and brings none back, that its time has ended for. */
	if (!busy && said >= RULE_WARNING)
		lowest = RULE_OK;
	critical = holds(&h->critical_ns, now_ns, hold_ns);
	warning = holds(&h->warning_ns, now_ns, hold_ns);
	h->state = critical ? RULE_CRITICAL : warning ? RULE_WARNING : lowest;
	return h->state != before;
}
