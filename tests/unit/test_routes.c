#include "support.h"

#include <jansson.h>

#include "core/clock.h"
#include "exporters/routes.h"
#include "health/journal.h"
#include "tests/tools/synthetic.h"

/* A host behind the routes. */
static struct snapshot *present;
static struct journal *journal;
static bool is_ready;
static int reload_result;
static unsigned reloads;
static struct http_source source;
static struct routes routes;

/* The last answer, its body read to the end. */
static struct http_reply reply;
static struct strbuf body;
static json_t *parsed;

static struct snapshot *get_snapshot(void *arg)
{
	(void)arg;
	return present ? snapshot_ref(present) : NULL;
}

static const struct journal *get_journal(void *arg)
{
	(void)arg;
	return journal;
}

static bool get_ready(void *arg)
{
	(void)arg;
	return is_ready;
}

static int do_reload(void *arg, char *err, size_t errlen)
{
	(void)arg;
	reloads++;
	snprintf(err, errlen, "x.conf:3: no");
	return reload_result;
}

static void renew(const struct synthetic *wanted)
{
	snapshot_unref(present);
	present = synthetic_snapshot(wanted, clock_now_ns());
}

static int setup(void **state)
{
	(void)state;
	renew(&synthetic_default);
	journal = journal_new();
	source = (struct http_source){get_snapshot, get_journal, get_ready, do_reload, false, NULL};
	routes = (struct routes){&source, editions_new(&source)};
	is_ready = true;
	reload_result = 0;
	reloads = 0;
	return 0;
}

static void forget_reply(void)
{
	json_decref(parsed);
	parsed = NULL;
	strbuf_free(&body);
}

static int teardown(void **state)
{
	(void)state;
	forget_reply();
	editions_free(routes.editions);
	snapshot_unref(present);
	journal_free(journal);
	present = NULL;
	return 0;
}

/* Read in pieces of an odd size, as a socket would. */
static void read_body(void)
{
	char piece[7];
	ssize_t n;

	strbuf_putc(&body, ' '); /* never NULL */
	strbuf_reset(&body);
	if (reply.read) {
		while ((n = reply.read(reply.arg, piece, sizeof(piece))) > 0)
			strbuf_add(&body, piece, (size_t)n);
		assert_int_equal(n, 0);
	} else {
		strbuf_add(&body, reply.data, reply.size);
	}
	if (reply.done)
		reply.done(reply.arg);
}

static void ask(const struct http_request *req)
{
	forget_reply();
	routes_answer(&routes, req, &reply);
	read_body();
	if (strcmp(reply.content_type, "application/json") == 0) {
		parsed = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(parsed);
		assert_int_equal(json_integer_value(json_object_get(parsed, "schema")), 1);
	}
}

static void get(const char *path)
{
	ask(&(struct http_request){.method = HTTP_GET, .path = path});
}

static void get_with(const char *path, const char *name, const char *value)
{
	ask(&(struct http_request){
		.method = HTTP_GET, .path = path, .param = {{name, value}}, .n_params = 1});
}

static const char *error_code(void)
{
	return json_string_value(json_object_get(json_object_get(parsed, "error"), "code"));
}

