#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>

#include "daemon/address.h"

static char err[256];

static void refused(const char *text, const char *message)
{
	union address a;

	assert_int_equal(address_parse(text, &a, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, message);
}

static void test_literals_are_read_and_written_in_one_form(void **state)
{
	static const char *const pairs[][2] = {
		{"10.99.0.1", "10.99.0.1"},
		{"FD00:0::1", "fd00::1"},
		{"::ffff:10.99.0.1", "10.99.0.1"},
		{"fe80::1%lo", "fe80::1%lo"},
	};
	char text[ADDRESS_TEXT];
	union address a;

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		assert_int_equal(address_parse(pairs[i][0], &a, err, sizeof(err)), 0);
		address_format(&a, text);
		assert_string_equal(text, pairs[i][1]);
	}
}

static void test_a_zone_sets_the_scope(void **state)
{
	union address a;

	(void)state;
	assert_int_equal(address_parse("fe80::1%lo", &a, err, sizeof(err)), 0);
	assert_int_equal(a.in6.sin6_scope_id, if_nametoindex("lo"));
	assert_int_not_equal(a.in6.sin6_scope_id, 0);
}

static void test_link_local_without_its_interface_is_refused(void **state)
{
	(void)state;
	refused("fe80::1", "'fe80::1' is link-local: add its interface, as fe80::1%eth0");
	refused("fe80::1%", "'fe80::1%' names an interface that this host does not have");
	refused("fe80::1%nope0", "'fe80::1%nope0' names an interface that this host does not have");
	refused("fd00::1%lo", "'fd00::1%lo' has a zone, but only link-local addresses take one");
}

static void test_what_is_no_host_address_is_refused(void **state)
{
	char longer[300];

	(void)state;
	refused("", "'' is no IP address");
	refused("host1", "'host1' is no IP address");
	refused("10.99.0", "'10.99.0' is no IP address");
	refused("010.99.0.1", "'010.99.0.1' is no IP address");
	refused("10.99.0.1%lo", "'10.99.0.1%lo' is no IP address");
	refused("10.99.0.1/24", "'10.99.0.1/24' is no IP address");
	refused("0.0.0.0", "'0.0.0.0' is no address of a single host");
	refused("::", "'::' is no address of a single host");
	refused("224.0.0.1", "'224.0.0.1' is a multicast or broadcast address");
	refused("255.255.255.255", "'255.255.255.255' is a multicast or broadcast address");
	refused("ff02::1", "'ff02::1' is a multicast or broadcast address");
	memset(longer, '1', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(address_parse(longer, &(union address){0}, err, sizeof(err)), -EINVAL);
}

static void test_endpoints_have_address_and_port(void **state)
{
	static const char *const good[] = {"0.0.0.0:10479", "[::]:10479", "[fe80::1%lo]:1",
					   "127.0.0.1:65535"};
	static const char *const bad[] = {"",	       "10479",	    ":10479",
					  "::1:10479", "[::1]",	    "[::1]10479",
					  "[::1:80",   "1.2.3.4:0", "1.2.3.4:65536",
					  "1.2.3.4:",  "1.2.3.4:x", "host:80",
					  "[]:80",     "::1]:80"};
	char text[ADDRESS_ENDPOINT_TEXT];
	union address a;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(address_parse_endpoint(good[i], &a, err, sizeof(err)), 0);
		address_format_endpoint(&a, text);
		assert_string_equal(text, good[i]);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(address_parse_endpoint(bad[i], &a, err, sizeof(err)), -EINVAL);
}

static void test_subnets_are_kept_v4_mapped(void **state)
{
	struct in6_addr net;
	char text[ADDRESS_TEXT];
	int32_t len;

	(void)state;
	assert_int_equal(address_parse_subnet("10.99.0.0/24", &net, &len, err, sizeof(err)), 0);
	assert_int_equal(len, 96 + 24);
	assert_true(IN6_IS_ADDR_V4MAPPED(&net));
	address_format_subnet(&net, len, text);
	assert_string_equal(text, "10.99.0.0/24");
	assert_int_equal(address_parse_subnet("fd00::/64", &net, &len, err, sizeof(err)), 0);
	assert_int_equal(len, 64);
	address_format_subnet(&net, len, text);
	assert_string_equal(text, "fd00::/64");
	assert_int_equal(address_parse_subnet("0.0.0.0/0", &net, &len, err, sizeof(err)), 0);
	address_format_subnet(&net, len, text);
	assert_string_equal(text, "0.0.0.0/0");
	assert_int_equal(address_parse_subnet("::/0", &net, &len, err, sizeof(err)), 0);
	address_format_subnet(&net, len, text);
	assert_string_equal(text, "::/0");
}

static void test_bad_subnets_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  "10.99.0.0",
					  "10.99.0.0/",
					  "10.99.0.0/33",
					  "host/24",
					  "10.99.0.1/24",
					  "fd00::/129",
					  "fd00::1/64",
					  "10.99.0.0/-1",
					  "10.99.0.0/24/1"};
	struct in6_addr net;
	int32_t len = 5;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(address_parse_subnet(bad[i], &net, &len, err, sizeof(err)),
				 -EINVAL);
	assert_int_equal(len, 5);
}

static void test_equality_ignores_the_port_and_sees_the_scope(void **state)
{
	union address a, b;

	(void)state;
	address_parse_endpoint("10.0.0.1:1", &a, err, sizeof(err));
	address_parse_endpoint("10.0.0.1:2", &b, err, sizeof(err));
	assert_true(address_equal(&a, &b));
	assert_true(address_hash(&a) == address_hash(&b));
	address_parse("10.0.0.2", &b, err, sizeof(err));
	assert_false(address_equal(&a, &b));
	address_parse("fe80::1%lo", &a, err, sizeof(err));
	b = a;
	b.in6.sin6_scope_id++;
	assert_false(address_equal(&a, &b));
}

static void test_literals_are_told_from_names(void **state)
{
	(void)state;
	assert_true(address_is_literal("10.0.0.1"));
	assert_true(address_is_literal("fe80::1"));
	assert_true(address_is_literal("fe80::1%nope0"));
	assert_false(address_is_literal("host1"));
	assert_false(address_is_literal("10.0.0"));
	assert_false(address_is_literal(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals_are_read_and_written_in_one_form),
		cmocka_unit_test(test_a_zone_sets_the_scope),
		cmocka_unit_test(test_link_local_without_its_interface_is_refused),
		cmocka_unit_test(test_what_is_no_host_address_is_refused),
		cmocka_unit_test(test_endpoints_have_address_and_port),
		cmocka_unit_test(test_subnets_are_kept_v4_mapped),
		cmocka_unit_test(test_bad_subnets_are_refused),
		cmocka_unit_test(test_equality_ignores_the_port_and_sees_the_scope),
		cmocka_unit_test(test_literals_are_told_from_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
