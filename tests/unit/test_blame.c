#include "judge_world.h"

#include "health/evidence.h"
#include "probes/wire.h"

/* n peers host2, host3 ... on rail rxe0. */
static void one_rail(struct world *w, unsigned n)
{
	static const char *const names[] = {"host2", "host3", "host4", "host5", "host6"};
	static const char *const addresses[] = {"10.99.0.2", "10.99.0.3", "10.99.0.4", "10.99.0.5",
						"10.99.0.6"};

	world_init(w);
	add_rail(w, "rxe0");
	for (unsigned i = 0; i < n; i++)
		add_session(w, names[i], "rxe0", addresses[i]);
}

/* n peers, each with a session on rxe0 and one on rxe1. */
static void two_rails(struct world *w, unsigned n)
{
	static const char *const names[] = {"host2", "host3", "host4", "host5"};
	static const char *const addresses[][2] = {{"10.99.0.2", "10.99.1.2"},
						   {"10.99.0.3", "10.99.1.3"},
						   {"10.99.0.4", "10.99.1.4"},
						   {"10.99.0.5", "10.99.1.5"}};

	world_init(w);
	add_rail(w, "rxe0");
	add_rail(w, "rxe1");
	for (unsigned i = 0; i < n; i++) {
		add_session(w, names[i], "rxe0", addresses[i][0]);
		add_session(w, names[i], "rxe1", addresses[i][1]);
	}
}

static void assert_session(const struct world *w, size_t i, enum verdict verdict, enum cause cause,
			   const char *words)
{
	const struct snap_session *s = &w->s->sessions[i];

	assert_string_equal(verdict_name(s->verdict), verdict_name(verdict));
	assert_string_equal(cause_name(s->cause), cause_name(cause));
	assert_says(s->reason, words);
}

static void test_healthy_session_has_no_cause_and_no_words(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	look(&w);
	assert_session(&w, 0, VERDICT_OK, CAUSE_NONE, "");
	assert_string_equal(w.s->sessions[0].reason, "");
	world_free(&w);
}

static void test_unmeasured_session_says_what_it_waits_for(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	w.in[0].books_verdict = VERDICT_UNKNOWN;
	w.sessions[0].state = SESSION_CONNECTING;
	w.in[0].conn_reason = "no route";
	look(&w);
	assert_session(&w, 0, VERDICT_UNKNOWN, CAUSE_NONE, "not connected yet: no route");
	world_free(&w);
}

static void test_frozen_host_with_live_nic_is_the_remote_host(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	look(&w);
	miss(&w, 0, OP_SEND);
	miss(&w, 0, OP_SEND);
	look(&w);
	pass(&w, SEC / 2);
	answer(&w, 0, OP_READ);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "its NIC still does READs");
	assert_says(w.s->sessions[0].reason, "host2");
	assert_says(w.s->sessions[0].reason, "since 20");
	assert_session(&w, 1, VERDICT_OK, CAUSE_NONE, "");
	world_free(&w);
}

static void test_every_operation_that_its_nic_still_does_is_named(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	w.sessions[0].op[OP_WRITE].interval_ns = w.sessions[0].op[OP_ATOMIC].interval_ns = SEC;
	look(&w);
	miss(&w, 0, OP_SEND);
	miss(&w, 0, OP_SEND);
	look(&w);
	pass(&w, SEC / 2);
	answer(&w, 0, OP_READ);
	answer(&w, 0, OP_WRITE);
	answer(&w, 0, OP_ATOMIC);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST,
		       "its NIC still does READs, WRITEs and ATOMICs:");
	world_free(&w);
}

/* A NIC that echoes and is read from, but into which nothing gets: no matter of the path. */
static void test_writes_that_fail_alone_are_the_remote_nic(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	w.sessions[0].op[OP_WRITE].interval_ns = w.sessions[0].op[OP_ATOMIC].interval_ns = SEC;
	look(&w);
	miss(&w, 0, OP_WRITE);
	miss(&w, 0, OP_WRITE);
	miss(&w, 0, OP_ATOMIC);
	miss(&w, 0, OP_ATOMIC);
	look(&w);
	pass(&w, SEC / 2);
	answer(&w, 0, OP_SEND);
	answer(&w, 0, OP_READ);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_NIC,
		       "WRITE and ATOMIC to host2 on rail");
	world_free(&w);
}