static json_t *row(const char *list, size_t i)
{
	return json_array_get(json_object_get(parsed, list), i);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static size_t rows(const char *list)
{
	return json_array_size(json_object_get(parsed, list));
}

static void test_metrics_come_in_the_format_that_is_asked_for(void **state)
{
	struct http_request req = {.method = HTTP_GET, .path = "/metrics"};

	(void)state;
	ask(&req);
	assert_int_equal(reply.status, 200);
	assert_string_equal(reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
	assert_int_equal(body.data[body.len - 1], '\n');
	req.accept = "application/openmetrics-text;version=1.0.0";
	ask(&req);
	assert_string_equal(reply.content_type,
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
	assert_string_equal(body.data + body.len - 6, "# EOF\n");
	req.accept_encoding = "gzip";
	ask(&req);
	assert_true(reply.gzip);
	assert_memory_equal(body.data, "\x1f\x8b", 2);
}

static void test_unknown_paths_and_what_is_not_built_say_so(void **state)
{
	static const char *const paths[] = {"/nothing", "/metrics/",	   "",
					    "*",	"/api/v1/peers/x", "/../etc/passwd"};

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++) {
		get(paths[i]);
		assert_int_equal(reply.status, 404);
		assert_string_equal(error_code(), "not_found");
	}
	get("/api/v1/mesh");
	assert_int_equal(reply.status, 404);
	assert_string_equal(error_code(), "not_built");
}

static void test_other_methods_are_refused_with_what_is_allowed(void **state)
{
	static const enum http_method methods[] = {HTTP_POST, HTTP_OTHER};
	static const char *const paths[] = {"/", "/metrics", "/api/v1/peers", "/-/healthy"};

	(void)state;
	for (size_t i = 0; i < COUNT(methods) * COUNT(paths); i++) {
		ask(&(struct http_request){.method = methods[i / COUNT(paths)],
					   .path = paths[i % COUNT(paths)]});
		assert_int_equal(reply.status, 405);
		assert_string_equal(reply.allow, "GET, HEAD");
	}
	get("/-/reload");
	assert_int_equal(reply.status, 405);
	assert_string_equal(reply.allow, "POST");
}

static void test_a_reload_needs_permission_and_no_foreign_page(void **state)
{
	struct http_request req = {.method = HTTP_POST, .path = "/-/reload", .host = "h:10479"};

	(void)state;
	ask(&req);
	assert_int_equal(reply.status, 403);
	source.allow_reload = true;
	req.origin = "http://evil.example";
	ask(&req);
	assert_int_equal(reply.status, 403);
	req.origin = "null";
	ask(&req);
	assert_int_equal(reply.status, 403);
	assert_int_equal(reloads, 0);
	req.origin = "http://h:10479";
	ask(&req);
	assert_int_equal(reply.status, 200);
	req.origin = NULL;
	ask(&req);
	assert_int_equal(reply.status, 200);
	assert_int_equal(reloads, 2);
	reload_result = -22;
	ask(&req);
	assert_int_equal(reply.status, 500);
	assert_string_equal(text_of(json_object_get(parsed, "error"), "message"), "x.conf:3: no");
}

static void test_an_old_snapshot_is_not_healthy(void **state)
{
	(void)state;
	get("/-/healthy");
	assert_int_equal(reply.status, 200);
	present->mono_ns -= 2900 * NSEC_PER_MSEC;
	get("/-/healthy");
	assert_int_equal(reply.status, 200);
	present->mono_ns -= 200 * NSEC_PER_MSEC;
	get("/-/healthy");
	assert_int_equal(reply.status, 503);
}

static void test_ready_is_what_the_daemon_says(void **state)
{
	(void)state;
	get("/-/ready");
	assert_int_equal(reply.status, 200);
	is_ready = false;
	get("/-/ready");
	assert_int_equal(reply.status, 503);
}

static void test_before_the_first_snapshot_all_is_starting(void **state)
{
	static const char *const paths[] = {"/metrics",	  "/api/v1/status", "/api/v1/peers",
					    "/-/healthy", "/api/v1/health", "/api/v1/events"};

	(void)state;
	snapshot_unref(present);
	present = NULL;
	for (size_t i = 0; i < COUNT(paths); i++) {
		get(paths[i]);
		assert_int_equal(reply.status, 503);
		assert_string_equal(error_code(), "starting");
	}
}

static unsigned health_with(enum verdict verdict, const char *fail_on)
{
	present->verdict = verdict;
	if (fail_on)
		get_with("/api/v1/health", "fail_on", fail_on);
	else
		get("/api/v1/health");
	assert_string_equal(text_of(parsed, "verdict"), verdict_name(verdict));
	return reply.status;
}

static void test_health_fails_from_the_verdict_that_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(health_with(VERDICT_OK, NULL), 200);
	assert_int_equal(health_with(VERDICT_UNKNOWN, NULL), 200);
	assert_int_equal(health_with(VERDICT_DEGRADED, NULL), 200);
	assert_int_equal(health_with(VERDICT_FAILING, NULL), 503);
	assert_int_equal(health_with(VERDICT_DEGRADED, "degraded"), 503);
	assert_int_equal(health_with(VERDICT_UNKNOWN, "degraded"), 200);
	get_with("/api/v1/health", "fail_on", "often");
	assert_int_equal(reply.status, 400);
}

static void test_status_has_the_shape_of_the_contract(void **state)
{
	json_t *sessions, *rails;

	(void)state;
	get("/api/v1/status");
	sessions = json_object_get(parsed, "sessions");
	rails = json_object_get(parsed, "rails");
	assert_string_equal(text_of(parsed, "instance"), "0123456789abcdef");
	assert_string_equal(text_of(parsed, "host"), "host001");
	assert_string_equal(text_of(parsed, "cause"), "remote_host");
	assert_int_equal(json_integer_value(json_object_get(sessions, "up")), 4);
	assert_int_equal(json_integer_value(json_object_get(sessions, "total")), 4);
	assert_int_equal(json_integer_value(json_object_get(rails, "total")), 2);
	assert_true(json_number_value(json_object_get(parsed, "snapshot_age_seconds")) < 60);
}

static void test_a_peer_row_has_the_shape_of_the_contract(void **state)
{
	static const char *const members[] = {"peer",
					      "rail",
					      "peer_rail",
					      "class",
					      "address",
					      "state",
					      "since",
					      "verdict",
					      "verdict_since",
					      "cause",
					      "reason",
					      "device",
					      "local_gid",
					      "remote_gid",
					      "qpn",
					      "remote_qpn",
					      "udp_source_port",
					      "loss_ratio",
					      "window_seconds",
					      "failures",
					      "aborts",
					      "not_attempted",
					      "ops"};
	static const char *const op_members[] = {"scheduled",
						 "sent",
						 "ok",
						 "failed",
						 "aborted",
						 "not_attempted",
						 "late",
						 "self_delayed",
						 "in_flight",
						 "p50_seconds",
						 "p99_seconds",
						 "last_minute_count",
						 "last_attempt_timestamp",
						 "last_success_timestamp"};
	json_t *peer, *ops, *send;

	(void)state;
	get("/api/v1/peers");
	assert_int_equal(rows("peers"), 4);
	assert_true(json_is_null(json_object_get(parsed, "next_cursor")));
	peer = row("peers", 0);
	assert_int_equal(json_object_size(peer), COUNT(members));
	for (size_t i = 0; i < COUNT(members); i++)
		assert_non_null(json_object_get(peer, members[i]));
	ops = json_object_get(peer, "ops");
	assert_int_equal(json_object_size(ops), 4); /* send, ack, read, write; atomic is off */
	send = json_object_get(ops, "send");
	assert_int_equal(json_object_size(send), COUNT(op_members));
	for (size_t i = 0; i < COUNT(op_members); i++)
		assert_non_null(json_object_get(send, op_members[i]));
	assert_int_equal(json_object_size(json_object_get(ops, "ack")), 2);
	assert_int_equal(json_integer_value(json_object_get(send, "failed")), 3);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(peer, "failures"), "timeout")),
		9);
	assert_string_equal(text_of(peer, "local_gid"), "0000:0000:0000:0000:0000:ffff:0a63:0001");
}

