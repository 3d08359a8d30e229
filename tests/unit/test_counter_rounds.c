/* The reader over time: what it does again, what it remembers, and what it leaves alone. */
#include "counter_fixture.h"

#include <dirent.h>
#include <errno.h>

static void test_failed_file_is_asked_again_after_twelve_rounds(void **state)
{
	struct fixture *f = *state;

	trap.failing = trap.counted = "hw_counters/np_cnp_sent";
	trap.error = EINVAL;
	read_tree(f, "mlx5-roce", "mlx5_0");
	trap.failing = NULL;
	for (unsigned i = 1; i < COUNTER_RETRY_ROUNDS; i++) {
		assert_int_equal(run(f, 5), 0);
		check_absent(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent");
	}
	assert_int_equal(trap.opens, 1);
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent", 4711);
	assert_int_equal(trap.opens, 2);
	assert_int_equal(f->round.read_errors[1][READ_EINVAL], 1);
}

static void test_a_file_that_fails_is_named_once_until_it_can_be_read_again(void **state)
{
	struct fixture *f = *state;
	const struct read_failure *kept = f->round.failures.kept;

	trap.failing = "hw_counters/np_cnp_sent";
	trap.error = EINVAL;
	read_tree(f, "mlx5-roce", "mlx5_0");
	assert_int_equal(f->round.failures.seen, 1);
	assert_string_equal(kept[0].name, "np_cnp_sent");
	assert_int_equal(kept[0].port, 1);
	assert_int_equal(kept[0].source, SOURCE_HW_COUNTERS);
	assert_int_equal(kept[0].error, READ_EINVAL);
	for (unsigned i = 0; i < 2 * COUNTER_RETRY_ROUNDS; i++)
		run(f, 5);
	assert_int_equal(f->round.read_errors[1][READ_EINVAL], 3);
	assert_int_equal(f->round.failures.seen, 1);
	trap.failing = NULL;
	counter_reader_poke(f->reader);
	run(f, 5);
	trap.failing = "ports/1/rate";
	counter_reader_poke(f->reader);
	run(f, 5);
	run(f, 5);
	assert_int_equal(f->round.failures.seen, 2);
	assert_string_equal(kept[1].name, "rate");
	assert_int_equal(kept[1].source, COUNTER_SOURCE_COUNT);
}

static void test_poke_asks_failed_files_at_once(void **state)
{
	struct fixture *f = *state;

	trap.failing = "hw_counters/np_cnp_sent";
	trap.error = EINVAL;
	read_tree(f, "mlx5-roce", "mlx5_0");
	trap.failing = NULL;
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent", 4711);
}

static void test_counter_reset_is_counted_and_the_new_value_told(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/reset-before");
	open_root(f, f->root, "mlx5_0");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.resets_seen, 0);
	sysfs_tree_show(f->root, SYSFS_TREES "/reset-after");
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.resets_seen, 2);
	assert_string_equal(f->round.resets[0].name, "link_downed");
	assert_int_equal(f->round.resets[0].before, 3);
	assert_int_equal(f->round.resets[0].now, 0);
	assert_string_equal(f->round.resets[1].name, "port_xmit_data");
	assert_int_equal(f->round.resets[1].port, 1);
	check_value(f, 1, SOURCE_COUNTERS, "port_xmit_data", 7);
	check_value(f, 1, SOURCE_COUNTERS, "link_downed", 0);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.resets_seen, 2);
}

static void test_gauge_that_falls_is_no_reset(void **state)
{
	struct fixture *f = *state;

	for (int value = 9; value > 0; value -= 4) {
		char text[16];

		snprintf(text, sizeof(text), "%d\n", value);
		sysfs_tree_put(f->root, text,
			       "class/infiniband/bnxt_re0/ports/1/hw_counters/active_qps");
		if (!f->reader)
			open_root(f, f->root, "bnxt_re0");
		assert_int_equal(run(f, 5), 0);
		check_value(f, 1, SOURCE_HW_COUNTERS, "active_qps", (uint64_t)value);
	}
	assert_int_equal(f->round.resets_seen, 0);
}

