/* Three hosts in full mesh, and everything that can go wrong does, in an order that a number
 * decides. However it went: once the fabric is well again every session is up, nothing is lost, and
 * the books, looked at after every step by world.c, never lied. */
#include "support.h"

#include <errno.h>

#include "chance.h"
#include "probes/control_priv.h"
#include "probes/worker.h"
#include "world.h"

#define HOSTS 3
#define ROUNDS 150
#ifdef __SANITIZE_THREAD__
#define SEEDS 2 /* each takes fifteen times as long */
#else
#define SEEDS 8
#endif

static struct chance chance;

static const char *const names[HOSTS] = {"host1", "host2", "host3"};
static const char *const addresses[HOSTS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

static struct host *any_host(void)
{
	return &world.host[chance_below(&chance, HOSTS)];
}

static unsigned index_of(const struct host *h)
{
	return (unsigned)(h - world.host);
}

/* --- what main would do --- */

static void keep_running(struct host *h)
{
	if (h->running && host_exit_code(h) >= 0)
		host_crash(h);
	if (h->running)
		return;
	h->cfg.instance++;
	h->cfg.generation++;
	host_start(h);
}

static void keep_sessions(struct host *h)
{
	for (uint32_t row = 0; row < HOSTS; row++)
		if (row != index_of(h) && !h->frozen_control && !host_conn(h, row).session_id)
			host_session(h, row, names[row], addresses[row]);
}

static void be_main(void)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		keep_running(&world.host[i]);
		keep_sessions(&world.host[i]);
	}
}

/* --- what goes wrong --- */

static void bad_path(void)
{
	struct fabric_path path = {FABRIC_DELAY_NS, false};

	switch (chance_below(&chance, 3)) {
	case 0:
		path.drop = true;
		break;
	case 1:
		path.delay_ns = chance_below(&chance, 300) * NSEC_PER_MSEC;
		break;
	default:
		break;
	}
	fabric_set_path(any_host()->dev, any_host()->dev, &path);
}

static void bad_call(void)
{
	static const int errors[] = {ENOMEM, EINVAL, EIO, EAGAIN, EADDRNOTAVAIL, ENODEV};

	fabric_fail(any_host()->dev, (enum fabric_call)chance_below(&chance, CALL_COUNT),
		    1 + chance_below(&chance, 10), 1 + chance_below(&chance, 5),
		    errors[chance_below(&chance, COUNT(errors))]);
}

static void bad_answer(void)
{
	static const enum rdma_cm_event_type answers[] = {
		RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_CONNECT_ERROR,
		RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED};
	static const int rejects[] = {8, 10, 28};

	fabric_answer(any_host()->dev, answers[chance_below(&chance, COUNT(answers))],
		      rejects[chance_below(&chance, COUNT(rejects))], 1 + chance_below(&chance, 3),
		      NULL, 0);
}

static void bad_event(void)
{
	static const enum rdma_cm_event_type events[] = {
		RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_ADDR_CHANGE,
		RDMA_CM_EVENT_TIMEWAIT_EXIT};
	static const enum ibv_event_type async[] = {
		IBV_EVENT_GID_CHANGE, IBV_EVENT_LID_CHANGE, IBV_EVENT_SM_CHANGE,
		IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_DEVICE_FATAL};

	if (chance_below(&chance, 2))
		fabric_cm_event(any_host()->dev, events[chance_below(&chance, COUNT(events))], 0);
	else
		fabric_async_event(any_host()->dev, async[chance_below(&chance, COUNT(async))], 0);
}

static void bad_device(void)
{
	struct fake_knobs k = {
		.last_wqe = (enum last_wqe)chance_below(&chance, 4),
		.last_wqe_late_ns = chance_below(&chance, 300) * NSEC_PER_MSEC,
		.lose_marker = !chance_below(&chance, 4),
		.corrupt_reads = !chance_below(&chance, 4),
		.refuse_reads = !chance_below(&chance, 4),
		.double_completions = !chance_below(&chance, 4),
		.lose_rtu = !chance_below(&chance, 4),
		.deaf_cm = !chance_below(&chance, 4),
		.hardware = chance_below(&chance, 2),
	};

	fabric_set_knobs(any_host()->dev, &k);
}

static void bad_host(void)
{
	struct host *h = any_host();

	switch (chance_below(&chance, 6)) {
	case 0:
		host_freeze(h, true);
		break;
	case 1:
		h->frozen_control = true;
		break;
	case 2:
		h->frozen_rail = true;
		break;
	case 3:
		host_crash(h);
		break;
	case 4:
		host_kill(h);
		break;
	default:
		if (!h->frozen_control)
			host_wish(h, &(struct wish){.type = WISH_STOP});
		break;
	}
}

