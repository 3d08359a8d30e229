#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/names.h"
#include "core/log.h"
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

/* --- a host with rails, and how its ARP is set --- */

#define RAILS 3

struct host {
	struct rails *rails;
	struct subnet_pairs pairs;
	uint64_t now;
	char root[64];
};

/* Of the host under test. */
static struct {
	struct ifaddrs list[RAILS];
	union address has[RAILS], mask;
	bool failing;
	unsigned warnings;
} os;

int __wrap_getifaddrs(struct ifaddrs **ret);
void __wrap_freeifaddrs(struct ifaddrs *list);
void __wrap_log_msg(enum log_level level, const char *fmt, ...);

int __wrap_getifaddrs(struct ifaddrs **ret)
{
	if (os.failing) {
		errno = ENOMEM;
		return -1;
	}
	*ret = os.list;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list)
{
	assert_ptr_equal(list, os.list);
}

void __wrap_log_msg(enum log_level level, const char *fmt, ...)
{
	assert_int_equal(level, LOG_LEVEL_WARN);
	assert_non_null(fmt);
	os.warnings++;
}

static void put_setting(const struct host *h, const char *netdev, const char *name,
			const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->root, netdev);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", h->root, netdev, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Rail i is eth<i> of device mlx5_<i>. */
static void put_rail(struct host *h, unsigned i, const char *address)
{
	struct rail_fact fact = {.up = 1, .port = 1};
	struct rail *rail;
	char device[FACT_NAME];

	snprintf(device, sizeof(device), "mlx5_%u", i);
	snprintf(fact.name, sizeof(fact.name), "rail%u", i);
	snprintf(fact.netdev, sizeof(fact.netdev), "eth%u", i);
	name_copy(fact.address, sizeof(fact.address), address);
	rails_learn(h->rails, device, 0, &fact, &rail);
	assert_non_null(rail);
	os.has[i] = addr(address);
	os.mask = addr(strchr(address, ':') ? "ffff:ffff:ffff:ffff::" : "255.255.255.0");
	os.list[i].ifa_addr = &os.has[i].sa;
	os.list[i].ifa_netmask = &os.mask.sa;
}

static int setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	memset(&os, 0, sizeof(os));
	for (unsigned i = 0; i + 1 < RAILS; i++)
		os.list[i].ifa_next = &os.list[i + 1];
	h->rails = rails_new();
	snprintf(h->root, sizeof(h->root), "/tmp/test-subnets-XXXXXX");
	assert_non_null(mkdtemp(h->root));
	h->pairs.settings = h->root;
	h->now = NSEC_PER_SEC;
	put_setting(h, "all", "arp_ignore", "0\n");
	for (unsigned i = 0; i < RAILS; i++) {
		char netdev[16];

		snprintf(netdev, sizeof(netdev), "eth%u", i);
		put_setting(h, netdev, "arp_ignore", "0\n");
	}
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct host *h = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", h->root);
	assert_int_equal(system(command), 0);
	rails_free(h->rails);
	free(h);
	return 0;
}

static size_t look_after(struct host *h, uint64_t seconds)
{
	h->now += seconds * NSEC_PER_SEC;
	subnets_look(&h->pairs, h->rails, h->now);
	return h->pairs.n;
}

