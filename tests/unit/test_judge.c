#include "judge_world.h"

static void three_hosts(struct world *w)
{
	world_init(w);
	add_rail(w, "rxe0");
	add_session(w, "host2", "rxe0", "10.99.0.2");
	add_session(w, "host3", "rxe0", "10.99.0.3");
	add_session(w, "host4", "rxe0", "10.99.0.4");
}

static void assert_host(const struct world *w, enum verdict verdict, enum cause cause,
			const char *words)
{
	assert_string_equal(verdict_name(w->s->verdict), verdict_name(verdict));
	assert_string_equal(cause_name(w->s->cause), cause_name(cause));
	assert_says(w->s->reason, words);
}

static void assert_finding(const struct world *w, const char *subject, enum cause cause,
			   bool critical, const char *words)
{
	const struct snap_finding *f = finding(w, subject);

	assert_non_null(f);
	assert_string_equal(cause_name(f->cause), cause_name(cause));
	assert_int_equal(f->critical, critical);
	assert_says(f->text, words);
}

static void test_healthy_host_is_ok_without_findings(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	look(&w);
	assert_host(&w, VERDICT_OK, CAUSE_NONE, "");
	assert_string_equal(w.s->reason, "");
	assert_int_equal(w.s->n_findings, 0);
	assert_int_equal(w.s->devices[0].verdict, VERDICT_OK);
	world_free(&w);
}

static void test_silent_peer_degrades_the_host_at_most(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.sessions[0].has_loss = true;
	w.sessions[0].loss_ratio = 0.5;
	w.sessions[0].window_seconds = 60;
	silence(&w, 0);
	look(&w);
	assert_host(&w, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "host2 is silent");
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "peer:host2", CAUSE_INCONCLUSIVE, false, "host2 is silent");
	assert_int_equal(finding(&w, "peer:host2")->n_evidence, 1);
	assert_string_equal(finding(&w, "peer:host2")->evidence[0].name, "loss_ratio");
	assert_true(finding(&w, "peer:host2")->evidence[0].value == 0.5);
	assert_int_equal(w.s->devices[0].verdict, VERDICT_OK);
	world_free(&w);
}

static void test_several_bad_sessions_of_a_peer_are_one_finding(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "rxe0");
	add_rail(&w, "rxe1");
	add_session(&w, "host2", "rxe0", "10.99.0.2");
	add_session(&w, "host2", "rxe1", "10.99.1.2");
	silence(&w, 0);
	fail_connect(&w, 1, CONNECT_REJECTED, "connection refused");
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "peer:host2", CAUSE_REMOTE_HOST, false, "is rdma-pingmeshd running");
	world_free(&w);
}

static void test_local_port_down_is_one_critical_finding_and_no_peers(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	w.rails[0].up = false;
	snprintf(w.rails[0].fact.reason, FACT_TEXT, "port 1 of rxe0 is not active");
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "port:rxe0/1", CAUSE_LOCAL_PORT, true, "is not active");
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_PORT, "port 1 of rxe0");
	assert_int_equal(w.s->devices[0].verdict, VERDICT_FAILING);
	assert_int_equal(w.s->devices[0].cause, CAUSE_LOCAL_PORT);
	world_free(&w);
}

static void test_two_rails_of_one_port_are_one_finding(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "rxe0");
	w.rails[w.n_rails] = w.rails[0];
	w.rails[w.n_rails++].name = "storage";
	w.rails[0].up = w.rails[1].up = false;
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	world_free(&w);
}

static void test_one_port_of_two_down_degrades_its_device(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "mlx5_0");
	w.rails[w.n_rails] = w.rails[0];
	w.rails[w.n_rails].name = "mlx5_0/2";
	w.rails[w.n_rails].fact.port = 2;
	w.rails[w.n_rails++].up = false;
	look(&w);
	assert_int_equal(w.s->devices[0].verdict, VERDICT_DEGRADED);
	assert_finding(&w, "port:mlx5_0/2", CAUSE_LOCAL_PORT, true, "port 2");
	world_free(&w);
}

static void test_rail_without_address_is_configuration_not_a_port(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.rails[0].up = false;
	w.rails[0].fact.address[0] = '\0';
	look(&w);
	assert_finding(&w, "rail:rxe0", CAUSE_CONFIGURATION, true, "no usable address");
	world_free(&w);
}

