#include "daemon/subnets.h"

#include <string.h>

#include "core/conf.h"
#include "core/log.h"

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

void subnets_warn(const struct rails *rails, const struct rail *rail)
{
	struct ifaddrs *own;

	/* Without the masks there is nothing to say. */
	if (!rail->present || rail->fact.netdev[0] == '\0' || getifaddrs(&own) < 0)
		return;
	for (size_t i = 0; i < rails_count(rails); i++) {
		const struct rail *other = rails_get(rails, i);

		if (shares(own, rail, other))
			log_msg(LOG_LEVEL_WARN,
				"rails %s (%s, %s) and %s (%s, %s) are in one subnet: with "
				"arp_ignore=0 each NIC answers for the other's address, and probes "
				"come in on the wrong one; use a subnet for each rail, or set "
				"net.ipv4.conf.all.arp_ignore=1 and arp_announce=2",
				rail->name, rail->fact.netdev, rail->fact.address, other->name,
				other->fact.netdev, other->fact.address);
	}
	freeifaddrs(own);
}