static void test_what_is_unknown_of_a_peer_is_null(void **state)
{
	static const char *const unknown[] = {"local_gid", "remote_gid", "qpn", "udp_source_port",
					      "loss_ratio"};
	struct synthetic fresh = synthetic_default;
	json_t *peer, *send;

	(void)state;
	fresh.fresh = true;
	renew(&fresh);
	get("/api/v1/peers");
	peer = row("peers", 0);
	for (size_t i = 0; i < COUNT(unknown); i++)
		assert_true(json_is_null(json_object_get(peer, unknown[i])));
	send = json_object_get(json_object_get(peer, "ops"), "send");
	assert_true(json_is_null(json_object_get(send, "p50_seconds")));
	assert_true(json_is_null(json_object_get(send, "last_success_timestamp")));
	assert_int_equal(json_integer_value(json_object_get(send, "scheduled")), 0);
}

static void test_peers_are_filtered(void **state)
{
	(void)state;
	get_with("/api/v1/peers", "peer", "host003");
	assert_int_equal(rows("peers"), 2);
	assert_string_equal(text_of(row("peers", 1), "peer"), "host003");
	get_with("/api/v1/peers", "rail", "mlx5_1");
	assert_int_equal(rows("peers"), 2);
	get_with("/api/v1/peers", "verdict", "failing");
	assert_int_equal(rows("peers"), 2);
	get_with("/api/v1/peers", "verdict", "unknown");
	assert_int_equal(rows("peers"), 0);
	get_with("/api/v1/peers", "peer", "nobody");
	assert_int_equal(rows("peers"), 0);
	get_with("/api/v1/peers", "pear", "host003");
	assert_int_equal(reply.status, 400);
	assert_non_null(strstr(text_of(json_object_get(parsed, "error"), "message"), "pear"));
}