static void test_rail_without_address_on_a_down_port_is_the_port(void **state)
{
	struct world w;
	struct port_fact port = {.port = 1, .state_known = 1, .state = 1};

	(void)state;
	three_hosts(&w);
	w.rails[0].up = false;
	w.rails[0].fact.address[0] = '\0';
	w.devices[0].n_ports = 1;
	w.devices[0].ports = &port;
	look(&w);
	assert_finding(&w, "port:rxe0/1", CAUSE_LOCAL_PORT, true, "down");
	world_free(&w);
}

static void test_stuck_worker_is_a_finding_since_it_was_seen(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	add_rail(&w, "rxe1");
	w.devices[1].worker_state = WORKER_STUCK;
	w.devices[1].worker_since_wall_ns = T0 + 5 * SEC;
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "device:rxe1", CAUSE_MONITOR, true, "stuck since");
	assert_int_equal(finding(&w, "device:rxe1")->since_wall_ns, T0 + 5 * SEC);
	assert_int_equal(w.s->devices[1].verdict, VERDICT_UNKNOWN);
	/* The rest of the host is measured and fine. */
	assert_host(&w, VERDICT_DEGRADED, CAUSE_MONITOR, "rxe1");
	world_free(&w);
}

static void test_host_whose_only_worker_is_away_is_unknown(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.devices[0].worker_state = WORKER_BACKOFF;
	w.rails[0].present = w.rails[0].up = false;
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_MONITOR, "being restarted");
	world_free(&w);
}

static void test_starting_worker_is_no_finding(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.devices[0].worker_state = WORKER_STARTING;
	w.rails[0].present = w.rails[0].up = false;
	look(&w);
	assert_int_equal(w.s->n_findings, 0);
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_NONE, "nothing is measured yet");
	world_free(&w);
}

static void test_vanished_device_is_a_rail_that_is_gone(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.n_devices = 0;
	w.rails[0].present = w.rails[0].up = false;
	look(&w);
	assert_finding(&w, "rail:rxe0", CAUSE_LOCAL_NIC, true, "gone");
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "gone");
	assert_int_equal(w.s->sessions[0].verdict, VERDICT_UNKNOWN);
	world_free(&w);
}

static void test_removed_device_is_the_nic_and_not_the_monitor(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.devices[0].worker_state = WORKER_EXITED;
	w.devices[0].gone = true;
	w.rails[0].present = w.rails[0].up = false;
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "device:rxe0", CAUSE_LOCAL_NIC, true, "rxe0 is gone from this host");
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "gone");
	assert_int_equal(w.s->devices[0].verdict, VERDICT_FAILING);
	assert_int_equal(w.s->sessions[0].verdict, VERDICT_UNKNOWN);
	assert_int_equal(w.s->sessions[0].cause, CAUSE_LOCAL_NIC);
	world_free(&w);
}

static void test_a_stalled_rdma_cm_is_told_while_sessions_go_on(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.devices[0].cm_stalled_since_wall_ns = T0;
	for (size_t i = 0; i < w.n_sessions; i++) {
		answer(&w, i, OP_SEND);
		answer(&w, i, OP_READ);
	}
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "rdma_cm:rxe0", CAUSE_LOCAL_HOST, false, "rdma_cm stalled");
	assert_int_equal(w.s->sessions[0].verdict, VERDICT_OK);
	world_free(&w);
}

static void test_hanging_counters_are_told_and_blame_no_peer(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.devices[0].counters_stuck_since_wall_ns = T0;
	for (size_t i = 0; i < w.n_sessions; i++) {
		answer(&w, i, OP_SEND);
		answer(&w, i, OP_READ);
	}
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "counters:rxe0", CAUSE_LOCAL_NIC, false, "cannot be read");
	assert_int_equal(finding(&w, "counters:rxe0")->since_wall_ns, T0);
	assert_host(&w, VERDICT_OK, CAUSE_NONE, "");
	world_free(&w);
}

static void test_device_that_is_only_counted_is_not_said_to_lack_an_address(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.n_rails = w.n_sessions = 0;
	w.counters_only = true;
	look(&w);
	assert_int_equal(w.s->devices[0].verdict, VERDICT_UNKNOWN);
	assert_says(w.s->devices[0].reason, "only its counters are read");
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_NONE, "only counters are read");
	world_free(&w);
}

