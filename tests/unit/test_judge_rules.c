#include "judge_world.h"

/* One device, one rail, three peers that answer, and a port with rules. */
struct fixture {
	struct world w;
	struct snap_port_rules port;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	static const char *const peers[] = {"host2", "host3", "host4"};
	static const char *const addresses[] = {"10.99.0.2", "10.99.0.3", "10.99.0.4"};

	world_init(&f->w);
	add_rail(&f->w, "mlx5_0");
	for (unsigned i = 0; i < COUNT(peers); i++) {
		size_t k = add_session(&f->w, peers[i], "mlx5_0", addresses[i]);

		answer(&f->w, k, OP_SEND);
		answer(&f->w, k, OP_READ);
	}
	f->port.port = 1;
	f->port.expected = true;
	for (unsigned i = 0; i < RULE_COUNT; i++)
		f->port.rule[i] = (struct snap_rule){.state = RULE_OK, .text = ""};
	f->w.devices[0].counters_fresh = true;
	f->w.devices[0].port_rules = &f->port;
	f->w.devices[0].n_port_rules = 1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	world_free(&f->w);
	free(f);
	return 0;
}

static const struct rule_evidence evidence = {
	.name = "out_of_sequence", .value = 90, .threshold = 60, .window_seconds = 60};

static struct snap_rule *say(struct fixture *f, enum rule rule, enum rule_state rule_state,
			     enum cause cause)
{
	struct snap_rule *r = &f->port.rule[rule];

	*r = (struct snap_rule){
		.state = rule_state,
		.cause = cause,
		.text = "what is wrong",
		.since_wall_ns = T0 - 60 * SEC,
		.n_evidence = 1,
		.evidence = &evidence,
	};
	return r;
}

static void check(const struct fixture *f, enum verdict port, enum verdict device,
		  enum verdict host)
{
	assert_string_equal(verdict_name(f->port.verdict), verdict_name(port));
	assert_string_equal(verdict_name(f->w.s->devices[0].verdict), verdict_name(device));
	assert_string_equal(verdict_name(f->w.s->verdict), verdict_name(host));
}

static void test_a_rule_is_a_finding_with_its_evidence(void **state)
{
	struct fixture *f = *state;
	const struct snap_finding *found;

	look(&f->w);
	check(f, VERDICT_OK, VERDICT_OK, VERDICT_OK);
	say(f, RULE_LOSS, RULE_CRITICAL, CAUSE_PATH);
	look(&f->w);
	/* The way is not the host: degraded at most. */
	check(f, VERDICT_DEGRADED, VERDICT_DEGRADED, VERDICT_DEGRADED);
	assert_int_equal(f->w.s->n_findings, 1);
	found = finding(&f->w, "port:mlx5_0/1");
	assert_string_equal(found->rule, "loss");
	assert_true(found->critical);
	assert_int_equal(found->since_wall_ns, T0 - 60 * SEC);
	assert_int_equal(found->n_evidence, 1);
	assert_string_equal(found->evidence[0].name, "out_of_sequence");
	assert_int_equal(f->w.s->devices[0].cause, CAUSE_PATH);
}

static void test_a_critical_local_cause_makes_the_host_failing(void **state)
{
	struct fixture *f = *state;

	say(f, RULE_PFC_STORM, RULE_CRITICAL, CAUSE_LOCAL_HOST);
	say(f, RULE_LOSS, RULE_WARNING, CAUSE_PATH);
	look(&f->w);
	check(f, VERDICT_FAILING, VERDICT_FAILING, VERDICT_FAILING);
	assert_int_equal(f->w.s->n_findings, 2);
	assert_int_equal(f->w.s->cause, CAUSE_LOCAL_HOST);
}

static void test_two_rules_with_one_cause_are_two_findings(void **state)
{
	struct fixture *f = *state;

	say(f, RULE_LINK_ERRORS, RULE_WARNING, CAUSE_LOCAL_PORT);
	say(f, RULE_LINK_FLAP, RULE_WARNING, CAUSE_LOCAL_PORT);
	look(&f->w);
	assert_int_equal(f->w.s->n_findings, 2);
	check(f, VERDICT_DEGRADED, VERDICT_DEGRADED, VERDICT_DEGRADED);
}