/* Page through all peers in steps of limit; the number of rows seen. */
static size_t walk(const char *limit, const char *verdict)
{
	char cursor[1024] = "";
	size_t seen = 0, pages = 0;

	do {
		struct http_request req = {
			.method = HTTP_GET, .path = "/api/v1/peers", .param = {{"limit", limit}}};

		req.n_params = 1;
		if (*cursor)
			req.param[req.n_params++] = (struct http_param){"cursor", cursor};
		if (verdict)
			req.param[req.n_params++] = (struct http_param){"verdict", verdict};
		ask(&req);
		assert_int_equal(reply.status, 200);
		seen += rows("peers");
		snprintf(cursor, sizeof(cursor), "%s",
			 json_is_null(json_object_get(parsed, "next_cursor"))
				 ? ""
				 : text_of(parsed, "next_cursor"));
		assert_true(++pages < 1000);
	} while (*cursor);
	return seen;
}

static void test_pages_show_every_row_once(void **state)
{
	struct synthetic many = synthetic_default;

	(void)state;
	many.rails = 3;
	many.peers = 11;
	renew(&many);
	assert_int_equal(walk("1", NULL), 33);
	assert_int_equal(walk("4", NULL), 33);
	assert_int_equal(walk("33", NULL), 33);
	assert_int_equal(walk("100", NULL), 33);
	assert_int_equal(walk("2", "failing"), 3);
	assert_int_equal(walk("3", "failing"), 3);
}

static void test_a_cursor_goes_on_where_its_row_has_gone(void **state)
{
	struct http_request req = {.method = HTTP_GET, .path = "/api/v1/peers", .n_params = 1};
	char cursor[1024];

	(void)state;
	get_with("/api/v1/peers", "limit", "1");
	snprintf(cursor, sizeof(cursor), "%s", text_of(parsed, "next_cursor"));
	present->sessions++; /* the peer of the first row was removed */
	present->n_sessions--;
	req.param[0] = (struct http_param){"cursor", cursor};
	ask(&req);
	assert_int_equal(rows("peers"), 3);
}

