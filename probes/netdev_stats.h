/* The statistics of one port's netdev: which of them are followed, and their values. Names come
 * from a driver and are any bytes; what is kept of them is printable and once there. Fixed size,
 * no allocation; counter thread only. */
#pragma once
#include "probes/counter_table.h"
#include "probes/ethtool.h"

#define NETDEV_STATS_MAX 512u /* of a port that can be followed; the rest is counted */
/* A netdev that answered an error is asked again this many rounds later. */
#define NETDEV_RETRY_ROUNDS 12

struct netdev_stat {
	char name[ETHTOOL_NAME + 1];
	bool has_value, has_before;
	uint32_t index; /* among all of the netdev */
	const struct counter_row *row;
	uint64_t before, value;
};

struct netdev_stats {		  /* zeroed: nothing is known */
	char netdev[FACT_NETDEV]; /* whose they are; "": nobody's */
	uint32_t total;		  /* that the netdev has */
	uint32_t max;		  /* wanted when they were chosen */
	uint64_t names_hash;
	bool stale;   /* names are to be read anew */
	uint8_t skip; /* rounds to leave out */
	uint32_t n, dropped;
	struct netdev_stat stat[NETDEV_STATS_MAX];
};

/* Ask for the values of at most max (NETDEV_STATS_MAX at most) statistics of netdev, known ones
 * first, those of single queues last. 1: n, stat and dropped are of now; 0: the netdev is left
 * alone for some rounds; -errno: nothing was got, -EOPNOTSUPP for a netdev that has none by nature.
 */
int netdev_stats_read(struct netdev_stats *s, struct ethtool *e, const char *netdev, uint32_t max);
/* Ask again also what failed, and for the names too. */
void netdev_stats_retry(struct netdev_stats *s);
/* What is kept of a driver's name: without blanks around it, "?" for what is not printable ASCII.
 */
void netdev_stat_name(const char raw[ETHTOOL_NAME], char ret[ETHTOOL_NAME + 1]);