static void test_read_well_after_the_last_echo_is_proof_at_the_first_look(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	answer(&w, 0, OP_SEND);
	look(&w);
	pass(&w, 2 * SEC); /* interval 1 s, and half a second for the answer */
	answer(&w, 0, OP_READ);
	miss(&w, 0, OP_SEND);
	miss(&w, 0, OP_SEND);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "its NIC still does READs");
	world_free(&w);
}

static void test_read_within_the_interval_of_the_last_echo_proves_nothing(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	answer(&w, 0, OP_SEND);
	pass(&w, SEC); /* both may have been cut off right after this READ */
	answer(&w, 0, OP_READ);
	miss(&w, 0, OP_SEND);
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "host2");
	world_free(&w);
}

static void test_read_from_before_the_trouble_proves_nothing(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	answer(&w, 0, OP_READ);
	look(&w);
	miss(&w, 0, OP_SEND);
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "host2");
	world_free(&w);
}

static void test_acknowledged_sends_without_echo_are_the_remote_host(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	w.sessions[0].op[OP_READ].interval_ns = 0;
	w.sessions[0].ack_count = 10;
	miss(&w, 0, OP_SEND);
	look(&w);
	miss(&w, 0, OP_SEND);
	w.sessions[0].ack_count = 12;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST,
		       "its NIC still acknowledges SENDs");
	world_free(&w);
}

static void test_failing_reads_with_good_echoes_are_the_remote_nic(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	miss(&w, 0, OP_READ);
	miss(&w, 0, OP_READ);
	look(&w);
	pass(&w, SEC / 2);
	answer(&w, 0, OP_SEND);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_NIC, "READ to host2");
	world_free(&w);
}

static void test_refused_connection_asks_for_the_daemon(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST,
		       "is rdma-pingmeshd running there?");
	world_free(&w);
}

static void test_unlisted_address_is_configuration(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, wire_reject_text(WIRE_REJECT_NOT_LISTED));
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_CONFIGURATION, "same list");
	world_free(&w);
}

static void test_secrets_that_differ_are_configuration(void **state)
{
	static const char *const said[] = {SAID_SECRET_WANTED, SAID_NO_SECRET, SAID_SECRET_DIFFERS,
					   SAID_UNPROVEN};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(said); i++) {
		one_rail(&w, 2);
		fail_connect(&w, 0, CONNECT_REJECTED, said[i]);
		look(&w);
		assert_session(&w, 0, VERDICT_FAILING, CAUSE_CONFIGURATION, "share a secret");
		world_free(&w);
	}
}

static void test_peer_that_stops_on_purpose_is_said_to(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, wire_reject_text(WIRE_REJECT_LEAVING));
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "stopped on");
	world_free(&w);
}

static void test_goodbye_is_no_silence(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	fail_connect(&w, 0, CONNECT_OTHER, SAID_GOODBYE);
	w.sessions[0].error.connect_failure = -1;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "said goodbye");
	world_free(&w);
}

static void test_a_peer_that_accepts_and_closes_is_no_silence(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	fail_connect(&w, 0, CONNECT_OTHER, SAID_CLOSED);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "closes them at once");
	world_free(&w);
}

/* All of them, and still no dead rail: nobody was asked. */
static void test_a_stalled_rdma_cm_is_this_host_and_no_silence(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 4);
	for (size_t i = 0; i < 4; i++)
		fail_connect(&w, i, CONNECT_RESOLVE, SAID_STALLED);
	look(&w);
	for (size_t i = 0; i < 4; i++)
		assert_session(&w, i, VERDICT_FAILING, CAUSE_LOCAL_HOST, "rdma_cm of this host");
	world_free(&w);
}

static void test_peer_without_resources_is_the_remote_host(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	fail_connect(&w, 0, CONNECT_NO_RESOURCES, wire_reject_text(WIRE_REJECT_NO_RESOURCES));
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "no queue pair");
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "limits.qps_per_device");
	world_free(&w);
}

static void test_old_refusal_is_history(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	pass(&w, 2 * ERROR_FRESH_NS);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "is silent");
	world_free(&w);
}