static void test_devices_have_the_shape_of_the_contract(void **state)
{
	struct synthetic all = synthetic_default;
	json_t *device, *port, *counters;

	(void)state;
	all.vendors = all.hostile = true;
	renew(&all);
	get("/api/v1/devices");
	assert_int_equal(rows("devices"), 3);
	device = row("devices", 0);
	assert_string_equal(text_of(device, "device"), "mlx5_0");
	assert_string_equal(text_of(json_object_get(device, "worker"), "state"), "up");
	port = json_array_get(json_object_get(device, "ports"), 0);
	assert_string_equal(text_of(port, "rail"), "mlx5_0");
	assert_string_equal(text_of(port, "state"), "ACTIVE");
	counters = json_object_get(port, "counters");
	/* raw, not in bytes; verbatim names; beyond 63 bits a string */
	assert_int_equal(json_integer_value(json_object_get(counters, "port_rcv_data")),
			 230539874932483);
	assert_non_null(json_object_get(counters, "VL15_dropped"));
	assert_string_equal(text_of(counters, "np_cnp_sent"), "18446744073709551615");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(port, "saturated"), 0)),
		"symbol_error");
	device = row("devices", 2);
	assert_non_null(json_object_get(json_object_get(device, "counters"), "rate_inc_events"));
	counters = json_object_get(json_array_get(json_object_get(device, "ports"), 0), "counters");
	assert_non_null(json_object_get(counters, "link_downed"));
	assert_non_null(json_object_get(counters, "hw_counters/link_downed"));
}

static void test_statistics_of_legs_are_told_by_leg(void **state)
{
	struct synthetic netdev = synthetic_default;
	json_t *port, *legs;

	(void)state;
	netdev.netdev = true;
	renew(&netdev);
	get("/api/v1/devices");
	port = json_array_get(json_object_get(row("devices", 0), "ports"), 0);
	legs = json_object_get(port, "leg_counters");
	assert_int_equal(json_object_size(legs), 2);
	assert_non_null(json_object_get(json_object_get(legs, "ens1f0np0"), "rx_prio3_pause"));
	assert_non_null(json_object_get(json_object_get(legs, "ens1f1np1"), "rx_prio3_pause"));
	assert_null(json_object_get(json_object_get(port, "counters"), "ens1f0np0/rx_prio3_pause"));
}

/* Two sources of one name stay two members. */
static void test_statistics_of_a_netdev_are_apart_from_the_devices_counters(void **state)
{
	struct synthetic netdev = synthetic_default;
	json_t *port, *stats;

	(void)state;
	netdev.netdev = true;
	renew(&netdev);
	get("/api/v1/devices");
	port = json_array_get(json_object_get(row("devices", 0), "ports"), 0);
	stats = json_object_get(port, "netdev_counters");
	assert_non_null(json_object_get(stats, "rx_prio3_pause_duration"));
	assert_non_null(json_object_get(stats, "[0]: rx_ucast_packets"));
	assert_non_null(json_object_get(stats, "np_cnp_sent"));
	assert_null(json_object_get(stats, "port_rcv_data"));
	assert_non_null(json_object_get(json_object_get(port, "counters"), "np_cnp_sent"));
	assert_null(json_object_get(json_object_get(port, "counters"), "rx_prio3_pause"));
}

static void test_findings_carry_their_evidence(void **state)
{
	json_t *f, *e;

	(void)state;
	get("/api/v1/findings");
	assert_int_equal(rows("findings"), 1);
	f = row("findings", 0);
	assert_string_equal(text_of(f, "subject"), "peer:host003");
	assert_string_equal(text_of(f, "severity"), "warning");
	e = json_array_get(json_object_get(f, "evidence"), 0);
	assert_int_equal(json_integer_value(json_object_get(e, "value")), 3);
	assert_int_equal(json_integer_value(json_object_get(e, "window_seconds")), 60);
}

static void test_events_begin_after_the_number_given(void **state)
{
	(void)state;
	get("/api/v1/events");
	assert_int_equal(rows("events"), 0);
	assert_int_equal(json_integer_value(json_object_get(parsed, "last_seq")), 0);
	for (int i = 0; i < 5; i++)
		journal_add(journal, 1000, "rail", "d", NULL, NULL, "event %d \xff", i);
	get("/api/v1/events");
	assert_int_equal(rows("events"), 5);
	get_with("/api/v1/events", "since", "3");
	assert_int_equal(rows("events"), 2);
	assert_int_equal(json_integer_value(json_object_get(row("events", 0), "seq")), 4);
	get_with("/api/v1/events", "since", "99");
	assert_int_equal(rows("events"), 0);
	get_with("/api/v1/events", "limit", "2");
	assert_int_equal(rows("events"), 2);
}

