/* Statistics of the legs of a bond, from behind the kernel's call, as mlx5's bonded devices have
 * them: the port's netdev is the bond, and it has none. */
#include "counter_fixture.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "ethtool_driver.h"
#include "probes/bond_legs.h"

#define NAMES 4

static const char *const names[NAMES] = {"rx_prio3_pause", "rx_discards_phy", "rx0_packets",
					 "rx_new"};

struct netdev {
	const char *name;
	uint64_t first; /* value; the others follow */
	int error;
	unsigned asked;
};

/* The kernel, as far as it is asked. */
static struct netdev netdevs[3];

static struct netdev *netdev_of(const char *name)
{
	for (size_t i = 0; i < COUNT(netdevs); i++)
		if (netdevs[i].name && strcmp(netdevs[i].name, name) == 0)
			return &netdevs[i];
	return NULL;
}

static void put_name(uint32_t i, char ret[ETHTOOL_NAME])
{
	memcpy(ret, names[i], strlen(names[i]));
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct ifreq *r = arg;
	struct netdev *n = netdev_of(r->ifr_name);
	struct ethtool_driver driver;

	assert_true(fd >= 0);
	assert_int_equal(request, SIOCETHTOOL);
	if (!n || n->error) {
		errno = n ? n->error : ENODEV;
		return -1;
	}
	n->asked++;
	driver = (struct ethtool_driver){.n = NAMES, .first = n->first, .put_name = put_name};
	ethtool_driver_answer(&driver, r);
	return 0;
}

static int setup(void **state)
{
	memset(netdevs, 0, sizeof(netdevs));
	netdevs[0] = (struct netdev){.name = "ens1f0np0", .first = 100};
	netdevs[1] = (struct netdev){.name = "ens1f1np1", .first = 2000};
	netdevs[2] = (struct netdev){.name = "bond0", .error = EOPNOTSUPP};
	return reader_setup(state);
}

static void open_tree(struct fixture *f, const char *device)
{
	open_root(f, SYSFS_TREES "/bond-legs", device);
	counter_reader_set_netdev_stats(f->reader, 400);
}

/* A tree to be changed, with these legs. */
static void open_bond(struct fixture *f, const char *legs)
{
	sysfs_tree_put(f->root, "4: ACTIVE\n", "class/infiniband/mlx5_bond_0/ports/1/state");
	sysfs_tree_put(f->root, "Ethernet\n", "class/infiniband/mlx5_bond_0/ports/1/link_layer");
	sysfs_tree_put(f->root, "bond0\n", "class/infiniband/mlx5_bond_0/parent");
	sysfs_tree_put(f->root, legs, "class/net/bond0/bonding/slaves");
	open_root(f, f->root, "mlx5_bond_0");
	counter_reader_set_netdev_stats(f->reader, 400);
}

static void test_statistics_of_legs_are_told_under_their_names(void **state)
{
	struct fixture *f = *state;
	unsigned before;

	open_tree(f, "mlx5_bond_0");
	assert_int_equal(run(f, 0), 0);
	assert_string_equal(f->round.ports[0].netdev, "bond0");
	assert_int_equal(port_fact_legs(&f->round.ports[0]), 2);
	check_value(f, 1, SOURCE_LEG, "ens1f0np0/rx_prio3_pause", 100);
	check_value(f, 1, SOURCE_LEG, "ens1f1np1/rx_prio3_pause", 2000);
	check_value(f, 1, SOURCE_LEG, "ens1f1np1/rx_new", 2003);
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 7);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), 2 * NAMES);
	assert_int_equal(count_values(f, 1, SOURCE_ETHTOOL), 0);
	assert_int_equal(f->round.ports[0].netdev_errno, 0);
	assert_int_equal(count_errors(f), 0);
	before = trap.allocations;
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.allocations, before);
}

/* rxe and others whose port is a leg: the other leg is not theirs. */
static void test_a_port_whose_netdev_is_a_leg_has_its_own_alone(void **state)
{
	struct fixture *f = *state;

	open_tree(f, "rxe0");
	assert_int_equal(run(f, 0), 0);
	assert_string_equal(f->round.ports[0].config.bond, "bond0");
	assert_int_equal(port_fact_legs(&f->round.ports[0]), 0);
	check_value(f, 1, SOURCE_ETHTOOL, "rx_prio3_pause", 2000);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), 0);
	assert_int_equal(netdevs[0].asked, 0);
}

