/* Facts of configuration from files: MTU, bond, ECN, defaults of rdma_cm, PCI link. */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/pci_link.h"
#include "probes/port_config.h"
#include "sysfs_tree.h"

struct host {
	char root[64];
	uint64_t errors[READ_ERROR_COUNT];
	struct port_config_fact config;
};

static int setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	sysfs_tree_make(h->root);
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct host *h = *state;

	sysfs_tree_remove(h->root);
	free(h);
	return 0;
}

static uint64_t errors_of(const struct host *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < READ_ERROR_COUNT; i++)
		sum += h->errors[i];
	return sum;
}

static void read_port(struct host *h, const char *netdev)
{
	int fd = open(h->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct port_config_source from = {
		.root_fd = fd, .device = "mlx5_0", .netdev = netdev, .port = 1};

	assert_true(fd >= 0);
	port_config_read(&from, &h->config, h->errors);
	close(fd);
}

static void put_link(const struct host *h, const char *path, const char *target)
{
	char link[256];

	snprintf(link, sizeof(link), "%s/%s", h->root, path);
	assert_int_equal(symlink(target, link), 0);
}

static void test_what_no_file_tells_is_unknown(void **state)
{
	struct host *h = *state;

	read_port(h, "eth0");
	assert_int_equal(h->config.netdev_mtu, 0);
	assert_false(h->config.ecn_np_known || h->config.ecn_rp_known || h->config.roce_tos_known);
	assert_int_equal(h->config.roce_mode, GID_TYPE_UNKNOWN);
	assert_string_equal(h->config.bond, "");
	assert_int_equal(h->config.dscp_priority[0], DSCP_UNMAPPED);
	read_port(h, "");
	assert_int_equal(errors_of(h), 0);
}

static void test_switches_of_congestion_control_are_read_by_priority(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "9000\n", "class/net/eth0/mtu");
	for (unsigned p = 0; p < PRIORITIES; p++) {
		sysfs_tree_put(h->root, p == 3 ? "1\n" : "0\n",
			       "class/net/eth0/ecn/roce_np/enable/%u", p);
		if (p != 5)
			sysfs_tree_put(h->root, "1\n", "class/net/eth0/ecn/roce_rp/enable/%u", p);
	}
	read_port(h, "eth0");
	assert_int_equal(h->config.netdev_mtu, 9000);
	assert_true(h->config.ecn_np_known);
	assert_int_equal(h->config.ecn_np, 1 << 3);
	/* One file is missing: nothing is known. */
	assert_false(h->config.ecn_rp_known);
}

static void test_with_what_notifications_leave_is_read(void **state)
{
	struct host *h = *state;

	read_port(h, "eth0");
	assert_false(h->config.cnp_dscp_known || h->config.cnp_priority_known);
	sysfs_tree_put(h->root, "48\n", "class/net/eth0/ecn/roce_np/cnp_dscp");
	sysfs_tree_put(h->root, "0\n", "class/net/eth0/ecn/roce_np/cnp_802p_prio");
	read_port(h, "eth0");
	assert_true(h->config.cnp_dscp_known && h->config.cnp_priority_known);
	assert_int_equal(h->config.cnp_dscp, 48);
	assert_int_equal(h->config.cnp_priority, 0);
	sysfs_tree_put(h->root, "64\n", "class/net/eth0/ecn/roce_np/cnp_dscp");
	sysfs_tree_put(h->root, "8\n", "class/net/eth0/ecn/roce_np/cnp_802p_prio");
	read_port(h, "eth0");
	assert_false(h->config.cnp_dscp_known || h->config.cnp_priority_known);
}