static void test_no_rdma_and_no_sysfs_are_a_device_that_is_not_there(void **state)
{
	struct fixture *f = *state;

	open_root(f, SYSFS_TREES "/no-rdma", "mlx5_0");
	assert_int_equal(run(f, 0), -ENODEV);
	assert_int_equal(f->round.n_values, 0);
	assert_int_equal(f->round.success_wall_ns, 0);
	assert_int_equal(count_errors(f), 0);
	open_root(f, "/nonexistent", "mlx5_0");
	assert_int_equal(run(f, 0), -ENODEV);
}

static void test_device_that_leaves_takes_its_series_with_it(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	open_root(f, f->root, "mlx5_0");
	assert_int_equal(run(f, 0), 0);
	sysfs_tree_show(f->root, NULL);
	assert_int_equal(run(f, 5), -ENODEV);
	assert_int_equal(f->round.n_values + f->round.n_ports + f->round.n_gids, 0);
	assert_int_equal(f->round.success_wall_ns, f->now_ns - 5 * NSEC_PER_SEC + 5);
	/* It comes back with counters from zero, which is no reset of anything known. */
	sysfs_tree_show(f->root, SYSFS_TREES "/reset-after");
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.n_values, 2);
	assert_int_equal(f->round.resets_seen, 0);
	assert_int_equal(f->round.n_gids, 0);
}

static void test_device_that_leaves_in_mid_round_leaves_no_half_of_it(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	open_root(f, f->root, "mlx5_0");
	trap.root = f->root;
	trap.fatal = "hw_counters/np_cnp_sent";
	assert_int_equal(run(f, 0), -ENODEV);
	assert_int_equal(f->round.n_values + f->round.n_ports + f->round.n_gids, 0);
	assert_int_equal(count_errors(f), 0);
}

static void test_state_and_rate_are_not_read_more_often_than_every_five_seconds(void **state)
{
	struct fixture *f = *state;

	trap.counted = "ports/1/rate";
	read_tree(f, "mlx5-roce", "mlx5_0");
	for (int i = 0; i < 4; i++)
		assert_int_equal(run(f, 1), 0);
	assert_int_equal(trap.opens, 1);
	assert_true(f->round.ports[0].rate_known);
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(trap.opens, 2);
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(trap.opens, 3);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.opens, 4);
}

static void test_gid_table_is_read_once_a_minute_or_when_poked(void **state)
{
	struct fixture *f = *state;

	trap.counted = "gids/0";
	read_tree(f, "mlx5-roce", "mlx5_0");
	for (int i = 0; i < 11; i++)
		assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.opens, 1);
	assert_int_equal(f->round.n_gids, 4);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.opens, 2);
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.opens, 3);
}

static void test_failed_rate_is_unknown_and_asked_again_later(void **state)
{
	struct fixture *f = *state;

	trap.failing = trap.counted = "ports/1/rate";
	trap.error = EIO;
	read_tree(f, "mlx5-roce", "mlx5_0");
	trap.failing = NULL;
	assert_false(f->round.ports[0].rate_known);
	for (unsigned i = 1; i < COUNTER_RETRY_ROUNDS; i++)
		assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.opens, 1);
	assert_int_equal(f->round.read_errors[1][READ_EIO], 1);
	assert_int_equal(run(f, 5), 0);
	assert_true(f->round.ports[0].rate_known);
}

static void test_steady_state_allocates_nothing(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mixed", "mlx5_0");
	trap.allocations = 0;
	for (int i = 0; i < 20; i++)
		assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.allocations, 0);
}

