#include "daemon/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"
#include "core/hash.h"
#include "core/names.h"

#define V4_MAPPED_BITS 96
#define MAX_LITERAL 128 /* bytes; far more than any literal with its zone */

static int refuse(char *err, size_t errlen, const char *s, const char *why)
{
	snprintf(err, errlen, "'%.64s' %s", s, why);
	return -EINVAL;
}

static void set_v4(union address *a, struct in_addr v4)
{
	memset(a, 0, sizeof(*a));
	a->in.sin_family = AF_INET;
	a->in.sin_addr = v4;
}

static struct in_addr mapped_v4(const struct in6_addr *v6)
{
	struct in_addr v4;

	memcpy(&v4, &v6->s6_addr[12], sizeof(v4));
	return v4;
}

/* The interface must exist now: a zone that is resolved later would be a session that cannot
 * say why it does not come up. */
static int set_zone(union address *a, const char *s, const char *zone, char *err, size_t errlen)
{
	if (!IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr)) {
		if (!zone)
			return 0;
		return refuse(err, errlen, s, "has a zone, but only link-local addresses take one");
	}
	if (!zone)
		return refuse(err, errlen, s, "is link-local: add its interface, as fe80::1%eth0");
	a->in6.sin6_scope_id = if_nametoindex(zone);
	if (a->in6.sin6_scope_id == 0)
		return refuse(err, errlen, s, "names an interface that this host does not have");
	return 0;
}

static bool valid_for_us(const union address *a)
{
	if (a->sa.sa_family == AF_INET) {
		uint32_t v4 = ntohl(a->in.sin_addr.s_addr);

		return !IN_MULTICAST(v4) && v4 != INADDR_BROADCAST;
	}
	return !IN6_IS_ADDR_MULTICAST(&a->in6.sin6_addr);
}

static int parse_any(const char *s, union address *ret, char *err, size_t errlen)
{
	char text[MAX_LITERAL], *zone;
	struct in_addr v4;

	if (!name_copy(text, sizeof(text), s))
		return refuse(err, errlen, s, "is no IP address");
	if (inet_pton(AF_INET, text, &v4) == 1) {
		set_v4(ret, v4);
	} else {
		memset(ret, 0, sizeof(*ret));
		ret->in6.sin6_family = AF_INET6;
		zone = strchr(text, '%');
		if (zone)
			*zone++ = '\0';
		if (inet_pton(AF_INET6, text, &ret->in6.sin6_addr) != 1)
			return refuse(err, errlen, s, "is no IP address");
		if (set_zone(ret, s, zone, err, errlen) < 0)
			return -EINVAL;
		if (IN6_IS_ADDR_V4MAPPED(&ret->in6.sin6_addr))
			set_v4(ret, mapped_v4(&ret->in6.sin6_addr));
	}
	if (!valid_for_us(ret))
		return refuse(err, errlen, s, "is a multicast or broadcast address");
	return 0;
}

static bool unspecified(const union address *a)
{
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

int address_parse(const char *s, union address *ret, char *err, size_t errlen)
{
	union address a;

	if (parse_any(s, &a, err, errlen) < 0)
		return -EINVAL;
	if (unspecified(&a))
		return refuse(err, errlen, s, "is no address of a single host");
	*ret = a;
	return 0;
}

/* Split "[v6]:port" or "v4:port" in place. */
static bool split_endpoint(char *text, char **ret_host, char **ret_port)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || colon == text)
		return false;
	*colon = '\0';
	*ret_port = colon + 1;
	if (text[0] != '[') {
		*ret_host = text;
		return !strchr(text, ':');
	}
	end = colon - 1;
	if (*end != ']')
		return false;
	*end = '\0';
	*ret_host = text + 1;
	return true;
}

int address_parse_endpoint(const char *s, union address *ret, char *err, size_t errlen)
{
	char text[MAX_LITERAL], *host, *port;
	union address a;
	uint64_t n;

	if (!name_copy(text, sizeof(text), s) || !split_endpoint(text, &host, &port))
		return refuse(err, errlen, s,
			      "is not of the form ADDRESS:PORT, as 0.0.0.0:10479 or [::]:10479");
	if (conf_parse_u64(port, &n) < 0 || n == 0 || n > UINT16_MAX)
		return refuse(err, errlen, s, "has no port between 1 and 65535");
	if (parse_any(host, &a, err, errlen) < 0)
		return -EINVAL;
	/* The same place in both families. */
	if (a.sa.sa_family == AF_INET)
		a.in.sin_port = htons((uint16_t)n);
	else
		a.in6.sin6_port = htons((uint16_t)n);
	*ret = a;
	return 0;
}

static void map_v4(const struct in_addr *v4, struct in6_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->s6_addr[10] = 0xff;
	ret->s6_addr[11] = 0xff;
	memcpy(&ret->s6_addr[12], v4, sizeof(*v4));
}

static bool host_bits_set(const struct in6_addr *net, int32_t prefix_len)
{
	for (int32_t bit = prefix_len; bit < 128; bit++) {
		if (net->s6_addr[bit / 8] & (0x80 >> bit % 8))
			return true;
	}
	return false;
}

