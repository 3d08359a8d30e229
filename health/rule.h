/* The rules by which counters and states of a port are judged: their names, limits and what they
 * say. Each rule is a pure function (health/rules/) of what is known of one port at one round. */
#pragma once
#include "health/rates.h"
#include "health/verdict.h"
#include "probes/facts.h"

enum rule {
	RULE_LINK_DOWN,
	RULE_LINK_FLAP,
	RULE_LINK_ERRORS,
	RULE_LINK_DEGRADED,
	RULE_CONGESTION,
	RULE_CC_BROKEN,
	RULE_LOSS,
	RULE_RECEIVER_NOT_READY,
	RULE_PAUSE_RECEIVED,
	RULE_PAUSE_SENT,
	RULE_PFC_STORM,
	RULE_PCIE_BOTTLENECK,
	RULE_COUNTERS_SATURATED,
	RULE_COUNTERS_UNREADABLE,
	RULE_FIRMWARE_STUCK,
};
#define RULE_COUNT 15

const char *rule_name(enum rule rule); /* "link_down", ...: labels and JSON members */

enum rule_state {
	RULE_NOT_APPLICABLE, /* what it judges is not there: no counters, or not our business */
	RULE_OK,
	RULE_WARNING,
	RULE_CRITICAL,
};
#define RULE_STATE_COUNT 4
const char *rule_state_name(enum rule_state state); /* "not_applicable", "ok", ... */

/* Section [rules] of the configuration; in the units that its keys state, 0: no such level. */
struct rule_limits {
	bool on[RULE_COUNT];
	uint32_t warning[RULE_COUNT], critical[RULE_COUNT];
	uint64_t recovery_ns; /* how long a link has to be well before its trouble is forgotten */
	uint64_t hold_ns;     /* how long other trouble is told after its limit was last reached */
};

/* What is known of a port at one round. */
struct rule_input {
	const struct rates *rates;
	const struct rule_limits *limits;
	unsigned port;	/* of the device */
	bool lone;	/* the only one: what the port does not count itself, the device may */
	const char *id; /* "mlx5_0/1" */
	const struct port_fact *fact;
	const struct device_fact *device;
	bool expected;	    /* a rail uses the port, and it was up once */
	bool up;	    /* active, as far as is known */
	uint64_t down_ns;   /* for how long it is, or last was, down */
	uint64_t up_ns;	    /* for how long it is up again; UINT64_MAX: was never seen down */
	unsigned losses;    /* of the link in five minutes, seen in its state */
	unsigned saturated; /* counters of the port that stand at their end */
	const char *saturated_name;
	unsigned values, values_most; /* files that can be read now, and ever could */
	unsigned retry_count;	      /* of our own probes */
};

#define RULE_EVIDENCE_MAX 4

struct rule_evidence {
	char name[FACT_NAME];
	double value, threshold, window_seconds;
};

/* What a rule says at one round, before it is held for a while (health/hold.h). */
struct rule_said {
	bool judged; /* else nothing can be said yet: what was said before stands */
	enum rule_state state;
	enum cause cause; /* valid when warning or critical, like all below */
	bool busy;	  /* the trouble is there now, and not only still in the window */
	bool about_data;  /* says nothing of the host's health */
	bool past;	  /* it is over, and told for a while: weighs on the port alone */
	char text[FACT_TEXT];
	unsigned n_evidence;
	struct rule_evidence evidence[RULE_EVIDENCE_MAX];
};

/* Asks a rule. A rule that is switched off is not applicable. */
void rule_ask(enum rule rule, const struct rule_input *in, struct rule_said *ret);