static void test_a_port_that_nobody_expects_is_judged_alone(void **state)
{
	struct fixture *f = *state;

	f->port.expected = false;
	say(f, RULE_LINK_ERRORS, RULE_CRITICAL, CAUSE_LOCAL_PORT);
	look(&f->w);
	check(f, VERDICT_FAILING, VERDICT_OK, VERDICT_OK);
	assert_int_equal(f->w.s->n_findings, 1);
}

static void test_what_is_over_weighs_on_the_port_alone(void **state)
{
	struct fixture *f = *state;

	say(f, RULE_LINK_DOWN, RULE_WARNING, CAUSE_LOCAL_PORT)->past = true;
	look(&f->w);
	check(f, VERDICT_DEGRADED, VERDICT_OK, VERDICT_OK);
	assert_int_equal(f->w.s->n_findings, 1);
}

static void test_a_rail_without_link_is_one_finding_and_not_two(void **state)
{
	struct fixture *f = *state;
	struct snap_rail *r = &f->w.rails[0];

	say(f, RULE_LINK_DOWN, RULE_CRITICAL, CAUSE_LOCAL_PORT);
	r->up = false;
	r->fact.up = 0;
	snprintf(r->fact.reason, sizeof(r->fact.reason), "port is DOWN");
	look(&f->w);
	assert_non_null(finding(&f->w, "port:mlx5_0/1"));
	assert_string_equal(finding(&f->w, "port:mlx5_0/1")->rule, "link_down");
	for (size_t i = 0, n = 0; i < f->w.s->n_findings; i++) {
		n += !strcmp(f->w.s->findings[i].subject, "port:mlx5_0/1");
		assert_true(n < 2);
	}
}

static void test_a_rail_that_is_up_again_is_not_missed_until_the_next_round(void **state)
{
	struct fixture *f = *state;

	say(f, RULE_LINK_DOWN, RULE_CRITICAL, CAUSE_LOCAL_PORT);
	look(&f->w);
	check(f, VERDICT_FAILING, VERDICT_OK, VERDICT_OK);
	f->w.rails[0].fact.port = 2;
	look(&f->w);
	check(f, VERDICT_FAILING, VERDICT_FAILING, VERDICT_FAILING);
}

static void test_old_counters_say_nothing_of_a_device(void **state)
{
	struct fixture *f = *state;

	say(f, RULE_LOSS, RULE_WARNING, CAUSE_PATH);
	f->w.devices[0].counters_fresh = false;
	look(&f->w);
	assert_int_equal(f->w.s->devices[0].verdict, VERDICT_OK);
	f->w.devices[0].gone = true;
	look(&f->w);
	assert_null(finding(&f->w, "port:mlx5_0/1"));
}

static void test_a_port_without_any_rule_to_ask_is_unknown(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < RULE_COUNT; i++)
		f->port.rule[i].state = RULE_NOT_APPLICABLE;
	look(&f->w);
	check(f, VERDICT_UNKNOWN, VERDICT_OK, VERDICT_OK);
}

static void test_what_a_nic_counts_is_known_without_any_peer(void **state)
{
	struct fixture *f = *state;

	f->w.n_sessions = 0;
	look(&f->w);
	check(f, VERDICT_OK, VERDICT_OK, VERDICT_UNKNOWN);
	say(f, RULE_LINK_ERRORS, RULE_WARNING, CAUSE_LOCAL_PORT);
	look(&f->w);
	check(f, VERDICT_DEGRADED, VERDICT_DEGRADED, VERDICT_DEGRADED);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_a_rule_is_a_finding_with_its_evidence),
		T(test_a_critical_local_cause_makes_the_host_failing),
		T(test_two_rules_with_one_cause_are_two_findings),
		T(test_a_port_that_nobody_expects_is_judged_alone),
		T(test_what_is_over_weighs_on_the_port_alone),
		T(test_a_rail_without_link_is_one_finding_and_not_two),
		T(test_a_rail_that_is_up_again_is_not_missed_until_the_next_round),
		T(test_old_counters_say_nothing_of_a_device),
		T(test_a_port_without_any_rule_to_ask_is_unknown),
		T(test_what_a_nic_counts_is_known_without_any_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