int address_parse_subnet(const char *s, struct in6_addr *ret_net, int32_t *ret_prefix_len,
			 char *err, size_t errlen)
{
	char text[MAX_LITERAL], *slash;
	struct in6_addr net;
	struct in_addr v4;
	uint64_t len, bits;

	if (!name_copy(text, sizeof(text), s) || !(slash = strchr(text, '/')))
		return refuse(err, errlen, s, "is no subnet: write it as 10.99.0.0/24");
	*slash = '\0';
	if (inet_pton(AF_INET, text, &v4) == 1) {
		map_v4(&v4, &net);
		bits = 32;
	} else if (inet_pton(AF_INET6, text, &net) == 1) {
		bits = 128;
	} else {
		return refuse(err, errlen, s, "is no subnet: write it as 10.99.0.0/24");
	}
	if (conf_parse_u64(slash + 1, &len) < 0 || len > bits)
		return refuse(err, errlen, s, "has a prefix length that its address cannot have");
	if (bits == 32)
		len += V4_MAPPED_BITS;
	if (host_bits_set(&net, (int32_t)len))
		return refuse(err, errlen, s, "has bits set behind its prefix");
	*ret_net = net;
	*ret_prefix_len = (int32_t)len;
	return 0;
}

struct in6_addr address_mapped(const union address *a)
{
	struct in6_addr m;

	if (a->sa.sa_family == AF_INET6)
		return a->in6.sin6_addr;
	map_v4(&a->in.sin_addr, &m);
	return m;
}

union address address_unmapped(const struct in6_addr *a)
{
	union address ret = {0};

	if (IN6_IS_ADDR_V4MAPPED(a)) {
		set_v4(&ret, mapped_v4(a));
	} else {
		ret.in6.sin6_family = AF_INET6;
		ret.in6.sin6_addr = *a;
	}
	return ret;
}

bool address_is_literal(const char *s)
{
	char text[MAX_LITERAL], *zone;
	struct in6_addr any;

	if (!name_copy(text, sizeof(text), s))
		return false;
	zone = strchr(text, '%');
	if (zone)
		*zone = '\0';
	return inet_pton(AF_INET, text, &any) == 1 || inet_pton(AF_INET6, text, &any) == 1;
}

bool address_usable(const union address *a, char *err, size_t errlen)
{
	const char *why = NULL;

	if (unspecified(a))
		why = "its address is none of a single host";
	else if (!valid_for_us(a))
		why = "its address is a multicast or broadcast address";
	else if (a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr) &&
		 a->in6.sin6_scope_id == 0)
		why = "its address is link-local and has no interface";
	if (why)
		snprintf(err, errlen, "%s", why);
	return !why;
}

bool address_in_subnet(const union address *a, const struct in6_addr *net, int32_t prefix_len)
{
	struct in6_addr full;

	if (a->sa.sa_family != AF_INET && a->sa.sa_family != AF_INET6)
		return false;
	full = address_mapped(a);
	for (int32_t bit = 0; bit < prefix_len; bit++)
		if ((full.s6_addr[bit / 8] ^ net->s6_addr[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

bool address_is_loopback(const union address *a)
{
	if (a->sa.sa_family == AF_INET)
		return ntohl(a->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
}

bool address_equal(const union address *a, const union address *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return a->in6.sin6_scope_id == b->in6.sin6_scope_id &&
	       IN6_ARE_ADDR_EQUAL(&a->in6.sin6_addr, &b->in6.sin6_addr);
}

uint64_t address_hash(const union address *a)
{
	if (a->sa.sa_family == AF_INET)
		return hash_bytes(&a->in.sin_addr, sizeof(a->in.sin_addr));
	return hash_bytes(&a->in6.sin6_addr, sizeof(a->in6.sin6_addr)) ^ a->in6.sin6_scope_id;
}

void address_format(const union address *a, char *buf)
{
	char zone[IF_NAMESIZE];
	size_t len;

	if (a->sa.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a->in.sin_addr, buf, ADDRESS_TEXT);
		return;
	}
	inet_ntop(AF_INET6, &a->in6.sin6_addr, buf, ADDRESS_TEXT);
	if (a->in6.sin6_scope_id == 0)
		return;
	len = strlen(buf);
	if (if_indextoname(a->in6.sin6_scope_id, zone))
		snprintf(buf + len, ADDRESS_TEXT - len, "%%%s", zone);
	else
		snprintf(buf + len, ADDRESS_TEXT - len, "%%%u", a->in6.sin6_scope_id);
}

void address_format_endpoint(const union address *a, char *buf)
{
	char text[ADDRESS_TEXT];

	address_format(a, text);
	if (a->sa.sa_family == AF_INET)
		snprintf(buf, ADDRESS_ENDPOINT_TEXT, "%s:%u", text, ntohs(a->in.sin_port));
	else
		snprintf(buf, ADDRESS_ENDPOINT_TEXT, "[%s]:%u", text, ntohs(a->in6.sin6_port));
}

void address_format_subnet(const struct in6_addr *net, int32_t prefix_len, char *buf)
{
	char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED(net) && prefix_len >= V4_MAPPED_BITS) {
		struct in_addr v4 = mapped_v4(net);

		inet_ntop(AF_INET, &v4, text, sizeof(text));
		prefix_len -= V4_MAPPED_BITS;
	} else {
		inet_ntop(AF_INET6, net, text, sizeof(text));
	}
	snprintf(buf, ADDRESS_TEXT, "%s/%d", text, prefix_len);
}
