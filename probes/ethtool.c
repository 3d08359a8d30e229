#include "probes/ethtool.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

/* The kernel writes as many entries as the driver has at that moment, whatever room was said to be
 * there. So the room is for the most that is ever asked for, behind it comes a page that cannot be
 * written, and what is not touched costs nothing. */
#define HEADER 64 /* of any of the structures */
#define GUARD 65536
#define ROOM (((size_t)ETHTOOL_MAX * ETHTOOL_NAME + HEADER + GUARD - 1) / GUARD * GUARD)

_Static_assert(ETHTOOL_NAME == ETH_GSTRING_LEN, "the kernel's length of a name");

int ethtool_open(struct ethtool *e)
{
	int r;

	*e = (struct ethtool){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	if (e->fd < 0)
		return -errno;
	e->room = mmap(NULL, ROOM + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	if (e->room != MAP_FAILED && mprotect(e->room, ROOM, PROT_READ | PROT_WRITE) == 0)
		return 0;
	r = -errno;
	ethtool_close(e);
	return r;
}

void ethtool_close(struct ethtool *e)
{
	if (e->fd >= 0)
		close(e->fd);
	if (e->room && e->room != MAP_FAILED)
		munmap(e->room, ROOM + GUARD);
	*e = (struct ethtool){.fd = -1};
}

static int ask(struct ethtool *e, const char *netdev, void *data)
{
	struct ifreq request = {.ifr_data = data};
	size_t len = strnlen(netdev, IFNAMSIZ);

	if (len == IFNAMSIZ)
		return -ENODEV;
	memcpy(request.ifr_name, netdev, len);
	return ioctl(e->fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

int ethtool_count(struct ethtool *e, const char *netdev)
{
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)]; /* one number */
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS}};
	int r = ask(e, netdev, &set);
	uint32_t n;

	if (r < 0)
		return r;
	if (!(set.info.sset_mask & 1ULL << ETH_SS_STATS))
		return -EOPNOTSUPP;
	memcpy(&n, set.room + sizeof(struct ethtool_sset_info), sizeof(n));
	return n > ETHTOOL_MAX ? -E2BIG : (int)n;
}

int ethtool_names(struct ethtool *e, const char *netdev, uint32_t n,
		  const char (**ret)[ETHTOOL_NAME])
{
	struct ethtool_gstrings *answer = e->room;
	int r;

	*answer = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	r = ask(e, netdev, answer);
	if (r == 0 && answer->len != n)
		r = -EAGAIN;
	*ret = (const char(*)[ETHTOOL_NAME])answer->data;
	return r;
}

int ethtool_values(struct ethtool *e, const char *netdev, uint32_t n, const uint64_t **ret)
{
	struct ethtool_stats *answer = e->room;
	int r;

	*answer = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
	r = ask(e, netdev, answer);
	if (r == 0 && answer->n_stats != n)
		r = -EAGAIN;
	*ret = (const uint64_t *)answer->data;
	return r;
}
