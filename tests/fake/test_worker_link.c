/* A local link that goes down: what must not be sent meanwhile. */
#include "support.h"

#include "probes/control_priv.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_no_cm_message_while_a_link_goes_down_in_steps, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_local_error_without_a_link_down_tells_the_peer, world_setup,
			world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
