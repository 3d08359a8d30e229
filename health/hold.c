#include "health/hold.h"

static bool held(uint64_t reached_ns, uint64_t now_ns, uint64_t hold_ns)
{
	return reached_ns && now_ns - reached_ns < hold_ns;
}

bool hold_next(struct hold *h, enum rule_state said, bool busy, uint64_t now_ns, uint64_t hold_ns)
{
	enum rule_state before = h->state, lowest = said;

	if (said == RULE_CRITICAL && (busy || before < RULE_CRITICAL))
		h->critical_ns = now_ns;
	if (said >= RULE_WARNING && (busy || before < RULE_WARNING))
		h->warning_ns = now_ns;
	/* What is only remembered holds no level that its time has ended for. */
	if (!busy && said >= RULE_WARNING && before >= RULE_WARNING)
		lowest = RULE_OK;
	if (h->critical_ns == now_ns || held(h->critical_ns, now_ns, hold_ns))
		h->state = RULE_CRITICAL;
	else if (h->warning_ns == now_ns || held(h->warning_ns, now_ns, hold_ns))
		h->state = RULE_WARNING;
	else
		h->state = lowest;
	return h->state != before;
}
