/* Findings that follow from how the host is set up, whatever the probes say: probes in a priority
 * without flow control, rails in one subnet, RoCE v1 alone, a PCI link below what it could be. Each
 * only when it is certain; all warnings that say nothing about the host's health. */
#pragma once
#include "health/finding.h"
#include "health/judge.h"

/* At most so many. */
size_t judge_facts_max(const struct snapshot *s, const struct judge_input *in);
void judge_facts(const struct judge_input *in, struct findings *f);
