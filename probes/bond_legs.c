#include "probes/bond_legs.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(FACT_NETDEV + ETHTOOL_NAME + 1 <= FACT_NAME, "a leg and a statistic are a name");

struct bond_legs {
	struct netdev_stats leg[BOND_MEMBERS];
};

struct bond_legs *bond_legs_new(void)
{
	return calloc(1, sizeof(struct bond_legs));
}

void bond_legs_free(struct bond_legs *l)
{
	free(l);
}

static bool is_member(const char *name, const char (*members)[FACT_NETDEV], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(members[i], name) == 0)
			return true;
	return false;
}

struct netdev_stats *bond_legs_of(struct bond_legs *l, const char *name,
				  const char (*members)[FACT_NETDEV], unsigned n)
{
	struct netdev_stats *free_one = NULL;

	assert(n <= BOND_MEMBERS);
	for (unsigned i = 0; i < BOND_MEMBERS; i++) {
		struct netdev_stats *s = &l->leg[i];

		if (strcmp(s->netdev, name) == 0)
			return s;
		if (!free_one && !is_member(s->netdev, members, n))
			free_one = s;
	}
	/* As many places as members: one of those is of none of them. */
	assert(free_one);
	return free_one;
}

void bond_legs_retry(struct bond_legs *l)
{
	for (unsigned i = 0; l && i < BOND_MEMBERS; i++)
		netdev_stats_retry(&l->leg[i]);
}

void bond_legs_stale(struct bond_legs *l)
{
	for (unsigned i = 0; l && i < BOND_MEMBERS; i++)
		l->leg[i].stale = true;
}

void bond_leg_stat_name(const char *leg, const char *stat, char ret[FACT_NAME])
{
	snprintf(ret, FACT_NAME, "%.*s/%.*s", FACT_NETDEV - 1, leg, ETHTOOL_NAME, stat);
}
