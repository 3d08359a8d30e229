/* The rules of one device: fed with each round of its counters, it remembers what they have to,
 * asks all rules of each port and holds what they say. Lives as long as main knows the device, so
 * that the end of a worker changes nothing. */
#pragma once
#include "health/snapshot.h"

struct device_rules;

struct device_rules_input {
	const struct rule_limits *limits;
	const struct counter_round *round;
	uint64_t now_ns, wall_ns;
	/* Ports that a rail uses; NULL with n 0: none. */
	const uint8_t *rail_ports;
	size_t n_rail_ports;
	bool all_ports; /* whatever rails there are: where only counters are read */
	const struct rate_own_total *own;
	size_t n_own;
	unsigned retry_count; /* of our probes */
};

struct device_rules *device_rules_new(const char *device); /* NULL: no memory */
void device_rules_free(struct device_rules *r);
/* True: it was a new round. One that is as old as the last, or of the future, is ignored. */
bool device_rules_round(struct device_rules *r, const struct device_rules_input *in);
/* Whether the rules are as of a round that ended at mono_ns. */
bool device_rules_seen(const struct device_rules *r, uint64_t mono_ns);
/* Copies what holds into the snapshot; nothing when the last round is too long ago. False: no
 * memory. */
bool device_rules_fill(const struct device_rules *r, struct snapshot *s, struct snap_device *to);