static void test_a_list_of_events_ends_though_events_go_on(void **state)
{
	struct http_request req = {.method = HTTP_GET, .path = "/api/v1/events"};
	char piece[16];
	unsigned reads = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		journal_add(journal, 1000, "rail", NULL, NULL, NULL, "before");
	routes_answer(&routes, &req, &reply);
	while (reply.read(reply.arg, piece, sizeof(piece)) > 0) {
		/* So many that those of the beginning are overwritten meanwhile. */
		for (int i = 0; i < 1000; i++)
			journal_add(journal, 1000, "rail", NULL, NULL, NULL, "during");
		assert_true(++reads < 1000);
	}
	reply.done(reply.arg);
}

static void test_a_reader_of_a_list_sees_one_snapshot_to_its_end(void **state)
{
	struct http_request req = {.method = HTTP_GET, .path = "/api/v1/peers"};
	struct synthetic none = synthetic_default;
	char piece[64];
	ssize_t n;

	(void)state;
	forget_reply();
	routes_answer(&routes, &req, &reply);
	while ((n = reply.read(reply.arg, piece, sizeof(piece))) > 0) {
		strbuf_add(&body, piece, (size_t)n);
		none.peers = 0;
		renew(&none);
		edition_unref(editions_current(routes.editions));
	}
	reply.done(reply.arg);
	parsed = json_loadb(body.data, body.len, 0, NULL);
	assert_int_equal(rows("peers"), 4);
}

static void test_hostile_names_leave_the_json_valid(void **state)
{
	struct synthetic hostile = synthetic_default;

	(void)state;
	hostile.hostile = true;
	renew(&hostile);
	get("/api/v1/peers");
	assert_string_equal(text_of(row("peers", 0), "peer"),
			    "a\"\\\n\xc3\xa9<script>\xef\xbf\xbd");
}

static void test_the_page_is_served(void **state)
{
	(void)state;
	get("/");
	assert_int_equal(reply.status, 200);
	assert_true(reply.is_page);
	assert_string_equal(reply.content_type, "text/html; charset=utf-8");
	assert_non_null(strstr(body.data, "</html>"));
	get("/page.js");
	assert_string_equal(reply.content_type, "text/javascript; charset=utf-8");
	get("/page.css");
	assert_string_equal(reply.content_type, "text/css; charset=utf-8");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_metrics_come_in_the_format_that_is_asked_for),
		T(test_unknown_paths_and_what_is_not_built_say_so),
		T(test_other_methods_are_refused_with_what_is_allowed),
		T(test_a_reload_needs_permission_and_no_foreign_page),
		T(test_an_old_snapshot_is_not_healthy),
		T(test_ready_is_what_the_daemon_says),
		T(test_before_the_first_snapshot_all_is_starting),
		T(test_health_fails_from_the_verdict_that_is_asked_for),
		T(test_status_has_the_shape_of_the_contract),
		T(test_a_peer_row_has_the_shape_of_the_contract),
		T(test_what_is_unknown_of_a_peer_is_null),
		T(test_peers_are_filtered),
		T(test_pages_show_every_row_once),
		T(test_a_cursor_goes_on_where_its_row_has_gone),
		T(test_devices_have_the_shape_of_the_contract),
		T(test_statistics_of_legs_are_told_by_leg),
		T(test_statistics_of_a_netdev_are_apart_from_the_devices_counters),
		T(test_findings_carry_their_evidence),
		T(test_events_begin_after_the_number_given),
		T(test_a_list_of_events_ends_though_events_go_on),
		T(test_a_reader_of_a_list_sees_one_snapshot_to_its_end),
		T(test_hostile_names_leave_the_json_valid),
		T(test_the_page_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