static void test_device_that_cannot_be_probed_says_why(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	add_rail(&w, "rxe1");
	w.n_rails--;
	w.in_devices[1].trouble = "permission denied on /dev/infiniband/uverbs1";
	look(&w);
	assert_finding(&w, "device:rxe1", CAUSE_LOCAL_HOST, false, "uverbs1");
	assert_int_equal(w.s->devices[1].verdict, VERDICT_UNKNOWN);
	assert_host(&w, VERDICT_DEGRADED, CAUSE_LOCAL_HOST, "permission denied");
	world_free(&w);
}

static void test_rail_down_for_the_devices_trouble_is_one_finding(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.in_devices[0].trouble = "cannot register memory: raise LimitMEMLOCK";
	w.rails[0].up = false;
	snprintf(w.rails[0].fact.reason, FACT_TEXT, "%s", w.in_devices[0].trouble);
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "device:rxe0", CAUSE_LOCAL_HOST, false, "LimitMEMLOCK");
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_LOCAL_HOST, "LimitMEMLOCK");
	assert_int_equal(w.s->sessions[0].cause, CAUSE_LOCAL_HOST);
	world_free(&w);
}

static void test_missing_rails_are_counted(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.rails_expected = 2;
	look(&w);
	assert_finding(&w, "host:rails", CAUSE_LOCAL_NIC, true, "1 of 2 expected rails");
	assert_string_equal(finding(&w, "host:rails")->rule, "rails_missing");
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "1 of 2");
	w.rails_expected = 1;
	look(&w);
	assert_null(finding(&w, "host:rails"));
	world_free(&w);
}

/* Main serves before the workers have told what they found: that is no fault yet. */
static void test_no_rail_is_missed_while_the_devices_are_being_asked(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.rails_expected = 2;
	w.rails[0].present = w.rails[0].up = false;
	w.starting = true;
	look(&w);
	assert_int_equal(w.s->n_findings, 0);
	assert_true(w.s->verdict != VERDICT_FAILING);
	w.starting = false;
	look(&w);
	assert_finding(&w, "host:rails", CAUSE_LOCAL_NIC, true, "0 of 2 expected rails");
	assert_finding(&w, "rail:rxe0", CAUSE_LOCAL_NIC, true, "rail rxe0 is gone");
	world_free(&w);
}

static void test_rail_with_all_peers_silent_is_one_local_finding(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "rail:rxe0", CAUSE_LOCAL_NIC, true, "all 3 peers are silent");
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "nothing answers on rail rxe0");
	assert_int_equal(w.s->devices[0].verdict, VERDICT_FAILING);
	world_free(&w);
}

static void test_silent_rail_is_told_apart_by_its_loopback(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	w.n_loopbacks = 1;
	w.loopbacks[0].rail = "rxe0";
	w.loopbacks[0].verdict = VERDICT_OK;
	look(&w);
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "loopback answers, so rather cable");
	w.loopbacks[0].verdict = VERDICT_FAILING;
	look(&w);
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_NIC, "loopback fails too, so rather the NIC");
	world_free(&w);
}

static void test_peer_without_address_is_configuration_and_no_evidence(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	for (size_t i = 0; i < 3; i++) {
		silence(&w, i);
		w.sessions[i].address = "";
		w.sessions[i].state = SESSION_BACKOFF;
		w.in[i].conn_reason = "host name x: Name or service not known";
	}
	look(&w);
	/* however many they are, the rail is not dead: nobody was asked */
	assert_null(finding(&w, "rail:rxe0"));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(w.s->sessions[i].verdict, VERDICT_FAILING);
		assert_int_equal(w.s->sessions[i].cause, CAUSE_CONFIGURATION);
		assert_says(w.s->sessions[i].reason, "Name or service not known");
	}
	world_free(&w);
}

static void test_configured_rail_that_was_never_seen_says_so(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.rails[0].present = w.rails[0].up = false;
	w.rails[0].fact.device[0] = '\0';
	look(&w);
	assert_finding(&w, "rail:rxe0", CAUSE_LOCAL_NIC, true,
		       "no RDMA device here has carried it");
	world_free(&w);
}

