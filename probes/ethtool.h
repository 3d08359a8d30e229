/* Statistics of a netdev as `ethtool -S` shows them: the kernel's call, and nothing that changes
 * anything. Blocks for as long as somebody holds the kernel's lock of all netdevs (RTNL). */
#pragma once
#include <stdint.h>

#define ETHTOOL_NAME 32	   /* bytes of a name, which need not end in a NUL */
#define ETHTOOL_MAX 65536u /* statistics of a netdev; one that says more is not asked further */

struct ethtool {
	int fd;
	void *room; /* for answers */
};

int ethtool_open(struct ethtool *e); /* 0 or -errno */
void ethtool_close(struct ethtool *e);
/* How many statistics the netdev has, which may be 0, or -errno: -EOPNOTSUPP it has none by nature,
 * -ENODEV there is no netdev of that name. */
int ethtool_count(struct ethtool *e, const char *netdev);
/* The names or values of all n of them, valid until the next call: 0 or -errno, -EAGAIN when there
 * are not n of them any more. */
int ethtool_names(struct ethtool *e, const char *netdev, uint32_t n,
		  const char (**ret)[ETHTOOL_NAME]);
int ethtool_values(struct ethtool *e, const char *netdev, uint32_t n, const uint64_t **ret);
