/* Files of sysfs are held open between rounds; those of a made-up tree, which anybody may replace,
 * are not. A trap makes a tree in $TMPDIR pass for a /sys. */
#include "counter_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>

#define PORT "class/infiniband/x/ports/1/"

static void begin(struct fixture *f)
{
	sysfs_tree_put(f->root, "1\n", PORT "hw_counters/a");
	sysfs_tree_put(f->root, "2\n", PORT "hw_counters/b");
	sysfs_tree_put(f->root, "4: ACTIVE\n", PORT "state");
	trap.counted = "hw_counters/a";
	trap.sysfs = true;
	open_root(f, f->root, "x");
	assert_int_equal(run(f, 0), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 1);
}

static void test_file_of_sysfs_is_opened_once_and_read_each_round(void **state)
{
	struct fixture *f = *state;

	begin(f);
	for (uint64_t i = 10; i < 20; i++) {
		sysfs_tree_put(f->root, i % 2 ? "7\n" : "123456\n", PORT "hw_counters/a");
		assert_int_equal(run(f, 2), 0);
		check_value(f, 1, SOURCE_HW_COUNTERS, "a", i % 2 ? 7 : 123456);
	}
	assert_int_equal(trap.opens, 1);
}

static void test_file_elsewhere_is_opened_each_round(void **state)
{
	struct fixture *f = *state;

	begin(f);
	trap.sysfs = false;
	open_root(f, f->root, "x");
	trap.opens = 0;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(run(f, 2), 0);
	assert_int_equal(trap.opens, 5);
}

static void test_sysfs_is_listed_every_thirty_seconds_or_when_poked(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sysfs_tree_put(f->root, "3\n", PORT "hw_counters/c");
	for (unsigned i = 0; i < 29; i++)
		assert_int_equal(run(f, 1), 0);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "c");
	assert_int_equal(trap.opens, 1);
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "c", 3);
	assert_int_equal(trap.opens, 2);
	sysfs_tree_put(f->root, "4\n", PORT "hw_counters/d");
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "d", 4);
	assert_int_equal(trap.opens, 3);
}

static void test_attribute_that_left_and_returned_is_opened_anew(void **state)
{
	struct fixture *f = *state;

	begin(f);
	trap.failing = "of this descriptor";
	trap.fd = trap.counted_fd;
	trap.error = ENODEV;
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 1);
	assert_int_equal(trap.opens, 2);
	assert_int_equal(count_errors(f), 0);
}

static void test_attribute_that_fails_is_given_back_and_rests(void **state)
{
	struct fixture *f = *state;

	begin(f);
	trap.failing = "of this descriptor";
	trap.fd = trap.counted_fd;
	trap.error = EIO;
	assert_int_equal(run(f, 1), 0);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "a");
	check_value(f, 1, SOURCE_HW_COUNTERS, "b", 2);
	assert_int_equal(count_errors(f), 1);
	assert_int_equal(trap.opens, 1);
	for (unsigned i = 0; i < COUNTER_RETRY_ROUNDS; i++)
		assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 1);
	assert_int_equal(trap.opens, 2);
}

static void test_device_that_returns_between_rounds_is_listed_anew(void **state)
{
	struct fixture *f = *state;
	char before[256], after[256];

	begin(f);
	sysfs_tree_put(f->root, "9\n", "class/infiniband/y/ports/1/hw_counters/z");
	snprintf(before, sizeof(before), "%s/class/infiniband/x", f->root);
	snprintf(after, sizeof(after), "%s/class/infiniband/gone", f->root);
	assert_int_equal(rename(before, after), 0);
	snprintf(after, sizeof(after), "%s/class/infiniband/y", f->root);
	assert_int_equal(rename(after, before), 0);
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "z", 9);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "a");
}

