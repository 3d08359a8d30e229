/* A driver's side of the statistics of a netdev, for tests that stand behind the kernel's call.
 * Link with -Wl,--wrap=ioctl. */
#pragma once
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "probes/ethtool.h"

struct ethtool_driver {
	uint32_t n, grown; /* grown: more of them by the time that they are read */
	uint64_t first;	   /* value; the others follow */
	unsigned names_asked;
	/* The name of the i-th; ret has zeroes. */
	void (*put_name)(uint32_t i, char ret[ETHTOOL_NAME]);
};

/* What the driver answers to the command of a request; fails the test for one that writes. */
void ethtool_driver_answer(struct ethtool_driver *d, const struct ifreq *request);