static void test_rails_in_one_subnet_are_told_and_warned_of_once(void **state)
{
	struct host *h = *state;

	put_rail(h, 0, "10.99.0.1");
	put_rail(h, 1, "10.99.1.1");
	put_rail(h, 2, "10.99.0.201");
	put_setting(h, "eth0", "arp_announce", "2\n");
	put_setting(h, "all", "arp_announce", "1\n");
	assert_int_equal(look_after(h, 1), 1);
	assert_string_equal(h->pairs.pair[0].rail, "rail0");
	assert_string_equal(h->pairs.pair[0].other, "rail2");
	assert_non_null(strstr(h->pairs.pair[0].text, "eth0: arp_ignore=0 arp_announce=2"));
	assert_int_equal(os.warnings, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(look_after(h, 60), 1);
	assert_int_equal(os.warnings, 1);
	/* Without the addresses of the host nothing else is known. */
	os.failing = true;
	assert_int_equal(look_after(h, 60), 1);
	os.failing = false;
	assert_int_equal(look_after(h, 60), 1);
	assert_int_equal(os.warnings, 1);
}

static void test_where_arp_is_told_otherwise_nothing_is_said(void **state)
{
	struct host *h = *state;

	put_rail(h, 0, "10.99.0.1");
	put_rail(h, 1, "10.99.0.2");
	put_setting(h, "all", "arp_ignore", "1\n");
	assert_int_equal(look_after(h, 1), 0);
	put_setting(h, "all", "arp_ignore", "0\n");
	/* It is not looked at more often than once a minute. */
	assert_int_equal(look_after(h, 59), 0);
	assert_int_equal(look_after(h, 1), 1);
	assert_int_equal(os.warnings, 1);
	/* One of them is enough: it answers for the other. */
	put_setting(h, "eth0", "arp_ignore", "1\n");
	assert_int_equal(look_after(h, 60), 1);
	put_setting(h, "eth1", "arp_ignore", "2\n");
	assert_int_equal(look_after(h, 60), 0);
	assert_int_equal(os.warnings, 1);
	put_setting(h, "eth1", "arp_ignore", "0\n");
	assert_int_equal(look_after(h, 60), 1);
	assert_int_equal(os.warnings, 2);
}

static void test_ipv6_and_rails_that_are_gone_make_no_pair(void **state)
{
	struct host *h = *state;

	put_rail(h, 0, "fd00::1");
	put_rail(h, 1, "fd00::2");
	assert_int_equal(look_after(h, 1), 0);
	put_rail(h, 0, "10.99.0.1");
	put_rail(h, 1, "10.99.0.2");
	h->pairs.looked_ns = 0;
	assert_int_equal(look_after(h, 1), 1);
	rails_worker_ended(h->rails, "mlx5_1");
	assert_int_equal(look_after(h, 60), 0);
}

static void test_settings_are_as_the_kernel_takes_them(void **state)
{
	static const struct {
		const char *all, *own;
		int value;
	} cases[] = {
		{"0\n", "0\n", 0},
		{"0\n", "1\n", 1},
		{"2\n", "1\n", 2},
		{"0\n", "", -1},
		{"x\n", "1\n", -1},
		{"-1\n", "1\n", -1},
		{"99999999999999999999\n", "1\n", -1},
	};
	struct host *h = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		put_setting(h, "all", "arp_ignore", cases[i].all);
		put_setting(h, "eth0", "arp_ignore", cases[i].own);
		assert_int_equal(subnets_setting(h->root, "eth0", "arp_ignore"), cases[i].value);
	}
	assert_int_equal(subnets_setting(h->root, "eth9", "arp_ignore"), -1);
	assert_int_equal(subnets_setting(h->root, "eth0", "rp_filter"), -1);
	put_setting(h, "all", "arp_ignore", "0\n");
	assert_int_equal(subnets_setting(h->root, "eth1", "arp_ignore"), 0);
	assert_int_equal(subnets_setting(h->root, "eth0/../eth1", "arp_ignore"), -1);
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_of_one_subnet_share_it),
		cmocka_unit_test(test_addresses_of_other_subnets_and_families_do_not),
		cmocka_unit_test(test_what_this_host_does_not_have_is_in_no_subnet),
		HOST_TEST(test_rails_in_one_subnet_are_told_and_warned_of_once),
		HOST_TEST(test_where_arp_is_told_otherwise_nothing_is_said),
		HOST_TEST(test_ipv6_and_rails_that_are_gone_make_no_pair),
		HOST_TEST(test_settings_are_as_the_kernel_takes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