static void test_defaults_of_rdma_cm_are_read_and_none_is_made(void **state)
{
	struct host *h = *state;
	char path[128];
	struct stat st;

	read_port(h, "eth0");
	snprintf(path, sizeof(path), "%s/kernel", h->root);
	assert_int_equal(stat(path, &st), -1);
	sysfs_tree_put(h->root, "RoCE v2\n",
		       "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
	sysfs_tree_put(h->root, "106\n", "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos");
	read_port(h, "eth0");
	assert_int_equal(h->config.roce_mode, GID_TYPE_ROCE_V2);
	assert_true(h->config.roce_tos_known);
	assert_int_equal(h->config.roce_tos, 106);
	sysfs_tree_put(h->root, "256\n", "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos");
	read_port(h, "eth0");
	assert_false(h->config.roce_tos_known);
}

static void put_rules_of_addresses(const struct host *h, const char *first)
{
	char text[2048];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", first);

	for (unsigned i = 0; i < 40; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "src_ip=10.0.0.%u tclass=%u\n", i,
				      i);
	sysfs_tree_put(h->root, text, "class/infiniband/mlx5_0/tc/1/traffic_class");
}

static void test_a_tos_that_the_driver_forces_is_read(void **state)
{
	static const char file[] = "class/infiniband/mlx5_0/tc/1/traffic_class";
	static const char *const none[] = {"",
					   "\n",
					   "Global tclass=256\n",
					   "Global tclass=-1\n",
					   "Global tclass=\n",
					   "src_ip=10.0.0.1 tclass=106\n",
					   "106\n"};
	struct host *h = *state;

	read_port(h, "eth0");
	assert_false(h->config.forced_tos_known);
	sysfs_tree_put(h->root, "Global tclass=106\n", "%s", file);
	read_port(h, "eth0");
	assert_true(h->config.forced_tos_known);
	assert_int_equal(h->config.forced_tos, 106);
	put_rules_of_addresses(h, "Global tclass=0\n");
	read_port(h, "eth0");
	assert_true(h->config.forced_tos_known);
	assert_int_equal(h->config.forced_tos, 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		sysfs_tree_put(h->root, none[i], "%s", file);
		read_port(h, "eth0");
		assert_false(h->config.forced_tos_known);
	}
	assert_int_equal(errors_of(h), 0);
}

static void test_bond_is_told_of_its_members_and_of_itself(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "eth0 eth1\n", "class/net/bond0/bonding/slaves");
	sysfs_tree_put(h->root, "1500\n", "class/net/eth0/mtu");
	put_link(h, "class/net/eth0/master", "../bond0");
	read_port(h, "eth0");
	assert_string_equal(h->config.bond, "bond0");
	assert_int_equal(h->config.n_members, 2);
	assert_string_equal(h->config.members[1], "eth1");
	read_port(h, "bond0");
	assert_string_equal(h->config.bond, "bond0");
	assert_int_equal(h->config.n_members, 2);
}

static void test_bridge_is_no_bond(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "1500\n", "class/net/eth0/mtu");
	sysfs_tree_put(h->root, "1500\n", "class/net/br0/mtu");
	put_link(h, "class/net/eth0/master", "../br0");
	read_port(h, "eth0");
	assert_string_equal(h->config.bond, "");
}

static void test_bond_of_many_members_is_cut(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "a0 a1  a2 a3 a4 a-name-beyond-all-lengths\n",
		       "class/net/bond0/bonding/slaves");
	read_port(h, "bond0");
	assert_int_equal(h->config.n_members, BOND_MEMBERS);
	assert_string_equal(h->config.members[3], "a3");
}

static void test_legs_of_a_bond_have_link_or_not_or_do_not_say(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "a b c d\n", "class/net/bond0/bonding/slaves");
	sysfs_tree_put(h->root, "up\n", "class/net/a/operstate");
	sysfs_tree_put(h->root, "down\n", "class/net/b/operstate");
	sysfs_tree_put(h->root, "unknown\n", "class/net/c/operstate");
	read_port(h, "bond0");
	assert_int_equal(h->config.legs_known, 1 << 0 | 1 << 1);
	assert_int_equal(h->config.legs_up, 1 << 0);
	sysfs_tree_put(h->root, "lowerlayerdown\n", "class/net/a/operstate");
	sysfs_tree_put(h->root, "up\n", "class/net/b/operstate");
	sysfs_tree_put(h->root, "notpresent\n", "class/net/c/operstate");
	sysfs_tree_put(h->root, "dormant\n", "class/net/d/operstate");
	read_port(h, "bond0");
	assert_int_equal(h->config.legs_known, 1 << 0 | 1 << 1 | 1 << 2);
	assert_int_equal(h->config.legs_up, 1 << 1);
	assert_int_equal(errors_of(h), 0);
}