static void test_flaws_of_our_data_do_not_degrade_the_host(void **state)
{
	struct world w;
	struct counter_value values[] = {
		{.name = "link_downed", .value = 255, .port = 1, .flags = COUNTER_SATURATED},
		{.name = "symbol_error", .value = 3, .port = 1},
	};

	(void)state;
	three_hosts(&w);
	w.devices[0].counters_fresh = true;
	w.devices[0].fact.node_guid_zero = 1;
	w.devices[0].n_values = COUNT(values);
	w.devices[0].values = values;
	look(&w);
	assert_finding(&w, "counters:rxe0", CAUSE_MONITOR, false, "link_downed, port 1");
	assert_finding(&w, "device:rxe0", CAUSE_CONFIGURATION, false, "GUID");
	assert_string_equal(finding(&w, "device:rxe0")->rule, "node_guid_zero");
	assert_host(&w, VERDICT_OK, CAUSE_NONE, "");
	world_free(&w);
}

static void test_a_peer_without_the_secret_is_told(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.refusals[0] = (struct judge_refusal){"host3", "host3 connects without the shared secret"};
	w.n_refusals = 1;
	look(&w);
	assert_finding(&w, "peer:host3", CAUSE_CONFIGURATION, false, "without the shared secret");
	world_free(&w);
}

static void test_books_that_are_not_believed_are_one_finding_and_nobodys_fault(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	silence(&w, 0);
	w.in[0].doubt = w.in[2].doubt = "the counts of send went back";
	look(&w);
	assert_int_equal(w.s->n_findings, 1);
	assert_finding(&w, "worker:rxe0", CAUSE_MONITOR, false,
		       "of 2 sessions (host2 over rxe0: the counts of send went back)");
	assert_true(finding(&w, "worker:rxe0")->evidence[0].value == 2);
	assert_int_equal(w.s->sessions[0].verdict, VERDICT_UNKNOWN);
	assert_int_equal(w.s->sessions[0].cause, CAUSE_MONITOR);
	assert_int_equal(w.s->sessions[1].verdict, VERDICT_OK);
	assert_host(&w, VERDICT_DEGRADED, CAUSE_MONITOR, "cannot be true");
	world_free(&w);
}

static void test_duplicate_host_name_is_told(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.duplicates[0] = "host3";
	w.n_duplicates = 1;
	look(&w);
	assert_finding(&w, "host:host3", CAUSE_CONFIGURATION, false, "two live daemons");
	assert_host(&w, VERDICT_DEGRADED, CAUSE_CONFIGURATION, "host3");
	world_free(&w);
}

static void test_an_address_where_another_host_answers_is_told_and_no_alarm(void **state)
{
	const struct snap_finding *told;
	struct world w;

	(void)state;
	three_hosts(&w);
	w.in[0].answers_as = "host9";
	look(&w);
	told = finding(&w, snapshot_printf(w.s, "address:%s", w.s->sessions[0].address));
	assert_non_null(told);
	assert_int_equal(told->cause, CAUSE_CONFIGURATION);
	assert_says(told->text, "host9 answers there");
	assert_host(&w, VERDICT_OK, CAUSE_NONE, "");
	world_free(&w);
}

static void test_host_without_devices_or_peers_says_so(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	look(&w);
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_NONE, "no RDMA device");
	add_rail(&w, "rxe0");
	look(&w);
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_NONE, "no peer is configured");
	w.n_rails = 0;
	look(&w);
	assert_host(&w, VERDICT_UNKNOWN, CAUSE_NONE, "usable address");
	assert_says(w.s->devices[0].reason, "no rail");
	world_free(&w);
}

static void test_reason_counts_the_other_findings(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	silence(&w, 0);
	silence(&w, 1);
	look(&w);
	assert_host(&w, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "(and 1 more finding)");
	world_free(&w);
}

static void test_local_cause_speaks_for_the_host_before_a_remote_one(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	add_rail(&w, "rxe1");
	silence(&w, 0);
	w.rails[1].up = false;
	look(&w);
	assert_host(&w, VERDICT_FAILING, CAUSE_LOCAL_PORT, "rxe1");
	assert_int_equal(w.s->n_findings, 2);
	world_free(&w);
}

