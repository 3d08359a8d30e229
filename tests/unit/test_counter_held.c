/* Files of sysfs are held open between rounds, and those of a made-up tree as long as nobody puts
 * others in their places. A trap makes a tree in $TMPDIR pass for a /sys. */
#include "counter_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/gid_table.h"

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

/* A tree that was made a minute ago, so that each later change of a directory shows. */
static void begin_plain(struct fixture *f)
{
	f->wall_ns = clock_wall_ns() + 60 * NSEC_PER_SEC;
	begin(f);
	trap.sysfs = false;
	open_root(f, f->root, "x");
	/* The first round finds the ports, the second one their directories as they were. */
	assert_int_equal(run(f, 2), 0);
	assert_int_equal(run(f, 2), 0);
	trap.opens = 0;
}

static void move(const struct fixture *f, const char *from, const char *to)
{
	char before[256], after[256];

	snprintf(before, sizeof(before), "%s/%s", f->root, from);
	snprintf(after, sizeof(after), "%s/%s", f->root, to);
	assert_int_equal(rename(before, after), 0);
}

static void erase(const struct fixture *f, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", f->root, name);
	assert_int_equal(unlink(path), 0);
}

static void test_file_of_a_plain_tree_is_opened_once_and_read_each_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	for (unsigned i = 0; i < 5; i++) {
		sysfs_tree_put(f->root, i % 2 ? "7\n" : "123456\n", PORT "hw_counters/a");
		assert_int_equal(run(f, 2), 0);
		check_value(f, 1, SOURCE_HW_COUNTERS, "a", i % 2 ? 7 : 123456);
	}
	assert_int_equal(trap.opens, 0);
}

static void test_replaced_file_of_a_plain_tree_is_news_in_the_next_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	for (unsigned i = 0; i < 5; i++) {
		sysfs_tree_put(f->root, i % 2 ? "7\n" : "123456\n", PORT "next");
		move(f, PORT "next", PORT "hw_counters/a");
		assert_int_equal(run(f, 2), 0);
		check_value(f, 1, SOURCE_HW_COUNTERS, "a", i % 2 ? 7 : 123456);
	}
}

static void test_what_comes_and_goes_in_a_plain_tree_is_news_in_the_next_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	sysfs_tree_put(f->root, "3\n", PORT "hw_counters/c");
	sysfs_tree_put(f->root, "4\n", PORT "counters/d");
	sysfs_tree_put(f->root, "5\n", "class/infiniband/x/ports/2/hw_counters/e");
	sysfs_tree_put(f->root, "6\n", "class/infiniband/x/hw_counters/f");
	assert_int_equal(run(f, 2), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "c", 3);
	check_value(f, 1, SOURCE_COUNTERS, "d", 4);
	check_value(f, 2, SOURCE_HW_COUNTERS, "e", 5);
	check_value(f, 0, SOURCE_HW_COUNTERS, "f", 6);
	erase(f, PORT "hw_counters/a");
	move(f, "class/infiniband/x/ports/2", "class/infiniband/x/two");
	assert_int_equal(run(f, 2), 0);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "a");
	check_absent(f, 2, SOURCE_HW_COUNTERS, "e");
	check_value(f, 1, SOURCE_HW_COUNTERS, "b", 2);
}

static void test_directory_in_the_place_of_another_is_news_in_the_next_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	sysfs_tree_put(f->root, "8\n", PORT "others/a");
	assert_int_equal(run(f, 2), 0);
	move(f, PORT "hw_counters", PORT "before");
	move(f, PORT "others", PORT "hw_counters");
	assert_int_equal(run(f, 2), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "a", 8);
	check_absent(f, 1, SOURCE_HW_COUNTERS, "b");
}

static void test_file_that_is_a_link_is_opened_each_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	sysfs_tree_put(f->root, "5\n", PORT "five");
	sysfs_tree_put(f->root, "6\n", PORT "six");
	sysfs_tree_link(f->root, "../link", PORT "hw_counters/c");
	sysfs_tree_link(f->root, "five", PORT "link");
	assert_int_equal(run(f, 2), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "c", 5);
	assert_int_equal(run(f, 2), 0);
	/* Not a directory of counters changes. */
	sysfs_tree_link(f->root, "six", PORT "another");
	move(f, PORT "another", PORT "link");
	assert_int_equal(run(f, 2), 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "c", 6);
}

static void check_opened_each_round(struct fixture *f)
{
	trap.opens = 0;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(run(f, 2), 0);
	assert_int_equal(trap.opens, 5);
}

