/* The statistics of the netdevs of a device's ports, and of the legs where a port's netdev is a
 * bond, which has none itself: into rounds, as values of SOURCE_ETHTOOL and SOURCE_LEG. Counter
 * thread only. */
#pragma once
#include "probes/bond_legs.h"
#include "probes/reset_log.h"

struct netdev_reader { /* zeroed: nothing is known, none are asked for */
	uint32_t max;  /* statistics of a port, legs included; 0: none are asked for */
	bool has_ethtool;
	struct ethtool ethtool;
	struct netdev_stats stats[PORT_MAX]; /* by index of the port */
	struct bond_legs *legs[PORT_MAX];    /* the same; NULL: it never had any */
};

/* Where what is read goes. */
struct netdev_sink {
	struct counter_round *round;
	uint32_t *dropped; /* values that found no room */
	struct reset_log *resets;
	uint64_t *errors; /* [READ_ERROR_COUNT] of the port */
};

enum netdev_news {
	NETDEV_AS_KNOWN,
	NETDEV_GONE, /* the port's netdev has another name by now, or is gone */
	NETDEV_LEG_GONE,
};

/* Opens what it asks by, at the first call. 0 or -errno. */
int netdev_reader_ready(struct netdev_reader *n);
void netdev_reader_close(struct netdev_reader *n);
/* Appends what the port with that index has; also sets port->netdev_errno. */
enum netdev_news netdev_reader_run(struct netdev_reader *n, uint32_t index, struct port_fact *port,
				   const struct netdev_sink *to);
/* Ask all of them again also what failed, and for the names too. */
void netdev_reader_retry(struct netdev_reader *n);
/* Names of the statistics of that port are to be read anew. */
void netdev_reader_stale(struct netdev_reader *n, uint32_t index);