static void test_nonsense_in_files_is_unknown(void **state)
{
	struct host *h = *state;

	sysfs_tree_put(h->root, "-1\n", "class/net/eth0/mtu");
	sysfs_tree_put(h->root, "RoCE v3\n",
		       "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
	for (unsigned p = 0; p < PRIORITIES; p++)
		sysfs_tree_put(h->root, "2\n", "class/net/eth0/ecn/roce_np/enable/%u", p);
	read_port(h, "eth0");
	assert_int_equal(h->config.netdev_mtu, 0);
	assert_int_equal(h->config.roce_mode, GID_TYPE_UNKNOWN);
	assert_false(h->config.ecn_np_known);
}

static void test_only_speeds_are_speeds(void **state)
{
	(void)state;
	assert_int_equal(pci_link_speed("16.0 GT/s PCIe"), 16000);
	assert_int_equal(pci_link_speed("2.5 GT/s"), 2500);
	assert_int_equal(pci_link_speed("8 GT/s"), 8000);
	assert_int_equal(pci_link_speed("Unknown"), 0);
	assert_int_equal(pci_link_speed("Unknown speed"), 0);
	assert_int_equal(pci_link_speed(""), 0);
	assert_int_equal(pci_link_speed("16.0"), 0);
	assert_int_equal(pci_link_speed("-8 GT/s"), 0);
	assert_int_equal(pci_link_speed(".5 GT/s"), 0);
	assert_int_equal(pci_link_speed("99999999999 GT/s"), 0);
}

static void put_pci(const struct host *h, const char *width)
{
	static const char dir[] = "devices/pci0000:00/0000:00:01.0";

	sysfs_tree_put(h->root, "16.0 GT/s PCIe\n", "%s/max_link_speed", dir);
	sysfs_tree_put(h->root, "16\n", "%s/max_link_width", dir);
	sysfs_tree_put(h->root, "32.0 GT/s PCIe\n", "%s/0000:01:00.0/max_link_speed", dir);
	sysfs_tree_put(h->root, "16\n", "%s/0000:01:00.0/max_link_width", dir);
	sysfs_tree_put(h->root, "16.0 GT/s PCIe\n", "%s/0000:01:00.0/current_link_speed", dir);
	sysfs_tree_put(h->root, width, "%s/0000:01:00.0/current_link_width", dir);
	sysfs_tree_put(h->root, "-1\n", "%s/0000:01:00.0/numa_node", dir);
	sysfs_tree_put(h->root, "x\n", "class/infiniband/mlx5_0/fw_ver");
}

static void read_pci(struct host *h, struct device_fact *f)
{
	char path[128];
	int fd;

	*f = (struct device_fact){0};
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0", h->root);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	pci_link_read(f, fd, h->errors);
	close(fd);
}

static void test_possible_is_what_card_and_slot_both_can(void **state)
{
	struct host *h = *state;
	struct device_fact f;

	put_pci(h, "8\n");
	put_link(h, "class/infiniband/mlx5_0/device",
		 "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0");
	read_pci(h, &f);
	assert_int_equal(f.pci.lanes, 8);
	assert_int_equal(f.pci.mega_transfers, 16000);
	assert_int_equal(f.pci_possible.lanes, 16);
	assert_int_equal(f.pci_possible.mega_transfers, 16000);
	assert_false(f.has_numa_node);
	/* What a virtual machine says of a link that it does not see. */
	put_pci(h, "255\n");
	sysfs_tree_put(h->root, "3\n", "devices/pci0000:00/0000:00:01.0/0000:01:00.0/numa_node");
	read_pci(h, &f);
	assert_int_equal(f.pci.lanes, 0);
	assert_true(f.has_numa_node);
	assert_int_equal(f.numa_node, 3);
}

static void test_device_without_pci_has_no_link(void **state)
{
	struct host *h = *state;
	struct device_fact f;

	sysfs_tree_put(h->root, "x\n", "class/infiniband/mlx5_0/fw_ver");
	read_pci(h, &f);
	assert_int_equal(f.pci.lanes + f.pci_possible.lanes, 0);
	assert_false(f.has_numa_node);
	assert_int_equal(errors_of(h), 0);
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(test_what_no_file_tells_is_unknown),
		HOST_TEST(test_switches_of_congestion_control_are_read_by_priority),
		HOST_TEST(test_with_what_notifications_leave_is_read),
		HOST_TEST(test_defaults_of_rdma_cm_are_read_and_none_is_made),
		HOST_TEST(test_a_tos_that_the_driver_forces_is_read),
		HOST_TEST(test_bond_is_told_of_its_members_and_of_itself),
		HOST_TEST(test_bridge_is_no_bond),
		HOST_TEST(test_bond_of_many_members_is_cut),
		HOST_TEST(test_legs_of_a_bond_have_link_or_not_or_do_not_say),
		HOST_TEST(test_nonsense_in_files_is_unknown),
		cmocka_unit_test(test_only_speeds_are_speeds),
		HOST_TEST(test_possible_is_what_card_and_slot_both_can),
		HOST_TEST(test_device_without_pci_has_no_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
