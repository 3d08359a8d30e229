/* Statistics of netdevs, as drivers of several vendors name them, from behind the kernel's call. */
#include "counter_fixture.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "ethtool_driver.h"
#include "probes/netdev_stats.h"

#define STRINGS_MAX 4000

static const char *const mlx5[] = {
	"rx_packets",	  "rx0_packets",      "rx_prio3_pause",		 "rx_prio3_pause_duration",
	"tx_prio3_pause", "rx_out_of_buffer", "outbound_pci_stalled_rd", "link_down_events_phy",
	"rx_brand_new",
};
static const char *const mlx4[] = {"rx_pause_prio_3", "rx_pause_duration_prio_3"};
static const char *const bnxt[] = {"[0]: rx_ucast_packets", "rx_pfc_ena_frames_pri3",
				   "pfc_pri3_rx_duration_us"};
static const char *const ice[] = {"tx_queue_0_packets", "rx_priority_3_xoff.nic"};
static const char *const hns3[] = {"mac_rx_pfc_pri3_pkt_num", "mac_rx_pfc_pri3_xoff_time"};
static const char *const virtio[] = {"rx_queue_0_packets", "tx_queue_0_packets"};

/* The kernel, as far as it is asked. */
static struct {
	struct ethtool_driver driver;
	const char *const *names; /* NULL: numbered ones */
	int error;
	unsigned asked;
	char netdev[IFNAMSIZ];
	char odd[8][ETHTOOL_NAME];
	bool use_odd;
} kernel;

static void put_name(uint32_t i, char ret[ETHTOOL_NAME])
{
	char text[ETHTOOL_NAME];

	if (kernel.use_odd) {
		memcpy(ret, kernel.odd[i], ETHTOOL_NAME);
		return;
	}
	snprintf(text, sizeof(text), "rx%u_packets", i);
	memcpy(ret, kernel.names ? kernel.names[i] : text,
	       strlen(kernel.names ? kernel.names[i] : text));
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct ifreq *r = arg;

	assert_true(fd >= 0);
	assert_int_equal(request, SIOCETHTOOL);
	kernel.asked++;
	snprintf(kernel.netdev, sizeof(kernel.netdev), "%s", r->ifr_name);
	if (kernel.error) {
		errno = kernel.error;
		return -1;
	}
	ethtool_driver_answer(&kernel.driver, r);
	return 0;
}

#define KERNEL_HAS(list) kernel_has(list, COUNT(list))

static void kernel_has(const char *const *names, uint32_t n)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.names = names;
	kernel.driver = (struct ethtool_driver){.n = n, .first = 100, .put_name = put_name};
}

struct asking {
	struct ethtool ethtool;
	struct netdev_stats stats;
};

static int setup(void **state)
{
	struct asking *a = calloc(1, sizeof(*a));

	kernel_has(NULL, 0);
	*state = a;
	return ethtool_open(&a->ethtool);
}

static int teardown(void **state)
{
	struct asking *a = *state;

	ethtool_close(&a->ethtool);
	free(a);
	return 0;
}

static int ask(struct asking *a, uint32_t max)
{
	return netdev_stats_read(&a->stats, &a->ethtool, "eth7", max);
}

static const struct netdev_stat *stat_of(const struct asking *a, const char *name)
{
	for (uint32_t i = 0; i < a->stats.n; i++) {
		if (strcmp(a->stats.stat[i].name, name) == 0)
			return &a->stats.stat[i];
	}
	return NULL;
}

static void test_statistics_of_every_vendor_are_read(void **state)
{
	static const struct {
		const char *const *names;
		uint32_t n;
		const char *paused; /* frames received of priority 3 */
	} vendors[] = {
		{mlx5, COUNT(mlx5), "rx_prio3_pause"},
		{mlx4, COUNT(mlx4), "rx_pause_prio_3"},
		{bnxt, COUNT(bnxt), "rx_pfc_ena_frames_pri3"},
		{ice, COUNT(ice), "rx_priority_3_xoff.nic"},
		{hns3, COUNT(hns3), "mac_rx_pfc_pri3_pkt_num"},
		{virtio, COUNT(virtio), NULL},
	};
	struct asking *a = *state;

	for (size_t v = 0; v < COUNT(vendors); v++) {
		kernel_has(vendors[v].names, vendors[v].n);
		netdev_stats_retry(&a->stats); /* their number may be that of before */
		assert_int_equal(ask(a, 400), 1);
		assert_string_equal(kernel.netdev, "eth7");
		assert_int_equal(a->stats.n, vendors[v].n);
		assert_int_equal(a->stats.dropped, 0);
		for (uint32_t i = 0; i < vendors[v].n; i++) {
			const struct netdev_stat *s = stat_of(a, vendors[v].names[i]);

			assert_non_null(s);
			assert_int_equal(s->value, 100 + i);
		}
		if (vendors[v].paused) {
			const struct netdev_stat *s = stat_of(a, vendors[v].paused);

			assert_int_equal(s->row->signal, SIGNAL_PFC_RX_FRAMES);
			assert_int_equal(counter_row_priority(s->row, s->name), 3);
		}
	}
}