static unsigned count_fds(void)
{
	unsigned n = 0;
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_no_file_descriptor_is_left_open(void **state)
{
	struct fixture *f = *state;
	unsigned before = count_fds();

	read_tree(f, "unreadable", "mlx5_1");
	open_root(f, SYSFS_TREES "/no-rdma", "mlx5_0");
	run(f, 0);
	assert_int_equal(count_fds(), before);
}

/* Between two rounds or in the middle of one. */
static void test_no_file_of_a_device_that_left_stays_open(void **state)
{
	struct fixture *f = *state;
	unsigned before;

	trap.sysfs = true; /* there files stay open */
	open_root(f, f->root, "mlx5_0");
	before = count_fds();
	for (unsigned i = 0; i < 3; i++) {
		sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
		assert_int_equal(run(f, 5), 0);
		assert_true(count_fds() > before + 20);
		sysfs_tree_show(f->root, NULL);
		assert_int_equal(run(f, 5), -ENODEV);
		assert_int_equal(count_fds(), before);
		sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
		trap.root = f->root;
		trap.fatal = "hw_counters/np_cnp_sent";
		assert_int_equal(run(f, 5), -ENODEV);
		assert_int_equal(count_fds(), before);
		trap.fatal = NULL;
	}
}

static void test_ports_beyond_the_bound_are_counted(void **state)
{
	struct fixture *f = *state;

	for (unsigned port = 1; port <= PORT_MAX + 4; port++)
		sysfs_tree_put(f->root, "4: ACTIVE\n", "class/infiniband/big/ports/%u/state", port);
	sysfs_tree_put(f->root, "", "class/infiniband/big/ports/none/state");
	open_root(f, f->root, "big");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(f->round.n_ports, PORT_MAX);
	assert_int_equal(f->round.ports_dropped, 4);
	/* Whatever order the directory has. */
	for (uint32_t i = 0; i < f->round.n_ports; i++)
		assert_int_equal(f->round.ports[i].port, i + 1);
}

static void test_flood_of_counters_does_not_crowd_out_the_other_port(void **state)
{
	struct fixture *f = *state;
	const uint32_t room = COUNTER_MAX / 3;

	for (unsigned i = 0; i < room + 100; i++)
		sysfs_tree_put(f->root, "1\n", "class/infiniband/big/ports/1/hw_counters/c%u", i);
	sysfs_tree_put(f->root, "2\n", "class/infiniband/big/ports/2/hw_counters/np_cnp_sent");
	sysfs_tree_put(f->root, "3\n", "class/infiniband/big/ports/2/hw_counters/%070d", 1);
	open_root(f, f->root, "big");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), room);
	check_value(f, 2, SOURCE_HW_COUNTERS, "np_cnp_sent", 2);
	assert_int_equal(count_values(f, 2, SOURCE_HW_COUNTERS), 1);
	assert_int_equal(f->round.values_dropped, 101);
}

static void test_counter_that_appears_later_is_read(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_put(f->root, "1\n", "class/infiniband/x/ports/1/hw_counters/b");
	open_root(f, f->root, "x");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(f->round.n_values, 1);
	sysfs_tree_put(f->root, "2\n", "class/infiniband/x/ports/1/hw_counters/a");
	assert_int_equal(run(f, 5), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 2);
	check_value(f, 1, SOURCE_HW_COUNTERS, "b", 1);
}

#define READER_TEST(name) cmocka_unit_test_setup_teardown(name, reader_setup, reader_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(test_failed_file_is_asked_again_after_twelve_rounds),
		READER_TEST(test_a_file_that_fails_is_named_once_until_it_can_be_read_again),
		READER_TEST(test_poke_asks_failed_files_at_once),
		READER_TEST(test_counter_reset_is_counted_and_the_new_value_told),
		READER_TEST(test_gauge_that_falls_is_no_reset),
		READER_TEST(test_no_rdma_and_no_sysfs_are_a_device_that_is_not_there),
		READER_TEST(test_device_that_leaves_takes_its_series_with_it),
		READER_TEST(test_device_that_leaves_in_mid_round_leaves_no_half_of_it),
		READER_TEST(test_state_and_rate_are_not_read_more_often_than_every_five_seconds),
		READER_TEST(test_gid_table_is_read_once_a_minute_or_when_poked),
		READER_TEST(test_failed_rate_is_unknown_and_asked_again_later),
		READER_TEST(test_steady_state_allocates_nothing),
		READER_TEST(test_no_file_descriptor_is_left_open),
		READER_TEST(test_no_file_of_a_device_that_left_stays_open),
		READER_TEST(test_ports_beyond_the_bound_are_counted),
		READER_TEST(test_flood_of_counters_does_not_crowd_out_the_other_port),
		READER_TEST(test_counter_that_appears_later_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
