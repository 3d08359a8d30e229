/* A local link that goes down: what must not be sent meanwhile. */
#include "support.h"

#include "probes/control_priv.h"
#include "probes/ledger.h"
#include "world.h"

/* The responder's answer cannot leave, and its port still calls itself active: a link that goes
 * down loses its routes first. A CM message now would end QP 1 of rxe for good. */
static void test_no_cm_message_while_a_link_goes_down_in_steps(void **state)
{
	struct pair p = world_pair();
	unsigned before = fabric_calls(p.b->dev, CALL_DISCONNECT);

	(void)state;
	fabric_fail(p.b->dev, CALL_POST_SEND, 1, 1, ENETUNREACH);
	world_run(WORLD_INTERVAL_NS + 20 * NSEC_PER_MSEC);
	assert_int_equal(fabric_calls(p.b->dev, CALL_DISCONNECT), before);
	fabric_set_port(p.b->dev, false);
	world_run(2 * NSEC_PER_SEC);
	assert_int_equal(fabric_qps(p.b->dev), 0);
	assert_int_equal(fabric_calls(p.b->dev, CALL_DISCONNECT), before);
	fabric_set_port(p.b->dev, true);
	assert_true(world_until_state(p.a, 0, SESSION_UP, 20 * NSEC_PER_SEC));
}

/* With the link well, the peer hears of the end of its connection all the same, a little later. */
static void test_a_local_error_without_a_link_down_tells_the_peer(void **state)
{
	struct pair p = world_pair();

	(void)state;
	fabric_fail(p.b->dev, CALL_POST_SEND, 1, 1, EINVAL);
	world_run(WORLD_INTERVAL_NS + PORT_SETTLE_NS + 150 * NSEC_PER_MSEC);
	assert_true(host_entered(p.a, 0, SESSION_DRAINING) > 0);
	assert_true(world_until_state(p.a, 0, SESSION_UP, 5 * NSEC_PER_SEC));
}

/* The same on the side that probes: whose fault it was shows only when the port says so. */
static void test_what_broke_just_before_the_port_said_so_is_the_ports(void **state)
{
	static const struct op_config slow[OP_COUNT] = {{NSEC_PER_SEC, 900 * NSEC_PER_MSEC, 64, 0},
							{0}};
	struct pair p = world_pair_with(slow);
	struct op_books send;

	(void)state;
	fabric_set_path(p.a->dev, p.b->dev, &(struct fabric_path){50 * NSEC_PER_MSEC, false});
	while (!host_books(p.a, 0, OP_SEND).in_flight)
		world_run(10 * NSEC_PER_MSEC);
	fabric_break_qp(p.a->dev, host_conn(p.a, 0).qpn);
	world_run(PORT_SETTLE_NS / 2);
	fabric_set_port(p.a->dev, false);
	world_run(NSEC_PER_SEC);
	send = host_books(p.a, 0, OP_SEND);
	assert_int_equal(send.aborted[ABORT_LOCAL_PORT_DOWN], 1);
	assert_int_equal(send.aborted[ABORT_FLUSHED], 0);
	assert_int_equal(op_books_failed(&send), 0);
	assert_int_equal(send.in_flight, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_cm_message_while_a_link_goes_down_in_steps,
						world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_local_error_without_a_link_down_tells_the_peer, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(
			test_what_broke_just_before_the_port_said_so_is_the_ports, world_setup,
			world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
