#include "daemon/subnets.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/conf.h"
#include "core/log.h"
#include "core/names.h"

#define LOOK_NS (60 * NSEC_PER_SEC)
#define SETTINGS "/proc/sys/net/ipv4/conf"

/* getifaddrs() has no union of its own. */
static const union address *as_address(const struct sockaddr *sa)
{
	return (const union address *)sa;
}

static bool equal_under(const union address *a, const union address *b, const union address *mask)
{
	struct in6_addr x, y, m;

	if (a->sa.sa_family != b->sa.sa_family || a->sa.sa_family != mask->sa.sa_family)
		return false;
	x = address_mapped(a);
	y = address_mapped(b);
	m = address_mapped(mask);
	for (size_t i = 0; i < sizeof(m.s6_addr); i++)
		if ((x.s6_addr[i] ^ y.s6_addr[i]) & m.s6_addr[i])
			return false;
	return true;
}

static bool in_subnet_of(const struct ifaddrs *own, const union address *a, const union address *b)
{
	for (; own; own = own->ifa_next)
		if (own->ifa_addr && own->ifa_netmask &&
		    address_equal(as_address(own->ifa_addr), a) &&
		    equal_under(a, b, as_address(own->ifa_netmask)))
			return true;
	return false;
}

bool subnets_shared(const struct ifaddrs *own, const union address *a, const union address *b)
{
	return in_subnet_of(own, a, b) || in_subnet_of(own, b, a);
}

static bool shares(const struct ifaddrs *own, const struct rail *one, const struct rail *other)
{
	char err[CONF_MAX_ERROR];
	union address a, b;

	return other != one && other->present && other->fact.netdev[0] != '\0' &&
	       strcmp(other->fact.netdev, one->fact.netdev) != 0 &&
	       address_parse(one->fact.address, &a, err, sizeof(err)) == 0 &&
	       address_parse(other->fact.address, &b, err, sizeof(err)) == 0 &&
	       subnets_shared(own, &a, &b);
}

static int setting_of(const char *dir, const char *netdev, const char *name)
{
	char path[256], line[32], *end = line;
	long value = -1;
	FILE *f;

	/* A worker says what the netdev is called: another file is none of its business. */
	if (strchr(netdev, '/'))
		return -1;
	snprintf(path, sizeof(path), "%s/%s/%s", dir, netdev, name);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(line, sizeof(line), f))
		value = strtol(line, &end, 10);
	fclose(f);
	return end != line && value >= 0 && value <= INT_MAX ? (int)value : -1;
}

int subnets_setting(const char *dir, const char *netdev, const char *name)
{
	int all = setting_of(dir, "all", name), own = setting_of(dir, netdev, name);

	if (all < 0 || own < 0)
		return -1;
	return all > own ? all : own;
}

static bool answers_for_all(const struct subnet_pairs *pairs, const struct rail *r)
{
	return strchr(r->fact.address, '.') &&
	       subnets_setting(pairs->settings, r->fact.netdev, "arp_ignore") == 0;
}

static void note(struct subnet_pairs *pairs, const struct rail *one, const struct rail *other)
{
	struct subnet_pair *p = &pairs->pair[pairs->n++];
	const char *netdev = one->fact.netdev;

	name_copy(p->rail, sizeof(p->rail), one->name);
	name_copy(p->other, sizeof(p->other), other->name);
	snprintf(p->text, sizeof(p->text),
		 "rails %s (%s) and %s (%s) are in one subnet, and each NIC answers ARP for the "
		 "other's address (%s: arp_ignore=%d arp_announce=%d rp_filter=%d): use a subnet "
		 "for each rail, or set net.ipv4.conf.all.arp_ignore=1 and arp_announce=2",
		 one->name, netdev, other->name, other->fact.netdev, netdev,
		 subnets_setting(pairs->settings, netdev, "arp_ignore"),
		 subnets_setting(pairs->settings, netdev, "arp_announce"),
		 subnets_setting(pairs->settings, netdev, "rp_filter"));
}

static void look_at(struct subnet_pairs *pairs, const struct ifaddrs *own,
		    const struct rails *rails, size_t i)
{
	const struct rail *one = rails_get(rails, i);

	if (!one->present || !one->fact.netdev[0])
		return;
	for (size_t k = i + 1; k < rails_count(rails) && pairs->n < SUBNET_PAIRS; k++) {
		const struct rail *other = rails_get(rails, k);

		if (shares(own, one, other) &&
		    (answers_for_all(pairs, one) || answers_for_all(pairs, other)))
			note(pairs, one, other);
	}
}

static bool stands(const struct subnet_pair *pairs, size_t n, const struct subnet_pair *pair)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(pairs[i].rail, pair->rail) && !strcmp(pairs[i].other, pair->other))
			return true;
	return false;
}

void subnets_look(struct subnet_pairs *pairs, const struct rails *rails, uint64_t now_ns)
{
	struct subnet_pair before[SUBNET_PAIRS];
	size_t n_before = pairs->n;
	struct ifaddrs *own;

	if (pairs->looked_ns && now_ns - pairs->looked_ns < LOOK_NS)
		return;
	/* Without the masks there is nothing new to say. */
	if (getifaddrs(&own) < 0)
		return;
	if (!pairs->settings)
		pairs->settings = SETTINGS;
	memcpy(before, pairs->pair, sizeof(before));
	pairs->looked_ns = now_ns;
	pairs->n = 0;
	for (size_t i = 0; i < rails_count(rails); i++)
		look_at(pairs, own, rails, i);
	freeifaddrs(own);
	for (size_t i = 0; i < pairs->n; i++)
		if (!stands(before, n_before, &pairs->pair[i]))
			log_warn("%s", pairs->pair[i].text);
}