static void bad_qp(void)
{
	struct host *h = any_host();
	uint32_t qpn = host_conn(h, chance_below(&chance, HOSTS)).qpn;

	if (qpn && fabric_has_qp(h->dev, qpn))
		fabric_break_qp(h->dev, qpn);
}

static void remove_one(void)
{
	struct host *h = any_host();
	uint32_t row = chance_below(&chance, HOSTS);

	if (!h->frozen_control && host_conn(h, row).session_id)
		host_remove_session(h, row, ABORT_RELOAD);
}

static void bad_link(void)
{
	struct host *h = any_host();

	switch (chance_below(&chance, 4)) {
	case 0:
		fabric_set_port(h->dev, chance_below(&chance, 2));
		break;
	case 1:
		fabric_set_dark(h->dev, chance_below(&chance, 2));
		break;
	case 2:
		fabric_remove_address(h->dev, h->address);
		break;
	default:
		fabric_remove_address(h->dev, h->address);
		fabric_add_address(h->dev, h->address, IBV_GID_TYPE_ROCE_V2);
		break;
	}
}

static void something_goes_wrong(void)
{
	static void (*const kinds[])(void) = {bad_path, bad_call, bad_answer, bad_event, bad_device,
					      bad_host, bad_qp,	  remove_one, bad_link};

	kinds[chance_below(&chance, COUNT(kinds))]();
}

static void heal_host(struct host *h)
{
	host_freeze(h, false);
	fabric_set_dark(h->dev, false);
	fabric_set_port(h->dev, true);
	fabric_set_knobs(h->dev, &(struct fake_knobs){0});
	fabric_answer(h->dev, RDMA_CM_EVENT_REJECTED, 0, 0, NULL, 0);
	fabric_remove_address(h->dev, h->address);
	fabric_add_address(h->dev, h->address, IBV_GID_TYPE_ROCE_V2);
	for (unsigned call = 0; call < CALL_COUNT; call++)
		fabric_fail(h->dev, (enum fabric_call)call, 1, 0, 0);
	for (unsigned i = 0; i < HOSTS; i++)
		fabric_set_path(h->dev, world.host[i].dev,
				&(struct fabric_path){FABRIC_DELAY_NS, false});
}

static void maybe_heal_one(void)
{
	if (chance_below(&chance, 3))
		return;
	heal_host(any_host());
}

static void assert_all_well(uint64_t seed)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		struct host *h = &world.host[i];

		for (uint32_t row = 0; row < HOSTS; row++) {
			if (row == i)
				continue;
			if (host_conn(h, row).state != SESSION_UP) {
				world_dump(h);
				fail_msg("seed %u: %s row %u is not up", (unsigned)seed, names[i],
					 row);
			}
			assert_true(host_books(h, row, OP_SEND).ok_streak > 3);
			assert_true(host_books(h, row, OP_READ).ok_streak > 3);
		}
		/* Two sessions of its own, two that it answers on. */
		assert_int_equal(fabric_qps(h->dev), 4);
		assert_receives_kept(h);
	}
	assert_int_equal(fabric_objects(OBJECT_CM_EVENT), 0);
	assert_int_equal(fabric_objects(OBJECT_ID), HOSTS * 5); /* and a listener */
}

static void live_through(uint64_t seed)
{
	chance = (struct chance){seed};
	for (unsigned i = 0; i < HOSTS; i++)
		host_new(names[i], addresses[i]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		be_main();
		world_run((1 + chance_below(&chance, 400)) * NSEC_PER_MSEC);
		something_goes_wrong();
		maybe_heal_one();
	}
	for (unsigned i = 0; i < HOSTS; i++)
		heal_host(&world.host[i]);
	for (unsigned i = 0; i < 60; i++) {
		be_main();
		world_run(NSEC_PER_SEC);
	}
	assert_all_well(seed);
	for (unsigned i = 0; i < HOSTS; i++)
		assert_true(host_stop(&world.host[i]));
}

static void test_whatever_goes_wrong_all_is_well_in_the_end(void **state)
{
	const char *one = getenv("CHAOS_SEED"); /* to look at one again */
	uint64_t first = one ? strtoull(one, NULL, 10) : 1;

	for (uint64_t seed = first; seed < first + (one ? 1 : SEEDS); seed++) {
		world_setup(state);
		live_through(seed);
		world_teardown(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_goes_wrong_all_is_well_in_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