static void test_since_and_change_follow_the_verdict(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	look(&w);
	assert_true(w.memory[0].changed);
	assert_int_equal(w.memory[0].previous, VERDICT_UNKNOWN);
	assert_int_equal(w.s->sessions[0].verdict_since_wall_ns, T0 + SEC);
	look(&w);
	assert_false(w.memory[0].changed);
	assert_int_equal(w.s->sessions[0].verdict_since_wall_ns, T0 + SEC);
	silence(&w, 0);
	look(&w);
	assert_true(w.memory[0].changed);
	assert_int_equal(w.memory[0].previous, VERDICT_OK);
	assert_int_equal(w.s->sessions[0].verdict_since_wall_ns, T0 + 3 * SEC);
	world_free(&w);
}

static void test_unknown_at_first_is_no_change(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	w.in[0].books_verdict = VERDICT_UNKNOWN;
	look(&w);
	assert_false(w.memory[0].changed);
	assert_int_equal(w.s->sessions[0].verdict_since_wall_ns, T0 + SEC);
	world_free(&w);
}

static void test_connection_errors_out_of_range_are_harmless(void **state)
{
	struct world w;

	(void)state;
	three_hosts(&w);
	fail_connect(&w, 0, CONNECT_OTHER, "x");
	w.sessions[0].error.connect_failure = INT32_MAX;
	memset(w.sessions[0].error.text, 'x', sizeof(w.sessions[0].error.text));
	look(&w);
	assert_int_equal(w.s->sessions[0].cause, CAUSE_INCONCLUSIVE);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy_host_is_ok_without_findings),
		cmocka_unit_test(test_silent_peer_degrades_the_host_at_most),
		cmocka_unit_test(test_several_bad_sessions_of_a_peer_are_one_finding),
		cmocka_unit_test(test_local_port_down_is_one_critical_finding_and_no_peers),
		cmocka_unit_test(test_two_rails_of_one_port_are_one_finding),
		cmocka_unit_test(test_one_port_of_two_down_degrades_its_device),
		cmocka_unit_test(test_rail_without_address_is_configuration_not_a_port),
		cmocka_unit_test(test_rail_without_address_on_a_down_port_is_the_port),
		cmocka_unit_test(test_stuck_worker_is_a_finding_since_it_was_seen),
		cmocka_unit_test(test_host_whose_only_worker_is_away_is_unknown),
		cmocka_unit_test(test_starting_worker_is_no_finding),
		cmocka_unit_test(test_vanished_device_is_a_rail_that_is_gone),
		cmocka_unit_test(test_removed_device_is_the_nic_and_not_the_monitor),
		cmocka_unit_test(test_a_stalled_rdma_cm_is_told_while_sessions_go_on),
		cmocka_unit_test(test_hanging_counters_are_told_and_blame_no_peer),
		cmocka_unit_test(test_device_that_is_only_counted_is_not_said_to_lack_an_address),
		cmocka_unit_test(test_device_that_cannot_be_probed_says_why),
		cmocka_unit_test(test_rail_down_for_the_devices_trouble_is_one_finding),
		cmocka_unit_test(test_missing_rails_are_counted),
		cmocka_unit_test(test_no_rail_is_missed_while_the_devices_are_being_asked),
		cmocka_unit_test(test_rail_with_all_peers_silent_is_one_local_finding),
		cmocka_unit_test(test_silent_rail_is_told_apart_by_its_loopback),
		cmocka_unit_test(test_peer_without_address_is_configuration_and_no_evidence),
		cmocka_unit_test(test_configured_rail_that_was_never_seen_says_so),
		cmocka_unit_test(test_flaws_of_our_data_do_not_degrade_the_host),
		cmocka_unit_test(test_a_peer_without_the_secret_is_told),
		cmocka_unit_test(
			test_books_that_are_not_believed_are_one_finding_and_nobodys_fault),
		cmocka_unit_test(test_duplicate_host_name_is_told),
		cmocka_unit_test(test_an_address_where_another_host_answers_is_told_and_no_alarm),
		cmocka_unit_test(test_host_without_devices_or_peers_says_so),
		cmocka_unit_test(test_reason_counts_the_other_findings),
		cmocka_unit_test(test_local_cause_speaks_for_the_host_before_a_remote_one),
		cmocka_unit_test(test_since_and_change_follow_the_verdict),
		cmocka_unit_test(test_unknown_at_first_is_no_change),
		cmocka_unit_test(test_connection_errors_out_of_range_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