static void test_wrong_version_hello_or_route_is_configuration(void **state)
{
	static const enum connect_failure failures[] = {CONNECT_VERSION, CONNECT_HELLO,
							CONNECT_WRONG_DEVICE};

	(void)state;
	for (size_t i = 0; i < COUNT(failures); i++) {
		struct world w;

		one_rail(&w, 2);
		fail_connect(&w, 0, failures[i], "");
		look(&w);
		assert_session(&w, 0, VERDICT_FAILING, CAUSE_CONFIGURATION, "host2");
		world_free(&w);
	}
}

static void test_own_lack_of_resources_is_the_local_host(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_NO_RESOURCES, "cannot allocate memory");
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_LOCAL_HOST, "LimitMEMLOCK");
	world_free(&w);
}

static void test_error_of_a_session_that_is_up_again_is_not_held_against_it(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	w.sessions[0].state = SESSION_UP;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "host2 is silent");
	world_free(&w);
}

/* After a reconnect one operation answers first: that the other misses is of the time before. */
static void test_reconnect_blames_no_operation_before_its_turn(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "refuses connections");
	w.sessions[0].state = SESSION_UP;
	w.sessions[0].up_since_ns = w.now + SEC / 2;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "before: host2 refuses");
	answer(&w, 0, OP_SEND);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "before: host2 refuses");
	assert_int_equal(w.s->n_findings, 1);
	/* By now it had: */
	for (unsigned i = 0; i < 3; i++) {
		answer(&w, 0, OP_SEND);
		look(&w);
	}
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_NIC, "while SENDs are echoed");
	world_free(&w);
}

static void test_late_echo_before_the_silence_does_not_make_the_host_look_frozen(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	answer(&w, 0, OP_SEND);
	look(&w);
	miss(&w, 0, OP_SEND); /* by its deadline */
	look(&w);
	w.sessions[0].ack_count++; /* acknowledged and echoed after all */
	w.sessions[0].op[OP_SEND].last_success_ns = w.now;
	look(&w);
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "host2 is silent");
	world_free(&w);
}

static void test_one_miss_is_not_called_silence(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	look(&w);
	miss(&w, 0, OP_SEND);
	miss(&w, 0, OP_READ);
	w.in[0].books_verdict = VERDICT_DEGRADED;
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "host2 missed a probe");
	world_free(&w);
}

static void test_error_of_an_earlier_connection_is_not_told_of_one_that_is_up(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	look(&w);
	w.sessions[0].state = SESSION_UP;
	w.sessions[0].error.wall_ns = w.wall;
	w.sessions[0].error.mono_ns = w.now;
	strcpy(w.sessions[0].error.text, "retry exceeded");
	miss(&w, 0, OP_SEND);
	miss(&w, 0, OP_READ);
	w.in[0].books_verdict = VERDICT_FAILING;
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "host2 is silent");
	assert_null(strstr(w.s->sessions[0].reason, "retry exceeded"));
	world_free(&w);
}

static void test_one_silent_peer_of_many_excludes_this_host_only(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 3);
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE,
		       "2 other peers on rail rxe0 are fine, so not this host");
	world_free(&w);
}

static void test_sole_silent_peer_excludes_nothing(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 1);
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "no other peer");
	world_free(&w);
}

static void test_all_of_three_silent_is_the_local_nic(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 3);
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	look(&w);
	for (size_t i = 0; i < 3; i++)
		assert_session(&w, i, VERDICT_FAILING, CAUSE_LOCAL_NIC, "all 3 peers are silent");
	world_free(&w);
}

static void test_both_of_two_silent_is_not_enough_for_the_local_nic(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	silence(&w, 0);
	silence(&w, 1);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "no other peer");
	world_free(&w);
}

static void test_peer_that_refuses_is_no_silent_peer(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 3);
	silence(&w, 0);
	silence(&w, 1);
	fail_connect(&w, 2, CONNECT_REJECTED, "connection refused");
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "so not this host");
	world_free(&w);
}

static void test_one_dead_rail_of_a_peer_is_its_nic(void **state)
{
	struct world w;

	(void)state;
	two_rails(&w, 3);
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_NIC, "host2 answers over rail rxe1");
	assert_says(w.s->sessions[0].reason, "2 other peers on rail rxe0 are fine");
	world_free(&w);
}

static void test_one_dead_rail_with_nobody_to_compare_is_inconclusive(void **state)
{
	struct world w;

	(void)state;
	two_rails(&w, 1);
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "so the host is alive");
	world_free(&w);
}

