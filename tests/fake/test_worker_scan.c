/* What a device's ports and addresses are, for the link layers that the other tests do not have. */
#include "support.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_priv.h"
#include "probes/scan.h"
#include "world.h"

struct scanned {
	struct ibv_context *ctx;
	struct fake_device *dev;
	struct device_scan scan;
	char root[64];
};

static struct scanned s;

static int setup(void **state)
{
	world_setup(state);
	s.dev = fabric_add_device("mlx5_0", NULL);
	s.ctx = ibv_open_device(&s.dev->dev);
	return !s.ctx;
}

static int teardown(void **state)
{
	ibv_close_device(s.ctx);
	return world_teardown(state);
}

static int scan(void)
{
	return scan_device(s.ctx, "mlx5_0", &s.scan);
}

/* A directory as sysfs has it beside a device: its netdevs and their port. */
static void make_netdev(const char *netdev, const char *dev_port)
{
	char path[512];
	FILE *f;

	strcpy(s.root, "/tmp/scan-XXXXXX");
	assert_non_null(mkdtemp(s.root));
	snprintf(s.dev->dev.ibdev_path, sizeof(s.dev->dev.ibdev_path), "%s", s.root);
	snprintf(path, sizeof(path), "%s/device", s.root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/device/net", s.root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/device/net/%s", s.root, netdev);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/device/net/%s/dev_port", s.root, netdev);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", dev_port);
	fclose(f);
}

static void remove_netdev(const char *netdev)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/device/net/%s/dev_port", s.root, netdev);
	unlink(path);
	snprintf(path, sizeof(path), "%s/device/net/%s", s.root, netdev);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/device/net", s.root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/device", s.root);
	rmdir(path);
	rmdir(s.root);
}

static void test_roce_addresses_are_the_gids(void **state)
{
	(void)state;
	fabric_add_address(s.dev, "10.0.0.1", IBV_GID_TYPE_ROCE_V1);
	fabric_add_address(s.dev, "10.0.0.1", IBV_GID_TYPE_ROCE_V2);
	fabric_add_address(s.dev, "fe80::1", IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(scan(), 0);
	assert_int_equal(s.scan.n_ports, 1);
	assert_true(s.scan.ports[0].active && s.scan.ports[0].probeable);
	assert_int_equal(s.scan.ports[0].mtu, 1024);
	assert_int_equal(s.scan.n_addresses, 3);
	assert_int_equal(s.scan.addresses[0].gid_type, GID_TYPE_ROCE_V1);
	assert_int_equal(s.scan.addresses[1].gid_type, GID_TYPE_ROCE_V2);
	assert_int_equal(s.scan.addresses[1].gid_index, 1);
	assert_string_equal(s.scan.addresses[1].netdev, "lo"); /* the fake's ifindex is 1 */
}

static void test_a_full_gid_table_is_read_to_its_end(void **state)
{
	char address[32];

	(void)state;
	for (unsigned i = 0; i < FABRIC_GIDS; i++) {
		snprintf(address, sizeof(address), "10.%u.%u.1", i / 200, i % 200);
		fabric_add_address(s.dev, address, IBV_GID_TYPE_ROCE_V2);
	}
	assert_int_equal(scan(), 0);
	assert_int_equal(s.scan.n_addresses, FABRIC_GIDS);
}

/* InfiniBand: the GID is no address; the netdev of the port has them. */
static void test_infiniband_addresses_are_those_of_the_netdev(void **state)
{
	(void)state;
	fabric_add_address(s.dev, "fe80::2:c903:1", IBV_GID_TYPE_IB);
	make_netdev("lo", "0");
	assert_int_equal(scan(), 0);
	assert_true(s.scan.n_addresses >= 1);
	assert_int_equal(s.scan.addresses[0].gid_type, GID_TYPE_IB);
	assert_string_equal(s.scan.addresses[0].netdev, "lo");
	assert_int_equal(s.scan.addresses[0].port, 1);
	remove_netdev("lo");
}

static void test_a_netdev_of_another_port_is_not_this_ports(void **state)
{
	(void)state;
	fabric_add_address(s.dev, "fe80::2:c903:1", IBV_GID_TYPE_IB);
	make_netdev("lo", "1");
	assert_int_equal(scan(), 0);
	assert_int_equal(s.scan.n_addresses, 0);
	remove_netdev("lo");
}

static void test_a_port_of_unknown_link_layer_says_why_it_is_not_probed(void **state)
{
	(void)state;
	fabric_set_knobs(s.dev, &(struct fake_knobs){.no_link_layer = true});
	assert_int_equal(scan(), 0);
	assert_false(s.scan.ports[0].probeable);
	assert_true(strlen(s.scan.ports[0].reason) > 10);
}

static void test_a_scan_that_fails_says_with_what(void **state)
{
	(void)state;
	fabric_fail(NULL, CALL_QUERY_DEVICE, 1, 1, EIO);
	assert_int_equal(scan(), -EIO);
	fabric_fail(NULL, CALL_QUERY_PORT, 1, 1, ENODEV);
	assert_int_equal(scan(), -ENODEV);
	fabric_fail(NULL, CALL_QUERY_GID_TABLE, 1, 1, EINVAL);
	assert_int_equal(scan(), -EINVAL);
	assert_int_equal(scan(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_roce_addresses_are_the_gids),
		TEST(test_a_full_gid_table_is_read_to_its_end),
		TEST(test_infiniband_addresses_are_those_of_the_netdev),
		TEST(test_a_netdev_of_another_port_is_not_this_ports),
		TEST(test_a_port_of_unknown_link_layer_says_why_it_is_not_probed),
		TEST(test_a_scan_that_fails_says_with_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
