/* Opening a device: each step fails, is told in words that help, and is tried again or given back
 * to main; and whatever was made by then is freed. */
#include "support.h"

#include <errno.h>

#include "probes/control_priv.h"
#include "probes/worker.h"
#include "world.h"

#define FOR_EVER 1000000

static bool rail_is_up(void *arg)
{
	return host_rail(arg).up;
}

static void assert_comes_up(struct host *h)
{
	assert_true(world_until(rail_is_up, h, 30 * NSEC_PER_SEC));
	assert_int_equal(host_exit_code(h), -1);
	assert_string_equal(h->told.device, "");
}

/* --- steps that are tried again --- */

static void tried_again(enum fabric_call call, int err)
{
	struct host *h = host_new("host1", "10.0.0.1");

	fabric_fail(h->dev, call, 1, FOR_EVER, err);
	host_start(h);
	world_run(20 * NSEC_PER_SEC);
	assert_int_equal(host_exit_code(h), -1);
	assert_false(host_rail(h).up);
	assert_true(fabric_calls(h->dev, call) < 100); /* and not in a busy loop */
	fabric_fail(h->dev, call, 1, 0, 0);
	assert_comes_up(h);
	assert_true(host_stop(h));
}

#define RETRIED(name, call, err)                                                                   \
	static void test_##name##_is_tried_again(void **state)                                     \
	{                                                                                          \
		(void)state;                                                                       \
		tried_again(call, err);                                                            \
	}

RETRIED(listing_devices, CALL_GET_DEVICE_LIST, ENOSYS)
RETRIED(opening_the_device, CALL_OPEN_DEVICE, EACCES)
RETRIED(asking_the_device, CALL_QUERY_DEVICE, EINVAL)
RETRIED(asking_the_port, CALL_QUERY_PORT, EINVAL)
RETRIED(asking_the_gid_table, CALL_QUERY_GID_TABLE, EINVAL)
RETRIED(making_the_event_channel, CALL_CREATE_EVENT_CHANNEL, ENODEV)
RETRIED(making_the_listener, CALL_CREATE_ID, ENOMEM)
RETRIED(binding, CALL_BIND_ADDR, EADDRNOTAVAIL)
RETRIED(listening, CALL_LISTEN, EADDRNOTAVAIL)

static void test_opening_fails_half_way_then_succeeds(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");

	(void)state;
	fabric_fail(h->dev, CALL_QUERY_DEVICE, 1, 1, EINVAL);
	host_start(h);
	assert_comes_up(h);
	/* What the device can do was asked again: its SRQ was found. */
	assert_int_equal(fabric_objects(OBJECT_SRQ), 1);
	assert_int_equal(fabric_objects(OBJECT_CONTEXT), 1);
}

/* --- steps after which main starts another worker --- */

static void given_back(enum fabric_call call, int err)
{
	struct host *h = host_new("host1", "10.0.0.1");

	fabric_add_address(h->dev, "10.0.1.1", IBV_GID_TYPE_ROCE_V2);
	fabric_add_address(h->dev, "2001:db8::1", IBV_GID_TYPE_ROCE_V2);
	fabric_fail(h->dev, call, 1, FOR_EVER, err);
	host_start(h);
	world_run(NSEC_PER_SEC);
	assert_int_equal(host_exit_code(h), WORKER_EXIT_RETRY);
	assert_true(strlen(h->told.device) > 10);
	assert_false(host_rail(h).up);
}

#define GIVEN_BACK(name, call, err)                                                                \
	static void test_##name##_gives_the_device_back(void **state)                              \
	{                                                                                          \
		(void)state;                                                                       \
		given_back(call, err);                                                             \
	}

GIVEN_BACK(no_protection_domain, CALL_ALLOC_PD, ENOMEM)
GIVEN_BACK(no_completion_channel, CALL_CREATE_COMP_CHANNEL, EMFILE)
GIVEN_BACK(no_completion_queue, CALL_CREATE_CQ, ENOMEM)
GIVEN_BACK(no_shared_receive_queue, CALL_CREATE_SRQ, EINVAL)
GIVEN_BACK(no_memory_for_the_pattern, CALL_REG_MR, ENOMEM)

/* Where large regions may not be locked, small ones may. */
static void test_little_memory_for_regions_makes_them_small(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");

	(void)state;
	fabric_fail(h->dev, CALL_REG_MR, 2, 1, ENOMEM);
	host_start(h);
	assert_comes_up(h);
}

/* --- words --- */

static const char *words_of(struct fake_knobs knobs, enum fabric_call call, int err)
{
	struct host *h = host_new("host1", "10.0.0.1");

	fabric_set_knobs(h->dev, &knobs);
	if (call != CALL_COUNT)
		fabric_fail(h->dev, call, 1, FOR_EVER, err);
	host_start(h);
	world_run(10 * NSEC_PER_SEC);
	return h->told.device;
}

static void test_a_device_that_may_not_be_opened_names_the_permission(void **state)
{
	const char *words = words_of((struct fake_knobs){0}, CALL_OPEN_DEVICE, EACCES);

	(void)state;
	assert_non_null(strstr(words, "fake0 (/dev/infiniband/uverbs-fake0) cannot be opened"));
	assert_non_null(strstr(words, "DeviceAllow="));
}

static void test_memory_that_cannot_be_locked_names_the_limit(void **state)
{
	const char *words = words_of((struct fake_knobs){0}, CALL_REG_MR, ENOMEM);

	(void)state;
	assert_non_null(strstr(words, "Cannot allocate memory"));
}

static void test_a_missing_rdma_cm_names_the_module(void **state)
{
	const char *words = words_of((struct fake_knobs){0}, CALL_CREATE_EVENT_CHANNEL, ENODEV);

	(void)state;
	assert_non_null(strstr(words, "rdma_ucm"));
}

