/* Statistics of a netdev, from whatever answers in the kernel's place: names of any bytes, numbers
 * that change between two calls, errors in the middle. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "fuzz.h"
#include "probes/netdev_stats.h"

#define ROUNDS 4
#define FILL_MAX 600 /* entries that are written; the rest is as it was before */

/* The bytes that answers are made of, one after the other, then zeroes. */
static struct {
	const uint8_t *at;
	size_t left;
} script;

static uint8_t next(void)
{
	if (!script.left)
		return 0;
	script.left--;
	return *script.at++;
}

static void fill(uint8_t *to, size_t size)
{
	size_t some = size < script.left ? size : script.left;

	memcpy(to, script.at, some);
	memset(to + some, 0, size - some);
	script.at += some;
	script.left -= some;
}

/* Small mostly, so that there is something to say of each; sometimes beyond all that is asked. */
static uint32_t number(void)
{
	uint8_t n = next();

	return n < 250 ? n : n == 255 ? ETHTOOL_MAX + 1 : (n - 248u) * 300;
}

static uint32_t said(uint32_t asked)
{
	uint8_t lie = next();

	return lie < 200 ? asked : lie;
}

static size_t entries(uint32_t n)
{
	return n < FILL_MAX ? n : FILL_MAX;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	union {
		void *data;
		uint32_t *cmd;
		struct ethtool_sset_info *info;
		struct ethtool_gstrings *strings;
		struct ethtool_stats *stats;
	} to = {((struct ifreq *)arg)->ifr_data};

	must_hold(fd >= 0 && request == SIOCETHTOOL);
	if (next() > 240) {
		errno = next() % 2 ? EOPNOTSUPP : EBUSY;
		return -1;
	}
	switch (*to.cmd) {
	case ETHTOOL_GSSET_INFO:
		to.info->data[0] = number();
		return 0;
	case ETHTOOL_GSTRINGS:
		to.strings->len = said(to.strings->len);
		fill(to.strings->data, entries(to.strings->len) * ETHTOOL_NAME);
		return 0;
	case ETHTOOL_GSTATS:
		to.stats->n_stats = said(to.stats->n_stats);
		fill((uint8_t *)to.stats->data, entries(to.stats->n_stats) * sizeof(uint64_t));
		return 0;
	}
	must_hold(false); /* nothing but reading */
	return -1;
}

static void check_stat(const struct netdev_stats *s, uint32_t i)
{
	const struct netdev_stat *stat = &s->stat[i];

	must_hold(stat->row && stat->index < s->total && strlen(stat->name) <= ETHTOOL_NAME);
	must_hold(stat->name[0] && stat->name[0] != ' ');
	for (const char *c = stat->name; *c; c++)
		must_hold(*c >= ' ' && *c <= '~');
	for (uint32_t k = 0; k < i; k++)
		must_hold(strcmp(s->stat[k].name, stat->name) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct netdev_stats s;
	struct ethtool e;
	uint32_t max;

	memset(&s, 0, sizeof(s));
	must_hold(ethtool_open(&e) == 0);
	script.at = data;
	script.left = size;
	max = next() * 4u;
	for (unsigned i = 0; i < ROUNDS; i++) {
		int r = netdev_stats_read(&s, &e, "eth0", max);

		must_hold(s.n <= NETDEV_STATS_MAX && (r != 1 || s.n <= max));
		must_hold(r < 0 || s.n + s.dropped <= s.total);
		for (uint32_t k = 0; k < s.n; k++)
			check_stat(&s, k);
		netdev_stats_retry(&s);
	}
	ethtool_close(&e);
	return 0;
}
