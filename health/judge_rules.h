/* The judge's part about rules: verdicts of ports, and what a device's own verdict takes from them;
 * findings of rules. */
#pragma once
#include "health/finding.h"

size_t judge_rules_max(const struct snapshot *s); /* findings at most */
/* Fills in verdict, cause and reason of the device's ports, and makes the device's own worse where
 * one of its ports is. */
void judge_port_rules(const struct snapshot *s, struct snap_device *d);
void judge_rule_findings(struct findings *f);
