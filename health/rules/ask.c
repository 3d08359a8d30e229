/* Which function is which rule. */
#include <string.h>

#include "health/rules/rules.h"

static const rule_fn rules[RULE_COUNT] = {
	[RULE_LINK_DOWN] = rule_link_down,
	[RULE_LINK_FLAP] = rule_link_flap,
	[RULE_LINK_ERRORS] = rule_link_errors,
	[RULE_LINK_DEGRADED] = rule_link_degraded,
	[RULE_CONGESTION] = rule_congestion,
	[RULE_CC_BROKEN] = rule_cc_broken,
	[RULE_LOSS] = rule_loss,
	[RULE_RECEIVER_NOT_READY] = rule_receiver_not_ready,
	[RULE_PAUSE_RECEIVED] = rule_pause_received,
	[RULE_PAUSE_SENT] = rule_pause_sent,
	[RULE_PFC_STORM] = rule_pfc_storm,
	[RULE_PCIE_BOTTLENECK] = rule_pcie_bottleneck,
	[RULE_COUNTERS_SATURATED] = rule_counters_saturated,
	[RULE_COUNTERS_UNREADABLE] = rule_counters_unreadable,
	[RULE_FIRMWARE_STUCK] = rule_firmware_stuck,
};

void rule_ask(enum rule rule, const struct rule_input *in, struct rule_said *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->judged = true;
	ret->state = RULE_NOT_APPLICABLE;
	ret->busy = true;
	if (in->limits->on[rule])
		rules[rule](in, ret);
}
