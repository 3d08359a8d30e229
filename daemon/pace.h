/* How often main looks when things happen. A look at a thousand sessions takes long on a slow host;
 * in a storm of events looks that follow each other would keep main from answering. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define PACE_SOON_NS 50000000ULL /* events of this long are looked at together */
#define PACE_REST 4		 /* between looks main has that many times as long for all else */

/* A host without sessions and rails is looked at when there is news and when somebody asks. */
#define PACE_IDLE_NS 4500000000ULL /* else every fifth tick */
#define PACE_OLD_NS 1000000000ULL  /* who asks is told nothing older */

/* Whether who asks now gets a new look; the last one ended at ended_ns and took cost_ns. */
bool pace_renew(uint64_t now_ns, uint64_t ended_ns, uint64_t cost_ns);
/* When to look after something happened now; the last look ended at ended_ns and took cost_ns. */
uint64_t pace_next(uint64_t now_ns, uint64_t ended_ns, uint64_t cost_ns);