static void test_nothing_is_held_where_descriptors_are_few(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, few;

	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &few);
	begin(f);
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(run(f, 1), 0);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(trap.opens, 3);
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_want_of_descriptors_gives_back_what_is_held(void **state)
{
	struct fixture *f = *state;
	unsigned held;

	begin(f);
	held = descriptors();
	/* As if others had taken all: of the files that are not held, none can be opened. */
	sysfs_tree_put(f->root, "3\n", PORT "hw_counters/c");
	trap.failing_open = "hw_counters/c";
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 1), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 1);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "c");
	assert_int_equal(descriptors(), held - 2);
	trap.failing_open = NULL;
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(descriptors(), held - 2);
	assert_int_equal(run(f, 30), 0);
	assert_int_equal(descriptors(), held); /* c rests after its failure */
}

static void test_descriptors_go_with_the_device_and_the_reader(void **state)
{
	struct fixture *f = *state;
	unsigned before = descriptors();

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	trap.sysfs = true;
	open_root(f, f->root, "mlx5_0");
	assert_int_equal(run(f, 0), 0);
	assert_true(descriptors() > before + 10);
	sysfs_tree_show(f->root, NULL);
	assert_int_equal(run(f, 1), -ENODEV);
	assert_int_equal(descriptors(), before);
	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	assert_int_equal(run(f, 1), 0);
	assert_true(descriptors() > before + 10);
	counter_reader_free(f->reader);
	f->reader = NULL;
	assert_int_equal(descriptors(), before);
}

static void put_state(struct fixture *f, const char *text)
{
	sysfs_tree_put(f->root, text, PORT "state");
}

static void test_state_is_read_seldom_where_changes_are_told_and_at_once_then(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_put(f->root, "0\n", "class/infiniband/x/ports/1/gid_attrs/types/0");
	sysfs_tree_put(f->root, "lo\n", "class/infiniband/x/parent");
	begin(f);
	counter_reader_set_told(f->reader, true);
	assert_string_equal(f->round.ports[0].netdev, "lo");
	/* News may be ahead of the files: at first they are read as if nobody told. */
	put_state(f, "2: INIT\n");
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.ports[0].state, 2);
	assert_int_equal(run(f, 56), 0);
	put_state(f, "1: DOWN\n");
	assert_int_equal(run(f, 29), 0);
	assert_int_equal(f->round.ports[0].state, 2);
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(f->round.ports[0].state, 1);
	put_state(f, "4: ACTIVE\n");
	assert_false(counter_reader_link(f->reader, "eth6"));
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(f->round.ports[0].state, 1);
	assert_true(counter_reader_link(f->reader, "lo"));
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(f->round.ports[0].state, 4);
	put_state(f, "1: DOWN\n");
	assert_true(counter_reader_link(f->reader, NULL));
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(f->round.ports[0].state, 1);
}

static void test_renamed_netdev_is_followed_when_it_is_told(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_put(f->root, "gone7\n", "class/infiniband/x/parent");
	begin(f);
	counter_reader_set_told(f->reader, true);
	sysfs_tree_put(f->root, "lo\n", "class/infiniband/x/parent");
	assert_int_equal(run(f, 5), 0);
	assert_string_equal(f->round.ports[0].netdev, "gone7");
	assert_true(counter_reader_link(f->reader, "lo"));
	assert_int_equal(run(f, 1), 0);
	assert_string_equal(f->round.ports[0].netdev, "lo");
}

#define READER_TEST(name) cmocka_unit_test_setup_teardown(name, reader_setup, reader_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(test_file_of_sysfs_is_opened_once_and_read_each_round),
		READER_TEST(test_file_elsewhere_is_opened_each_round),
		READER_TEST(test_sysfs_is_listed_every_thirty_seconds_or_when_poked),
		READER_TEST(test_attribute_that_left_and_returned_is_opened_anew),
		READER_TEST(test_attribute_that_fails_is_given_back_and_rests),
		READER_TEST(test_device_that_returns_between_rounds_is_listed_anew),
		READER_TEST(test_nothing_is_held_where_descriptors_are_few),
		READER_TEST(test_want_of_descriptors_gives_back_what_is_held),
		READER_TEST(test_descriptors_go_with_the_device_and_the_reader),
		READER_TEST(test_state_is_read_seldom_where_changes_are_told_and_at_once_then),
		READER_TEST(test_renamed_netdev_is_followed_when_it_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