static void test_a_netdev_without_statistics_is_left_alone_for_some_rounds(void **state)
{
	struct asking *a = *state;

	kernel.error = EOPNOTSUPP;
	assert_int_equal(ask(a, 400), -EOPNOTSUPP);
	for (unsigned i = 1; i < NETDEV_RETRY_ROUNDS; i++)
		assert_int_equal(ask(a, 400), 0);
	assert_int_equal(kernel.asked, 1);
	assert_int_equal(ask(a, 400), -EOPNOTSUPP);
	/* Another netdev is another matter, and so is a hint that something changed. */
	assert_int_equal(netdev_stats_read(&a->stats, &a->ethtool, "eth8", 400), -EOPNOTSUPP);
	netdev_stats_retry(&a->stats);
	KERNEL_HAS(mlx5);
	assert_int_equal(netdev_stats_read(&a->stats, &a->ethtool, "eth8", 400), 1);
}

static void test_names_are_asked_for_again_when_their_number_changes(void **state)
{
	struct asking *a = *state;

	KERNEL_HAS(mlx5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ask(a, 400), 1);
	assert_int_equal(kernel.driver.names_asked, 1);
	assert_true(stat_of(a, "rx_packets")->has_before);
	kernel.driver.n = 4; /* pause frames of priority 3 were switched off */
	assert_int_equal(ask(a, 400), 1);
	assert_int_equal(kernel.driver.names_asked, 2);
	assert_int_equal(a->stats.n, 4);
	assert_null(stat_of(a, "tx_prio3_pause"));
}

static void test_more_than_was_said_is_no_answer(void **state)
{
	struct asking *a = *state;

	KERNEL_HAS(mlx5);
	kernel.driver.grown = 3;
	assert_int_equal(ask(a, 400), -EAGAIN);
	kernel.driver.grown = 0;
	assert_int_equal(ask(a, 400), 1);
	kernel.driver.grown = 1; /* between names and values */
	assert_int_equal(ask(a, 400), -EAGAIN);
	kernel.driver.n = ETHTOOL_MAX + 1;
	assert_int_equal(ask(a, 400), -E2BIG);
}

static void test_none_at_all_is_fine(void **state)
{
	struct asking *a = *state;

	assert_int_equal(ask(a, 400), 1);
	assert_int_equal(a->stats.n, 0);
}

static void test_known_ones_come_first_and_those_of_queues_last(void **state)
{
	struct asking *a = *state;

	KERNEL_HAS(mlx5);
	assert_int_equal(ask(a, COUNT(mlx5) - 1), 1);
	assert_int_equal(a->stats.n, COUNT(mlx5) - 1);
	assert_int_equal(a->stats.dropped, 1);
	assert_null(stat_of(a, "rx0_packets"));
	assert_int_equal(ask(a, COUNT(mlx5) - 2), 1);
	assert_null(stat_of(a, "rx_brand_new"));
	assert_non_null(stat_of(a, "rx_prio3_pause"));
}

static void test_a_flood_is_cut_and_counted(void **state)
{
	struct asking *a = *state;

	kernel.driver.n = STRINGS_MAX;
	assert_int_equal(ask(a, UINT32_MAX), 1);
	assert_int_equal(a->stats.n, NETDEV_STATS_MAX);
	assert_int_equal(a->stats.dropped, STRINGS_MAX - NETDEV_STATS_MAX);
}

