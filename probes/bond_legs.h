/* The statistics of the netdevs that a port's bond is made of: PFC, discards and marks are counted
 * by the legs, and the bond itself has none. Made when a port first has legs; counter thread only.
 */
#pragma once
#include "probes/netdev_stats.h"

struct bond_legs;

struct bond_legs *bond_legs_new(void); /* NULL: no memory */
void bond_legs_free(struct bond_legs *l);
/* Those of the leg of that name, which is one of the n of members: what is known of it stays while
 * it has a place among them, whichever. */
struct netdev_stats *bond_legs_of(struct bond_legs *l, const char *name,
				  const char (*members)[FACT_NETDEV], unsigned n);
/* Ask again also what failed, and for the names too. NULL: nothing. */
void bond_legs_retry(struct bond_legs *l);
/* The names of statistics are to be read anew. NULL: nothing. */
void bond_legs_stale(struct bond_legs *l);
/* "ens1f0np0/rx_prio3_pause": by what name a value of SOURCE_LEG is told. */
void bond_leg_stat_name(const char *leg, const char *stat, char ret[FACT_NAME]);
