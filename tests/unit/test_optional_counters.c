/* Optional counters as RDMA netlink tells them: which are on, and what they say. */
#include "netlink_kernel.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>

#include "probes/optional_counters.h"

#define STATUS RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET_STATUS)
#define VALUES RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET)
#define DEVICES RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)
#define INDEX 5
#define ALWAYS 2 /* on: a counter that is not optional */

struct fixture {
	struct netlink_kernel k;
	struct optional_counters o;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	kernel_begin(&f->k);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kernel_end(&f->k);
	free(f);
	return 0;
}

static void add_device(struct fixture *f, const char *name, uint32_t index)
{
	kernel_message(&f->k, DEVICES, NLM_F_MULTI, NULL, 0);
	kernel_u32(&f->k, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	kernel_text(&f->k, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

static void begin(struct fixture *f, uint16_t type, const char *device)
{
	kernel_message(&f->k, type, 0, NULL, 0);
	kernel_u32(&f->k, RDMA_NLDEV_ATTR_DEV_INDEX, INDEX);
	kernel_text(&f->k, RDMA_NLDEV_ATTR_DEV_NAME, device);
	kernel_u32(&f->k, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	kernel_nest(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
}

static void add_status(struct fixture *f, const char *name, uint8_t on)
{
	kernel_nest(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	kernel_text(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	if (on != ALWAYS)
		kernel_u8(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, on);
	kernel_unnest(&f->k);
}

static void add_value(struct fixture *f, const char *name, uint64_t value)
{
	kernel_nest(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	kernel_text(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	kernel_u64(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	kernel_unnest(&f->k);
}

static void answer(struct fixture *f)
{
	kernel_unnest(&f->k);
	kernel_answer(&f->k);
}

static int list(struct fixture *f)
{
	answer(f);
	return optional_list(&f->o, &f->k.asker, INDEX, 1);
}

static int get(struct fixture *f)
{
	answer(f);
	return optional_read(&f->o, &f->k.asker, INDEX, "mlx5_0", 1);
}

static void list_two(struct fixture *f)
{
	begin(f, STATUS, "mlx5_0");
	add_status(f, "out_of_sequence", ALWAYS);
	add_status(f, "cc_rx_ce_pkts", 1);
	add_status(f, "cc_rx_cnp_pkts", 0);
	add_status(f, "cc_tx_cnp_pkts", 1);
	assert_int_equal(list(f), 0);
}

static void test_devices_are_found_by_name(void **state)
{
	struct fixture *f = *state;
	uint32_t index = 0;

	add_device(f, "mlx5_00", 1);
	add_device(f, "mlx5_0", INDEX);
	add_device(f, "mlx5", 2);
	kernel_code(&f->k, NLMSG_DONE, 0);
	kernel_answer(&f->k);
	assert_int_equal(optional_device(&f->k.asker, "mlx5_0", &index), 0);
	assert_int_equal(index, INDEX);
	add_device(f, "mlx5_1", 3);
	kernel_code(&f->k, NLMSG_DONE, 0);
	kernel_answer(&f->k);
	assert_int_equal(optional_device(&f->k.asker, "mlx5_0", &index), -ENODEV);
	assert_int_equal(index, INDEX);
}

static void test_those_that_are_on_are_read(void **state)
{
	struct netlink_attrs attrs;
	struct netlink_attr attr;
	struct fixture *f = *state;
	uint32_t port;

	list_two(f);
	assert_int_equal(f->o.n, 2);
	assert_int_equal(f->o.counter[0].row->signal, SIGNAL_CC_RX_ECN_MARKED);
	assert_int_equal(f->o.counter[1].row->signal, SIGNAL_CC_CNP_TX);
	begin(f, VALUES, "mlx5_0");
	add_value(f, "out_of_sequence", 1);
	add_value(f, "cc_rx_ce_pkts", 17);
	add_value(f, "cc_tx_cnp_pkts", UINT64_MAX);
	assert_int_equal(get(f), 0);
	assert_true(f->o.counter[0].told && !f->o.counter[0].has_before);
	assert_int_equal(f->o.counter[0].value, 17);
	assert_int_equal(f->o.counter[1].value, UINT64_MAX);
	assert_int_equal(kernel_question(&f->k, 0, &attrs), STATUS);
	assert_int_equal(kernel_question(&f->k, 0, &attrs), VALUES);
	assert_true(netlink_find(attrs, RDMA_NLDEV_ATTR_PORT_INDEX, &attr));
	assert_true(netlink_u32(&attr, &port) && port == 1);
}

static void test_what_is_switched_off_leaves_and_the_rest_is_kept(void **state)
{
	struct fixture *f = *state;

	list_two(f);
	begin(f, VALUES, "mlx5_0");
	add_value(f, "cc_rx_ce_pkts", 17);
	add_value(f, "cc_tx_cnp_pkts", 18);
	assert_int_equal(get(f), 0);
	begin(f, STATUS, "mlx5_0");
	add_status(f, "cc_tx_cnp_pkts", 1);
	assert_int_equal(list(f), 0);
	assert_int_equal(f->o.n, 1);
	begin(f, VALUES, "mlx5_0");
	add_value(f, "cc_rx_ce_pkts", 20);
	add_value(f, "cc_tx_cnp_pkts", 21);
	add_value(f, "cc_tx_cnp_pkts", 22);
	assert_int_equal(get(f), 0);
	assert_string_equal(f->o.counter[0].name, "cc_tx_cnp_pkts");
	assert_int_equal(f->o.counter[0].before, 18);
	assert_int_equal(f->o.counter[0].value, 21);
}

static void test_a_port_without_any_is_not_asked_for_values(void **state)
{
	struct netlink_attrs attrs;
	struct fixture *f = *state;

	begin(f, STATUS, "rxe0");
	add_status(f, "sent_pkts", ALWAYS);
	assert_int_equal(list(f), 0);
	assert_int_equal(f->o.n, 0);
	assert_int_equal(optional_read(&f->o, &f->k.asker, INDEX, "rxe0", 1), 0);
	assert_int_equal(kernel_question(&f->k, 0, &attrs), STATUS);
	assert_int_equal(f->k.asker.sequence, 1);
}

static void test_another_device_by_the_same_number_tells_nothing(void **state)
{
	struct fixture *f = *state;

	list_two(f);
	begin(f, VALUES, "mlx5_7");
	add_value(f, "cc_rx_ce_pkts", 17);
	assert_int_equal(get(f), -ENODEV);
	assert_false(f->o.counter[0].told);
}

static void test_kernels_and_drivers_without_them_are_told_apart_from_faults(void **state)
{
	static const int codes[] = {-EINVAL, -EOPNOTSUPP, -EPERM};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(codes); i++) {
		list_two(f);
		kernel_code(&f->k, NLMSG_ERROR, codes[i]);
		kernel_answer(&f->k);
		assert_int_equal(optional_list(&f->o, &f->k.asker, INDEX, 1), codes[i]);
		assert_int_equal(f->o.n, 0);
	}
	list_two(f);
	kernel_code(&f->k, NLMSG_ERROR, -EINVAL);
	kernel_answer(&f->k);
	assert_int_equal(optional_read(&f->o, &f->k.asker, INDEX, "mlx5_0", 1), -EINVAL);
	assert_false(f->o.counter[0].told);
}

static void test_hostile_entries_are_left_out(void **state)
{
	struct fixture *f = *state;
	char name[OPTIONAL_MAX * 3];

	begin(f, STATUS, "mlx5_0");
	for (unsigned i = 0; i < OPTIONAL_MAX + 2; i++) {
		snprintf(name, sizeof(name), "cc_%u", i);
		add_status(f, name, 1);
	}
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add_status(f, name, 1);
	add_status(f, "bad\x01name", 1);
	add_status(f, "", 1);
	kernel_u32(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, 3);
	assert_int_equal(list(f), 0);
	assert_int_equal(f->o.n, OPTIONAL_MAX);
	assert_int_equal(f->o.dropped, 2);
	begin(f, VALUES, "mlx5_0");
	kernel_nest(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	kernel_text(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "cc_0");
	kernel_u32(&f->k, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 3);
	kernel_unnest(&f->k);
	assert_int_equal(get(f), 0);
	assert_false(f->o.counter[0].told);
}

#define OPTIONAL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONAL_TEST(test_devices_are_found_by_name),
		OPTIONAL_TEST(test_those_that_are_on_are_read),
		OPTIONAL_TEST(test_what_is_switched_off_leaves_and_the_rest_is_kept),
		OPTIONAL_TEST(test_a_port_without_any_is_not_asked_for_values),
		OPTIONAL_TEST(test_another_device_by_the_same_number_tells_nothing),
		OPTIONAL_TEST(test_kernels_and_drivers_without_them_are_told_apart_from_faults),
		OPTIONAL_TEST(test_hostile_entries_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
