#include "support.h"

#include <arpa/inet.h>
#include <string.h>

#include "daemon/subnets.h"

/* Masks as well, which are no addresses of hosts. */
static union address addr(const char *text)
{
	union address a = {0};

	a.sa.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(a.sa.sa_family, text,
				   a.sa.sa_family == AF_INET ? (void *)&a.in.sin_addr
							     : (void *)&a.in6.sin6_addr),
			 1);
	return a;
}

/* This host's addresses: 10.99.0.1/24, 10.99.1.1/24, fd00::1/64, one of a device without any. */
static bool shared(const char *one, const char *other)
{
	union address has[] = {addr("10.99.0.1"), addr("10.99.1.1"), addr("fd00::1")};
	union address masks[] = {addr("255.255.255.0"), addr("255.255.255.0"),
				 addr("ffff:ffff:ffff:ffff::")};
	struct ifaddrs none = {.ifa_name = "none"}, list[COUNT(has)] = {0};
	union address a = addr(one), b = addr(other);

	for (size_t i = 0; i < COUNT(has); i++)
		list[i] = (struct ifaddrs){.ifa_next = i + 1 < COUNT(has) ? &list[i + 1] : &none,
					   .ifa_addr = &has[i].sa,
					   .ifa_netmask = &masks[i].sa};
	return subnets_shared(list, &a, &b);
}

static void test_addresses_of_one_subnet_share_it(void **state)
{
	(void)state;
	assert_true(shared("10.99.0.1", "10.99.0.201"));
	assert_true(shared("10.99.0.201", "10.99.0.1"));
	assert_true(shared("fd00::1", "fd00::ffff"));
}

static void test_addresses_of_other_subnets_and_families_do_not(void **state)
{
	(void)state;
	assert_false(shared("10.99.0.1", "10.99.1.1"));
	assert_false(shared("fd00::1", "fd00:0:0:1::1"));
	assert_false(shared("fd00::1", "10.99.0.1"));
}

static void test_what_this_host_does_not_have_is_in_no_subnet(void **state)
{
	union address a = addr("10.99.0.7"), b = addr("10.99.0.8");

	(void)state;
	assert_false(shared("10.99.0.7", "10.99.0.8"));
	assert_false(subnets_shared(NULL, &a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_of_one_subnet_share_it),
		cmocka_unit_test(test_addresses_of_other_subnets_and_families_do_not),
		cmocka_unit_test(test_what_this_host_does_not_have_is_in_no_subnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