static void test_peer_silent_on_all_its_rails_is_the_remote_host(void **state)
{
	struct world w;

	(void)state;
	two_rails(&w, 3);
	silence(&w, 0);
	silence(&w, 1);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_REMOTE_HOST, "all its 2 rails");
	assert_session(&w, 1, VERDICT_FAILING, CAUSE_REMOTE_HOST, "all its 2 rails");
	world_free(&w);
}

static void test_address_that_answers_another_rail_is_a_path(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "rxe0");
	add_rail(&w, "rxe1");
	add_session(&w, "host2", "rxe0", "10.99.0.2");
	add_session(&w, "host2", "rxe1", "10.99.0.2");
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_PATH, "same address answers over rail rxe1");
	world_free(&w);
}

static void test_silent_class_beside_a_good_one_is_a_path(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "rxe0");
	for (size_t i = 0; i < 3; i++) {
		add_session(&w, "host2", "rxe0", "10.99.0.2");
		w.sessions[i].class_name = i ? "default" : "bulk";
	}
	silence(&w, 0);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_PATH, "in class bulk; class default");
	world_free(&w);
}

static void test_silent_address_beside_a_good_one_is_that_nic(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	add_rail(&w, "rxe0");
	add_session(&w, "host2", "rxe0", "10.99.0.2");
	add_session(&w, "host2", "rxe0", "10.99.0.22");
	silence(&w, 1);
	look(&w);
	assert_session(&w, 1, VERDICT_FAILING, CAUSE_REMOTE_NIC, "its NIC 10.99.0.22");
	world_free(&w);
}

static void test_peer_reached_in_one_class_is_no_silent_peer(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 3);
	add_session(&w, "host4", "rxe0", "10.99.0.4");
	w.sessions[3].class_name = "bulk";
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "1 other peer on rail rxe0");
	world_free(&w);
}

static void test_whole_rack_silent_and_others_fine_is_a_path(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 5);
	for (size_t i = 0; i < 5; i++)
		w.in[i].rack = i < 3 ? "r7" : "r8";
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_PATH, "all 3 peers in rack r7 are silent");
	world_free(&w);
}

static void test_half_a_rack_silent_is_not_the_rack(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 5);
	for (size_t i = 0; i < 5; i++)
		w.in[i].rack = "r7";
	for (size_t i = 0; i < 3; i++)
		silence(&w, i);
	look(&w);
	assert_session(&w, 0, VERDICT_FAILING, CAUSE_INCONCLUSIVE, "2 other peers");
	world_free(&w);
}

static void test_recovering_session_keeps_its_cause(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	fail_connect(&w, 0, CONNECT_REJECTED, "connection refused");
	look(&w);
	w.sessions[0].state = SESSION_UP;
	answer(&w, 0, OP_SEND);
	answer(&w, 0, OP_READ);
	w.in[0].books_verdict = VERDICT_DEGRADED;
	look(&w);
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_REMOTE_HOST,
		       "answers again, not yet 3 times in a row; before: ");
	assert_says(w.s->sessions[0].reason, "before: host2 refuses connections");
	w.in[0].books_verdict = VERDICT_OK;
	look(&w);
	assert_session(&w, 0, VERDICT_OK, CAUSE_NONE, "");
	world_free(&w);
}

static void test_late_answers_without_loss_are_congestion(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	miss(&w, 0, OP_SEND);
	look(&w);
	answer(&w, 0, OP_SEND);
	w.in[0].books_verdict = VERDICT_DEGRADED;
	w.in[0].recent =
		(struct window_sums){.due = 60, .answered = 60, .ok = 55, .failed = 5, .late = 5};
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_CONGESTION, "5 of 60");
	w.in[0].recent.answered = 59; /* one was lost */
	w.in[0].recent.late = 4;
	look(&w);
	assert_session(&w, 0, VERDICT_DEGRADED, CAUSE_INCONCLUSIVE, "answers again");
	world_free(&w);
}

static void test_own_port_down_makes_peers_unknown(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 3);
	silence(&w, 0);
	w.rails[0].up = false;
	look(&w);
	for (size_t i = 0; i < 3; i++)
		assert_session(&w, i, VERDICT_UNKNOWN, CAUSE_LOCAL_PORT, "port 1 of rxe0");
	world_free(&w);
}

