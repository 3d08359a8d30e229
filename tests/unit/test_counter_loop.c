#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "probes/counter_loop.h"
#include "probes/table.h"
#include "sysfs_tree.h"

#define LONG_NS (60 * NSEC_PER_SEC)
#define PATIENCE_NS (10 * NSEC_PER_SEC)

struct fixture {
	char root[64];
	struct table *table;
	struct counter_loop *loop;
	struct counter_round round;
};

static int setup(void **state)
{
	static const struct table_layout layout = {1, SAMPLES_MIN};
	struct fixture *f = calloc(1, sizeof(*f));
	int fd = -1;

	sysfs_tree_make(f->root);
	f->table = table_create(&layout, &fd);
	close(fd);
	*state = f;
	return f->table ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_true(counter_loop_stop(f->loop, PATIENCE_NS));
	table_unmap(f->table);
	sysfs_tree_remove(f->root);
	free(f);
	return 0;
}

static void start(struct fixture *f, uint64_t interval_ns)
{
	f->loop = counter_loop_start(f->table, f->root, "mlx5_0", interval_ns, 0);
	assert_non_null(f->loop);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5 * (long)NSEC_PER_MSEC}, NULL);
}

/* Waits for a round that ended after the given instant. */
static void await_round(struct fixture *f, uint64_t after_ns)
{
	uint64_t deadline = clock_now_ns() + PATIENCE_NS;

	while (!table_get_counters(f->table, &f->round) || f->round.mono_ns <= after_ns) {
		if (clock_now_ns() > deadline)
			fail_msg("no round within %llu s", PATIENCE_NS / NSEC_PER_SEC);
		nap();
	}
}

static uint64_t last_beat(const struct fixture *f)
{
	uint64_t mono, wall;

	table_get_beat(f->table, WORKER_COUNTER, &mono, &wall);
	return mono;
}

static void test_rounds_appear_in_the_table_at_the_interval(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	start(f, 100 * NSEC_PER_MSEC);
	await_round(f, 0);
	assert_int_equal(f->round.n_values, 52);
	assert_int_equal(f->round.interval_ns, 100 * NSEC_PER_MSEC);
	assert_true(f->round.wall_ns > 0);
	await_round(f, f->round.mono_ns + 50 * NSEC_PER_MSEC);
	assert_true(last_beat(f) > 0);
	assert_false(counter_loop_device_gone(f->loop));
}

static void test_stop_does_not_wait_for_a_long_interval(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	start(f, LONG_NS);
	await_round(f, 0);
	before = clock_now_ns();
	assert_true(counter_loop_stop(f->loop, PATIENCE_NS));
	f->loop = NULL;
	assert_true(clock_now_ns() - before < 2 * NSEC_PER_SEC);
}

static void test_shorter_interval_takes_effect_at_once(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	start(f, LONG_NS);
	await_round(f, 0);
	counter_loop_set(f->loop, 200 * NSEC_PER_MSEC, 0);
	await_round(f, f->round.mono_ns);
	assert_int_equal(f->round.interval_ns, 200 * NSEC_PER_MSEC);
}

static void test_poke_makes_a_round_long_before_it_is_due(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	start(f, LONG_NS);
	await_round(f, 0);
	counter_loop_poke(f->loop);
	await_round(f, f->round.mono_ns);
}

static void test_device_that_leaves_is_told_and_one_that_returns_is_read(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	start(f, 100 * NSEC_PER_MSEC);
	await_round(f, 0);
	sysfs_tree_show(f->root, NULL);
	for (uint64_t until = clock_now_ns() + PATIENCE_NS; clock_now_ns() < until; nap()) {
		if (counter_loop_device_gone(f->loop))
			break;
	}
	assert_true(counter_loop_device_gone(f->loop));
	await_round(f, clock_now_ns());
	assert_int_equal(f->round.n_values, 0);
	sysfs_tree_show(f->root, SYSFS_TREES "/mlx5-roce");
	await_round(f, clock_now_ns() + 100 * NSEC_PER_MSEC);
	assert_int_equal(f->round.n_values, 52);
	assert_false(counter_loop_device_gone(f->loop));
}

/* A FIFO without a writer holds its reader in the kernel, as a sick device does. */
static void make_blocking(const struct fixture *f, char *path, size_t size)
{
	snprintf(path, size, "%s/class/infiniband/mlx5_0/ports/1/counters/symbol_error", f->root);
	assert_int_equal(mkfifo(path, 0644), 0);
}

/* The table of an abandoned thread is never unmapped. */
static struct table *volatile abandoned;

static void test_stuck_thread_is_abandoned_in_time_and_its_heart_stands_still(void **state)
{
	struct fixture *f = *state;
	uint64_t before, beat;
	char path[256];
	int fd;

	sysfs_tree_put(f->root, "1\n", "class/infiniband/mlx5_0/ports/1/counters/link_downed");
	make_blocking(f, path, sizeof(path));
	start(f, 100 * NSEC_PER_MSEC);
	for (beat = 0; beat == 0; beat = last_beat(f))
		nap();
	before = clock_now_ns();
	assert_false(counter_loop_stop(f->loop, 300 * NSEC_PER_MSEC));
	f->loop = NULL;
	assert_true(clock_now_ns() - before < 2 * NSEC_PER_SEC);
	assert_int_equal(last_beat(f), beat);
	assert_false(table_get_counters(f->table, &f->round));
	abandoned = f->table;
	/* It comes back one day, must not publish any more, and frees itself. */
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, "7\n", 2), 2);
	close(fd);
	nanosleep(&(struct timespec){.tv_nsec = 300 * (long)NSEC_PER_MSEC}, NULL);
	assert_false(table_get_counters(f->table, &f->round));
	f->table = NULL;
}

static void test_stuck_device_does_not_hold_back_another(void **state)
{
	static const struct table_layout layout = {1, SAMPLES_MIN};
	struct fixture *f = *state;
	struct fixture other = {.table = NULL};
	char path[256];
	int fd = -1;

	sysfs_tree_put(f->root, "1\n", "class/infiniband/mlx5_0/ports/1/counters/link_downed");
	make_blocking(f, path, sizeof(path));
	start(f, 100 * NSEC_PER_MSEC);
	other.table = table_create(&layout, &fd);
	close(fd);
	other.loop = counter_loop_start(other.table, SYSFS_TREES "/mixed", "mlx5_1",
					100 * NSEC_PER_MSEC, 0);
	assert_non_null(other.loop);
	await_round(&other, 0);
	await_round(&other, other.round.mono_ns);
	assert_true(counter_loop_stop(other.loop, PATIENCE_NS));
	table_unmap(other.table);
	/* Let the stuck one go: it is stopped as any other. */
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, "7\n", 2), 2);
	close(fd);
	await_round(f, 0);
	assert_int_equal(f->round.n_values, 2);
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	close(fd);
}

static void test_device_name_out_of_the_class_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_null(counter_loop_start(f->table, "/sys", "../net", NSEC_PER_SEC, 0));
}

#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(test_rounds_appear_in_the_table_at_the_interval),
		LOOP_TEST(test_stop_does_not_wait_for_a_long_interval),
		LOOP_TEST(test_shorter_interval_takes_effect_at_once),
		LOOP_TEST(test_poke_makes_a_round_long_before_it_is_due),
		LOOP_TEST(test_device_that_leaves_is_told_and_one_that_returns_is_read),
		LOOP_TEST(test_stuck_thread_is_abandoned_in_time_and_its_heart_stands_still),
		LOOP_TEST(test_stuck_device_does_not_hold_back_another),
		LOOP_TEST(test_device_name_out_of_the_class_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
