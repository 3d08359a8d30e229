/* Two workers measure each other. */
#include "support.h"

#include "world.h"

static void test_two_workers_connect_and_probe_with_success(void **state)
{
	struct pair p = world_pair();
	struct op_books send, read;

	(void)state;
	world_run(5 * NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	read = host_books(p.a, 0, OP_READ);
	assert_in_range(send.ok, 24, 26);
	assert_in_range(read.ok, 24, 26);
	assert_int_equal(send.ok, send.sent);
	assert_int_equal(read.ok, read.sent);
	assert_int_equal(send.misses + read.misses, 0);
	assert_int_equal(send.self_delayed + read.self_delayed, 0);
	/* There and back for a READ; for a SEND the echo is a second such way. */
	assert_int_equal(read.rtt_sum_ns / read.rtt_count, 2 * FABRIC_DELAY_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_workers_connect_and_probe_with_success,
						world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