/* Two changes may bear one time: after a change it takes a while until nothing can hide. */
static void test_tree_that_was_just_edited_is_opened_each_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	sysfs_tree_put(f->root, "9\n", PORT "hw_counters/new");
	f->wall_ns = clock_wall_ns();
	check_opened_each_round(f);
}

static void test_tree_of_an_unknown_file_system_is_opened_each_round(void **state)
{
	struct fixture *f = *state;

	begin_plain(f);
	trap.other = true;
	open_root(f, f->root, "x");
	check_opened_each_round(f);
}

static void test_each_file_of_sysfs_is_opened_anew_within_five_minutes(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 30; i++)
		sysfs_tree_put(f->root, "1\n", PORT "hw_counters/c%u", i);
	sysfs_tree_put(f->root, "1\n", PORT "hw_counters/d");
	begin(f);
	trap.opens = 0;
	trap.counted = "hw_counters/d";
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(run(f, 30), 0);
	assert_int_equal(trap.opens, 1);
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

	begin(f);
	sysfs_tree_put(f->root, "9\n", "class/infiniband/y/ports/1/hw_counters/z");
	move(f, "class/infiniband/x", "class/infiniband/gone");
	move(f, "class/infiniband/y", "class/infiniband/x");
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

#define FREE "0000:0000:0000:0000:0000:0000:0000:0000\n"
#define TAKEN "fe80:0000:0000:0000:0ac0:ebff:fe00:0001\n"
#define SLOTS 80 /* five blocks */

static void test_gids_that_no_event_told_are_found_by_a_few_slots_a_minute(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < SLOTS; i++)
		sysfs_tree_put(f->root, i ? FREE : TAKEN, PORT "gids/%u", i);
	begin(f);
	counter_reader_set_told(f->reader, true);
	assert_int_equal(f->round.n_gids, 1);
	trap.counted = "gids/63";
	trap.opens = 0;
	/* Next to the used ones, and where the kernel looks next. */
	sysfs_tree_put(f->root, TAKEN, PORT "gids/1");
	sysfs_tree_put(f->root, TAKEN, PORT "gids/16");
	assert_int_equal(run(f, 60), 0);
	assert_int_equal(f->round.n_gids, 3);
	sysfs_tree_put(f->root, FREE, PORT "gids/1");
	sysfs_tree_put(f->root, TAKEN, PORT "gids/70");
	for (unsigned i = 0; i < SLOTS / GID_BLOCK; i++)
		assert_int_equal(run(f, 60), 0);
	assert_true(trap.opens == 1 || trap.opens == 2);
	assert_int_equal(f->round.n_gids, 3);
	assert_int_equal(f->round.gids[2].index, 70);
	/* From now on it is one of those that are used. */
	sysfs_tree_put(f->root, FREE, PORT "gids/70");
	assert_int_equal(run(f, 60), 0);
	assert_int_equal(f->round.n_gids, 2);
	/* And an event has all read. */
	sysfs_tree_put(f->root, TAKEN, PORT "gids/79");
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 1), 0);
	assert_int_equal(f->round.n_gids, 3);
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
		READER_TEST(test_file_of_a_plain_tree_is_opened_once_and_read_each_round),
		READER_TEST(test_replaced_file_of_a_plain_tree_is_news_in_the_next_round),
		READER_TEST(test_what_comes_and_goes_in_a_plain_tree_is_news_in_the_next_round),
		READER_TEST(test_directory_in_the_place_of_another_is_news_in_the_next_round),
		READER_TEST(test_file_that_is_a_link_is_opened_each_round),
		READER_TEST(test_tree_that_was_just_edited_is_opened_each_round),
		READER_TEST(test_tree_of_an_unknown_file_system_is_opened_each_round),
		READER_TEST(test_each_file_of_sysfs_is_opened_anew_within_five_minutes),
		READER_TEST(test_sysfs_is_listed_every_thirty_seconds_or_when_poked),
		READER_TEST(test_attribute_that_left_and_returned_is_opened_anew),
		READER_TEST(test_attribute_that_fails_is_given_back_and_rests),
		READER_TEST(test_device_that_returns_between_rounds_is_listed_anew),
		READER_TEST(test_nothing_is_held_where_descriptors_are_few),
		READER_TEST(test_want_of_descriptors_gives_back_what_is_held),
		READER_TEST(test_descriptors_go_with_the_device_and_the_reader),
		READER_TEST(test_state_is_read_seldom_where_changes_are_told_and_at_once_then),
		READER_TEST(test_gids_that_no_event_told_are_found_by_a_few_slots_a_minute),
		READER_TEST(test_renamed_netdev_is_followed_when_it_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
