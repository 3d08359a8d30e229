/* IP addresses as people write them in the configuration. Parsers return 0, or -EINVAL with a
 * message in err that says what to write instead. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_TEXT 64		 /* "fe80::...%eth0" with its NUL */
#define ADDRESS_ENDPOINT_TEXT 72 /* "[address]:port" with its NUL */

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* A literal, "10.0.0.1", "fd00::1", "fe80::1%eth0"; port 0. A v4-mapped one becomes IPv4. A
 * link-local one needs a zone that is an interface of this host; others take none. */
int address_parse(const char *s, union address *ret, char *err, size_t errlen);
/* "10.0.0.1:80", "[fd00::1]:80". */
int address_parse_endpoint(const char *s, union address *ret, char *err, size_t errlen);
/* "10.99.0.0/24", "fd00::/64" to the v4-mapped form: the prefix of IPv4 is 96 + n. */
int address_parse_subnet(const char *s, struct in6_addr *ret_net, int32_t *ret_prefix_len,
			 char *err, size_t errlen);

/* What a name server says: can a peer be there? False with a message. */
bool address_usable(const union address *a, char *err, size_t errlen);

/* IPv4 as v4-mapped, and back; a link-local one loses its zone. */
struct in6_addr address_mapped(const union address *a);
union address address_unmapped(const struct in6_addr *a);

bool address_is_literal(const char *s); /* looks like an IP address, valid for us or not */
bool address_equal(const union address *a, const union address *b); /* ports do not matter */
/* The subnet as address_parse_subnet() gives it; an unknown address is in none. */
bool address_in_subnet(const union address *a, const struct in6_addr *net, int32_t prefix_len);
bool address_is_loopback(const union address *a); /* of this host, whatever its name */
uint64_t address_hash(const union address *a);	  /* as address_equal() */

/* Write into buf of ADDRESS_TEXT, ADDRESS_ENDPOINT_TEXT and ADDRESS_TEXT bytes. */
void address_format(const union address *a, char *buf);
void address_format_endpoint(const union address *a, char *buf);
void address_format_subnet(const struct in6_addr *net, int32_t prefix_len, char *buf);