static void test_a_leg_that_left_is_not_told_and_one_that_returned_is(void **state)
{
	struct fixture *f = *state;

	open_bond(f, "ens1f0np0 ens1f1np1\n");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), 2 * NAMES);
	sysfs_tree_put(f->root, "ens1f1np1\n", "class/net/bond0/bonding/slaves");
	assert_true(counter_reader_link(f->reader, "ens1f0np0"));
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), NAMES);
	check_value(f, 1, SOURCE_LEG, "ens1f1np1/rx_prio3_pause", 2000);
	/* It is in another place now, and nothing of it began anew. */
	netdevs[1].first = 2500;
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.resets_seen, 0);
	sysfs_tree_put(f->root, "ens1f1np1 ens1f0np0\n", "class/net/bond0/bonding/slaves");
	assert_true(counter_reader_link(f->reader, "bond0"));
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_LEG, "ens1f0np0/rx_prio3_pause", 100);
	check_value(f, 1, SOURCE_LEG, "ens1f1np1/rx_prio3_pause", 2500);
	assert_int_equal(f->round.resets_seen, 0);
	assert_int_equal(count_errors(f), 0);
}

static void test_a_leg_whose_counters_began_anew_is_told_by_name(void **state)
{
	struct fixture *f = *state;

	open_tree(f, "mlx5_bond_0");
	assert_int_equal(run(f, 0), 0);
	netdevs[1].first = 3;
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.resets_seen, 2); /* the known ones */
	assert_string_equal(f->round.resets[0].name, "ens1f1np1/rx_prio3_pause");
	assert_int_equal(f->round.resets[0].source, SOURCE_LEG);
	assert_int_equal(f->round.resets[0].before, 2000);
}

static void test_a_leg_that_fails_costs_itself(void **state)
{
	struct fixture *f = *state;

	netdevs[0].name = NULL; /* renamed; nobody said so yet */
	open_bond(f, "ens1f0np0 ens1f1np1\n");
	assert_int_equal(run(f, 0), 0);
	check_value(f, 1, SOURCE_LEG, "ens1f1np1/rx_discards_phy", 2001);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), NAMES);
	assert_int_equal(f->round.read_errors[1][READ_ENODEV], 1);
	/* The next round looks who the legs are. */
	netdevs[0].name = "leg0";
	sysfs_tree_put(f->root, "leg0 ens1f1np1\n", "class/net/bond0/bonding/slaves");
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_LEG, "leg0/rx_prio3_pause", 100);
	assert_int_equal(f->round.read_errors[1][READ_ENODEV], 1);
}

static void test_legs_share_what_one_netdev_may_have(void **state)
{
	struct fixture *f = *state;

	open_tree(f, "mlx5_bond_0");
	counter_reader_set_netdev_stats(f->reader, 5);
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(count_values(f, 1, SOURCE_LEG), 4);
	check_value(f, 1, SOURCE_LEG, "ens1f0np0/rx_prio3_pause", 100);
	check_absent(f, 1, SOURCE_LEG, "ens1f0np0/rx0_packets");
	assert_int_equal(f->round.values_dropped, 4);
}

static void test_the_longest_names_are_told_whole(void **state)
{
	char name[FACT_NAME];

	(void)state;
	bond_leg_stat_name("fifteen-letters", "a-statistic-of-thirty-two-bytes-", name);
	assert_string_equal(name, "fifteen-letters/a-statistic-of-thirty-two-bytes-");
	assert_string_equal(counter_plain_name(SOURCE_LEG, name),
			    "a-statistic-of-thirty-two-bytes-");
	assert_string_equal(counter_plain_name(SOURCE_LEG, "l/a/b"), "a/b");
	assert_string_equal(counter_plain_name(SOURCE_ETHTOOL, "l/a"), "l/a");
	assert_int_equal(counter_row_of(SOURCE_LEG, "l/rx_prio3_pause")->signal,
			 SIGNAL_PFC_RX_FRAMES);
	assert_string_equal(counter_row_of(SOURCE_LEG, "rx_prio3_pause_not")->name, "");
}

#define LEG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, reader_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LEG_TEST(test_statistics_of_legs_are_told_under_their_names),
		LEG_TEST(test_a_port_whose_netdev_is_a_leg_has_its_own_alone),
		LEG_TEST(test_a_leg_that_left_is_not_told_and_one_that_returned_is),
		LEG_TEST(test_a_leg_whose_counters_began_anew_is_told_by_name),
		LEG_TEST(test_a_leg_that_fails_costs_itself),
		LEG_TEST(test_legs_share_what_one_netdev_may_have),
		LEG_TEST(test_the_longest_names_are_told_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