static void test_names_are_cleaned_and_each_is_there_once(void **state)
{
	struct asking *a = *state;

	kernel.use_odd = true;
	kernel.driver.n = 8;
	memset(kernel.odd[0], 'x', ETHTOOL_NAME); /* fills its place: no NUL */
	memcpy(kernel.odd[1], "  rx_blank  ", 12);
	memcpy(kernel.odd[2], "rx_blank", 8);
	memcpy(kernel.odd[3], "bad\xff\n\x7f", 6);
	memset(kernel.odd[4], ' ', ETHTOOL_NAME);
	memcpy(kernel.odd[6], "peer_ifindex", 12); /* no measurement */
	memcpy(kernel.odd[7], "\xc3\xa9", 2);
	assert_int_equal(ask(a, 400), 1);
	assert_int_equal(a->stats.n, 4);
	assert_int_equal(a->stats.dropped, 1);
	assert_non_null(stat_of(a, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	assert_int_equal(stat_of(a, "rx_blank")->index, 1);
	assert_non_null(stat_of(a, "bad???"));
	assert_non_null(stat_of(a, "??"));
}

/* --- by the reader --- */

static void test_reader_tells_them_with_the_port_of_the_netdev(void **state)
{
	struct fixture *f = *state;
	unsigned before;

	KERNEL_HAS(mlx5);
	open_root(f, SYSFS_TREES "/mlx5-roce", "mlx5_0");
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(kernel.asked, 0); /* unless it is told to */
	counter_reader_set_netdev_stats(f->reader, 400);
	assert_int_equal(run(f, 5), 0);
	assert_string_equal(kernel.netdev, "ens1f0np0");
	check_value(f, 1, SOURCE_ETHTOOL, "rx_prio3_pause", 102);
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 345091702026);
	assert_int_equal(count_values(f, 1, SOURCE_ETHTOOL), COUNT(mlx5));
	before = trap.allocations;
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(trap.allocations, before);
	kernel.driver.first = 10; /* the driver was loaded again */
	assert_int_equal(run(f, 5), 0);
	/* All but the gauge and the two that nobody knows. */
	assert_int_equal(f->round.resets_seen, COUNT(mlx5) - 3);
	assert_int_equal(count_errors(f), 0);
}

static void test_reader_survives_a_netdev_that_fails(void **state)
{
	struct fixture *f = *state;

	KERNEL_HAS(mlx5);
	kernel.error = ENODEV;
	open_root(f, SYSFS_TREES "/mlx5-roce", "mlx5_0");
	counter_reader_set_netdev_stats(f->reader, 400);
	assert_int_equal(run(f, 0), 0);
	assert_int_equal(count_values(f, 1, SOURCE_ETHTOOL), 0);
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 345091702026);
	assert_int_equal(f->round.read_errors[1][READ_ENODEV], 1);
	assert_int_equal(f->round.ports[0].netdev_errno, ENODEV);
	kernel.error = 0;
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(f->round.ports[0].netdev_errno, ENODEV);
	counter_reader_poke(f->reader);
	assert_int_equal(run(f, 5), 0);
	assert_int_equal(count_values(f, 1, SOURCE_ETHTOOL), COUNT(mlx5));
	assert_int_equal(f->round.ports[0].netdev_errno, 0);
}

static void test_a_bond_without_statistics_is_no_error(void **state)
{
	struct fixture *f = *state;

	KERNEL_HAS(mlx5);
	kernel.error = EOPNOTSUPP;
	open_root(f, SYSFS_TREES "/bond", "mlx5_bond_0");
	counter_reader_set_netdev_stats(f->reader, 400);
	assert_int_equal(run(f, 0), 0);
	assert_string_equal(kernel.netdev, "bond0");
	assert_int_equal(f->round.ports[0].netdev_errno, EOPNOTSUPP);
	assert_int_equal(count_errors(f), 0);
}

#define STATS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define READER_TEST(name) cmocka_unit_test_setup_teardown(name, reader_setup, reader_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATS_TEST(test_statistics_of_every_vendor_are_read),
		STATS_TEST(test_a_netdev_without_statistics_is_left_alone_for_some_rounds),
		STATS_TEST(test_names_are_asked_for_again_when_their_number_changes),
		STATS_TEST(test_more_than_was_said_is_no_answer),
		STATS_TEST(test_none_at_all_is_fine),
		STATS_TEST(test_known_ones_come_first_and_those_of_queues_last),
		STATS_TEST(test_a_flood_is_cut_and_counted),
		STATS_TEST(test_names_are_cleaned_and_each_is_there_once),
		READER_TEST(test_reader_tells_them_with_the_port_of_the_netdev),
		READER_TEST(test_reader_survives_a_netdev_that_fails),
		READER_TEST(test_a_bond_without_statistics_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