static void test_a_port_that_is_taken_names_address_and_port(void **state)
{
	const char *words = words_of((struct fake_knobs){0}, CALL_BIND_ADDR, EADDRNOTAVAIL);

	(void)state;
	assert_non_null(strstr(words, "10.0.0.1 port 10480"));
}

static void test_a_device_with_too_short_a_completion_queue_says_so(void **state)
{
	const char *words = words_of((struct fake_knobs){.max_cqe = 24}, CALL_COUNT, 0);

	(void)state;
	assert_non_null(strstr(words, "too short a completion queue"));
	assert_int_equal(host_exit_code(&world.host[0]), WORKER_EXIT_RETRY);
}

static void test_a_device_that_is_not_there_says_so(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");

	(void)state;
	snprintf(h->cfg.device, sizeof(h->cfg.device), "mlx5_7");
	host_start(h);
	world_run(NSEC_PER_SEC);
	assert_non_null(strstr(h->told.device, "mlx5_7"));
	assert_int_equal(host_exit_code(h), -1);
}

/* --- addresses that come --- */

static void test_a_device_without_address_waits_for_one(void **state)
{
	struct host *h = host_new("host1", NULL);

	(void)state;
	host_start(h);
	world_run(10 * NSEC_PER_SEC);
	assert_int_equal(h->told.facts[FACT_RAIL], 0);
	assert_int_equal(host_exit_code(h), -1);
	fabric_add_address(h->dev, "10.0.0.1", IBV_GID_TYPE_ROCE_V2);
	assert_comes_up(h);
	assert_string_equal(host_rail(h).address, "10.0.0.1");
}

/* One address of two is held by a leftover: the other works meanwhile. */
static void test_one_address_that_cannot_be_bound_does_not_hold_up_the_other(void **state)
{
	struct host *a = host_new("host1", "10.0.0.1");

	(void)state;
	fabric_add_address(a->dev, "10.0.0.11", IBV_GID_TYPE_ROCE_V2);
	fabric_fail(a->dev, CALL_BIND_ADDR, 2, 5, EADDRNOTAVAIL);
	host_start(a);
	world_run(100 * NSEC_PER_MSEC);
	assert_true(host_rail(a).up);
	world_run(40 * NSEC_PER_SEC);
	/* The complaint has ended with its cause. */
	assert_string_equal(a->told.device, "");
	host_up("host2", "10.0.0.2");
	world_run(10 * NSEC_PER_MSEC);
	host_session(&world.host[1], 0, "host1", "10.0.0.11");
	assert_up(&world.host[1], 0);
}

static void test_an_address_is_listened_on_as_soon_as_it_is_there(void **state)
{
	struct host *a = host_up("host1", "10.0.0.1"), *b = host_up("host2", "10.0.0.2");

	(void)state;
	world_run(10 * NSEC_PER_MSEC);
	fabric_add_address(b->dev, "10.0.0.3", IBV_GID_TYPE_ROCE_V2);
	world_run(200 * NSEC_PER_MSEC);
	host_session(a, 0, "host3", "10.0.0.3");
	assert_true(world_until_state(a, 0, SESSION_UP, 50 * NSEC_PER_MSEC));
	fabric_remove_address(b->dev, "10.0.0.3");
	world_run(200 * NSEC_PER_MSEC);
	assert_int_equal(b->control->rails[0].n_listeners, 1);
}

/* --- settings of the counter thread --- */

static void test_a_reload_reaches_the_counter_thread(void **state)
{
	struct host *h = host_new("host1", "10.0.0.1");
	struct wish w = {.type = WISH_CONFIG};

	(void)state;
	host_start(h);
	assert_comes_up(h);
	w.config = h->cfg;
	w.config.counters_interval_ns = 3 * NSEC_PER_SEC;
	w.config.netdev_stats = 17;
	host_wish(h, &w);
	world_run(NSEC_PER_SEC);
	assert_int_equal(h->counters_cfg.counters_interval_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(h->counters_cfg.netdev_stats, 17);
	assert_true(host_stop(h));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_reload_reaches_the_counter_thread),
		TEST(test_listing_devices_is_tried_again),
		TEST(test_opening_the_device_is_tried_again),
		TEST(test_asking_the_device_is_tried_again),
		TEST(test_asking_the_port_is_tried_again),
		TEST(test_asking_the_gid_table_is_tried_again),
		TEST(test_making_the_event_channel_is_tried_again),
		TEST(test_making_the_listener_is_tried_again),
		TEST(test_binding_is_tried_again),
		TEST(test_listening_is_tried_again),
		TEST(test_opening_fails_half_way_then_succeeds),
		TEST(test_no_protection_domain_gives_the_device_back),
		TEST(test_no_completion_channel_gives_the_device_back),
		TEST(test_no_completion_queue_gives_the_device_back),
		TEST(test_no_shared_receive_queue_gives_the_device_back),
		TEST(test_no_memory_for_the_pattern_gives_the_device_back),
		TEST(test_little_memory_for_regions_makes_them_small),
		TEST(test_a_device_that_may_not_be_opened_names_the_permission),
		TEST(test_memory_that_cannot_be_locked_names_the_limit),
		TEST(test_a_missing_rdma_cm_names_the_module),
		TEST(test_a_port_that_is_taken_names_address_and_port),
		TEST(test_a_device_with_too_short_a_completion_queue_says_so),
		TEST(test_a_device_that_is_not_there_says_so),
		TEST(test_a_device_without_address_waits_for_one),
		TEST(test_one_address_that_cannot_be_bound_does_not_hold_up_the_other),
		TEST(test_an_address_is_listened_on_as_soon_as_it_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