static void test_stuck_worker_makes_peers_unknown(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	w.devices[0].worker_state = WORKER_STUCK;
	look(&w);
	assert_session(&w, 0, VERDICT_UNKNOWN, CAUSE_MONITOR, "stuck since 20");
	world_free(&w);
}

static void test_disabled_session_says_why(void **state)
{
	struct world w;

	(void)state;
	one_rail(&w, 2);
	w.sessions[0].state = SESSION_DISABLED;
	w.in[0].conn_reason = "more than 512 sessions on rxe0";
	look(&w);
	assert_session(&w, 0, VERDICT_UNKNOWN, CAUSE_CONFIGURATION, "more than 512 sessions");
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy_session_has_no_cause_and_no_words),
		cmocka_unit_test(test_unmeasured_session_says_what_it_waits_for),
		cmocka_unit_test(test_frozen_host_with_live_nic_is_the_remote_host),
		cmocka_unit_test(test_every_operation_that_its_nic_still_does_is_named),
		cmocka_unit_test(test_writes_that_fail_alone_are_the_remote_nic),
		cmocka_unit_test(test_read_well_after_the_last_echo_is_proof_at_the_first_look),
		cmocka_unit_test(test_read_within_the_interval_of_the_last_echo_proves_nothing),
		cmocka_unit_test(test_read_from_before_the_trouble_proves_nothing),
		cmocka_unit_test(test_acknowledged_sends_without_echo_are_the_remote_host),
		cmocka_unit_test(test_failing_reads_with_good_echoes_are_the_remote_nic),
		cmocka_unit_test(test_refused_connection_asks_for_the_daemon),
		cmocka_unit_test(test_unlisted_address_is_configuration),
		cmocka_unit_test(test_secrets_that_differ_are_configuration),
		cmocka_unit_test(test_peer_that_stops_on_purpose_is_said_to),
		cmocka_unit_test(test_goodbye_is_no_silence),
		cmocka_unit_test(test_a_peer_that_accepts_and_closes_is_no_silence),
		cmocka_unit_test(test_a_stalled_rdma_cm_is_this_host_and_no_silence),
		cmocka_unit_test(test_peer_without_resources_is_the_remote_host),
		cmocka_unit_test(test_old_refusal_is_history),
		cmocka_unit_test(test_wrong_version_hello_or_route_is_configuration),
		cmocka_unit_test(test_own_lack_of_resources_is_the_local_host),
		cmocka_unit_test(test_error_of_a_session_that_is_up_again_is_not_held_against_it),
		cmocka_unit_test(test_reconnect_blames_no_operation_before_its_turn),
		cmocka_unit_test(
			test_late_echo_before_the_silence_does_not_make_the_host_look_frozen),
		cmocka_unit_test(test_one_miss_is_not_called_silence),
		cmocka_unit_test(test_error_of_an_earlier_connection_is_not_told_of_one_that_is_up),
		cmocka_unit_test(test_one_silent_peer_of_many_excludes_this_host_only),
		cmocka_unit_test(test_sole_silent_peer_excludes_nothing),
		cmocka_unit_test(test_all_of_three_silent_is_the_local_nic),
		cmocka_unit_test(test_both_of_two_silent_is_not_enough_for_the_local_nic),
		cmocka_unit_test(test_peer_that_refuses_is_no_silent_peer),
		cmocka_unit_test(test_one_dead_rail_of_a_peer_is_its_nic),
		cmocka_unit_test(test_one_dead_rail_with_nobody_to_compare_is_inconclusive),
		cmocka_unit_test(test_peer_silent_on_all_its_rails_is_the_remote_host),
		cmocka_unit_test(test_address_that_answers_another_rail_is_a_path),
		cmocka_unit_test(test_silent_class_beside_a_good_one_is_a_path),
		cmocka_unit_test(test_silent_address_beside_a_good_one_is_that_nic),
		cmocka_unit_test(test_peer_reached_in_one_class_is_no_silent_peer),
		cmocka_unit_test(test_whole_rack_silent_and_others_fine_is_a_path),
		cmocka_unit_test(test_half_a_rack_silent_is_not_the_rack),
		cmocka_unit_test(test_recovering_session_keeps_its_cause),
		cmocka_unit_test(test_late_answers_without_loss_are_congestion),
		cmocka_unit_test(test_own_port_down_makes_peers_unknown),
		cmocka_unit_test(test_stuck_worker_makes_peers_unknown),
		cmocka_unit_test(test_disabled_session_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
