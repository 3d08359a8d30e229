#include "health/rule.h"

static const char *const names[RULE_COUNT] = {
	[RULE_LINK_DOWN] = "link_down",
	[RULE_LINK_FLAP] = "link_flap",
	[RULE_LINK_ERRORS] = "link_errors",
	[RULE_LINK_DEGRADED] = "link_degraded",
	[RULE_CONGESTION] = "congestion",
	[RULE_CC_BROKEN] = "cc_broken",
	[RULE_LOSS] = "loss",
	[RULE_RECEIVER_NOT_READY] = "receiver_not_ready",
	[RULE_PAUSE_RECEIVED] = "pause_received",
	[RULE_PAUSE_SENT] = "pause_sent",
	[RULE_PFC_STORM] = "pfc_storm",
	[RULE_PCIE_BOTTLENECK] = "pcie_bottleneck",
	[RULE_COUNTERS_SATURATED] = "counters_saturated",
	[RULE_COUNTERS_UNREADABLE] = "counters_unreadable",
	[RULE_FIRMWARE_STUCK] = "firmware_stuck",
};

const char *rule_name(enum rule rule)
{
	return names[rule];
}

const char *rule_state_name(enum rule_state state)
{
	switch (state) {
	case RULE_NOT_APPLICABLE:
		return "not_applicable";
	case RULE_OK:
		return "ok";
	case RULE_WARNING:
		return "warning";
	case RULE_CRITICAL:
		return "critical";
	}
	return "";
}
