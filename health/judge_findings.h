/* Which findings the facts of one instant amount to: own troubles first, then the peers. */
#pragma once
#include "health/evidence.h"
#include "health/finding.h"

/* At most so many. */
size_t judge_findings_max(const struct snapshot *s, const struct judge_input *in);
/* After sessions and devices of the snapshot were judged. */
void judge_findings(const struct evidence *e, const struct judge_input *in, struct findings *f);
