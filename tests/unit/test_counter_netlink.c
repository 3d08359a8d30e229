/* The reader and netlink together: two socket pairs answer in the kernel's place. */
#include "counter_fixture.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <rdma/rdma_netlink.h>

#include "netlink_kernel.h"

#define FAMILY 0x15

int __wrap_netlink_open(struct netlink *n, int protocol, uint32_t groups);

static struct {
	struct netlink_kernel rdma, generic;
	int refuse;
} world;

int __wrap_netlink_open(struct netlink *n, int protocol, uint32_t groups)
{
	assert_int_equal(groups, 0);
	if (world.refuse)
		return world.refuse;
	*n = protocol == NETLINK_RDMA ? world.rdma.asker : world.generic.asker;
	return 0;
}

static int setup(void **state)
{
	memset(&world, 0, sizeof(world));
	kernel_begin(&world.rdma);
	kernel_begin(&world.generic);
	return reader_setup(state);
}

/* What was opened is the reader's, and went with it. */
static int teardown(void **state)
{
	int r = reader_teardown(state);

	if (world.refuse) {
		kernel_end(&world.rdma);
		kernel_end(&world.generic);
	}
	return r;
}

static void tell_device(void)
{
	struct netlink_kernel *k = &world.rdma;

	kernel_message(k, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_MULTI, NULL,
		       0);
	kernel_u32(k, RDMA_NLDEV_ATTR_DEV_INDEX, 2);
	kernel_text(k, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	kernel_code(k, NLMSG_DONE, 0);
	kernel_answer(k);
}

static void tell_counter(uint16_t command, uint64_t value)
{
	struct netlink_kernel *k = &world.rdma;

	kernel_message(k, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), 0, NULL, 0);
	kernel_text(k, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	kernel_nest(k, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	kernel_nest(k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	kernel_text(k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "cc_tx_cnp_pkts");
	if (command == RDMA_NLDEV_CMD_STAT_GET)
		kernel_u64(k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	else
		kernel_u8(k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, 1);
	kernel_unnest(k);
	kernel_unnest(k);
	kernel_answer(k);
}

static void tell_health(const char *address, uint8_t error)
{
	const struct genlmsghdr head = {.version = 1};
	struct netlink_kernel *k = &world.generic;

	kernel_message(k, GENL_ID_CTRL, 0, &head, sizeof(head));
	kernel_u16(k, CTRL_ATTR_FAMILY_ID, FAMILY);
	kernel_answer(k);
	kernel_message(k, FAMILY, NLM_F_MULTI, &head, sizeof(head));
	kernel_text(k, DEVLINK_ATTR_BUS_NAME, "pci");
	kernel_text(k, DEVLINK_ATTR_DEV_NAME, address);
	kernel_nest(k, DEVLINK_ATTR_HEALTH_REPORTER);
	kernel_text(k, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw_fatal");
	kernel_u8(k, DEVLINK_ATTR_HEALTH_REPORTER_STATE, error);
	kernel_u64(k, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 4);
	kernel_unnest(k);
	kernel_code(k, NLMSG_DONE, 0);
	kernel_answer(k);
}

/* The reader of a device at that address, which is in a /sys: it is listed twice a minute. */
static void begin(struct fixture *f)
{
	sysfs_tree_put(f->root, "0x15b3\n", "devices/0000:17:00.0/vendor");
	sysfs_tree_put(f->root, "1\n", "class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent");
	sysfs_tree_link(f->root, "../../../devices/0000:17:00.0", "class/infiniband/mlx5_0/device");
	trap.sysfs = true;
	open_root(f, f->root, "mlx5_0");
	counter_reader_set_netlink(f->reader, true);
}

static void test_optional_counters_are_told_beside_those_of_files(void **state)
{
	struct fixture *f = *state;

	tell_device();
	tell_counter(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
	tell_counter(RDMA_NLDEV_CMD_STAT_GET, 1000);
	begin(f);
	assert_int_equal(run(f, 0), 0);
	check_value(f, 1, SOURCE_OPTIONAL, "cc_tx_cnp_pkts", 1000);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent", 1);
	/* Not listed again: the values alone. A fall is a reset. */
	tell_counter(RDMA_NLDEV_CMD_STAT_GET, 3);
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_OPTIONAL, "cc_tx_cnp_pkts", 3);
	assert_int_equal(f->round.resets_seen, 1);
	assert_string_equal(f->round.resets[0].name, "cc_tx_cnp_pkts");
	/* An answer that fails: they are absent, and looked for anew. */
	kernel_code(&world.rdma, NLMSG_ERROR, -EINVAL);
	kernel_answer(&world.rdma);
	assert_int_equal(run(f, 5), 0);
	check_absent(f, 1, SOURCE_OPTIONAL, "cc_tx_cnp_pkts");
	tell_device();
	tell_counter(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
	tell_counter(RDMA_NLDEV_CMD_STAT_GET, 4);
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_OPTIONAL, "cc_tx_cnp_pkts", 4);
}

static void test_a_kernel_without_them_is_no_error(void **state)
{
	struct fixture *f = *state;

	world.refuse = -EPROTONOSUPPORT;
	begin(f);
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(run(f, 40), 0);
	assert_int_equal(count_errors(f), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent", 1);
}

static void test_firmware_is_stuck_while_devlink_says_so(void **state)
{
	struct fixture *f = *state;
	uint64_t since;

	tell_health("0000:17:00.0", 1);
	begin(f);
	assert_int_equal(run(f, 0), 0);
	since = f->round.device.firmware_stuck_since_wall_ns;
	assert_int_equal(since, f->now_ns + 5);
	assert_string_equal(
		f->round.device.firmware_stuck_text,
		"devlink's reporter fw_fatal is in state error (4 errors, 0 recoveries)");
	assert_int_equal(f->round.device.n_health, 1);
	assert_int_equal(f->round.device.health[0].error, 1);
	tell_health("0000:17:00.0", 1);
	assert_int_equal(run(f, 30), 0);
	assert_int_equal(f->round.device.firmware_stuck_since_wall_ns, since);
	tell_health("0000:17:00.0", 0);
	assert_int_equal(run(f, 30), 0);
	assert_int_equal(f->round.device.firmware_stuck_since_wall_ns, 0);
	assert_int_equal(f->round.device.firmware_watched, 1);
	tell_health("0000:17:00.1", 1);
	assert_int_equal(run(f, 30), 0);
	assert_int_equal(f->round.device.n_health + f->round.device.firmware_watched, 0);
}

#define NETLINK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NETLINK_TEST(test_optional_counters_are_told_beside_those_of_files),
		NETLINK_TEST(test_a_kernel_without_them_is_no_error),
		NETLINK_TEST(test_firmware_is_stuck_while_devlink_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
