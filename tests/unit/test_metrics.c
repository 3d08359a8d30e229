#include "support.h"

#include "exporters/metrics.h"
#include "tests/tools/synthetic.h"

static struct strbuf out;

/* Render with a newline in front, so that "\nname" finds lines. */
static void render_snapshot(struct snapshot *s)
{
	strbuf_free(&out);
	strbuf_putc(&out, '\n');
	assert_int_equal(metrics_render(s, NULL, EXPOSITION_TEXT, NULL, &out), 0);
	snapshot_unref(s);
}

static void render(const struct synthetic *wanted)
{
	render_snapshot(synthetic_snapshot(wanted, 1));
}

static bool has(const char *text)
{
	return strstr(out.data, text) != NULL;
}

static size_t count(const char *text)
{
	size_t n = 0;

	for (const char *p = out.data; (p = strstr(p, text)); p++)
		n++;
	return n;
}

#define S "peer=\"host003\",rail=\"mlx5_0\",peer_rail=\"mlx5_0\",class=\"default\""

static void test_sessions_have_their_labels_also_for_the_default_class(void **state)
{
	(void)state;
	render(&synthetic_default);
	assert_true(has("\nrdma_probe_failed_total{" S ",op=\"send\"} 3\n"));
	assert_true(
		has("\nrdma_probe_rtt_seconds{" S ",op=\"read\",quantile=\"0.99\"} 0.000022\n"));
	assert_true(has("\nrdma_session_up{" S "} 1\n"));
	assert_true(has("\nrdma_session_verdict_id{" S "} 2\n"));
	assert_true(has("\nrdma_session_last_success_timestamp_seconds{" S "} 1767225599.75\n"));
	assert_false(has("op=\"atomic\""));
}

/* Of a rail, a series for each reason (an enum's number) and operation. */
static void assert_zeros_of(const char *end, const char *op, const char *reason)
{
	char line[160];

	snprintf(line, sizeof(line),
		 "\nrdma_rail_probe_%s_total{rail=\"mlx5_0\",class=\"default\",op=\"%s\","
		 "reason=\"%s\"} 0\n",
		 end, op, reason);
	if (!has(line))
		fail_msg("not there: %s", line);
}

#define assert_zeros(end, name_of, n)                                                              \
	for (unsigned i_ = 0; i_ < (n); i_++) {                                                    \
		assert_zeros_of(end, "send", name_of(i_));                                         \
		assert_zeros_of(end, "read", name_of(i_));                                         \
	}

static void test_counters_exist_with_zero_before_anything_happened(void **state)
{
	struct synthetic fresh = synthetic_default;

	(void)state;
	fresh.fresh = true;
	render(&fresh);
	assert_true(has("\nrdma_probe_scheduled_total{" S ",op=\"send\"} 0\n"));
	assert_true(has("\nrdma_probe_failed_total{" S ",op=\"read\"} 0\n"));
	assert_true(has("\nrdma_probe_rtt_seconds_count{" S ",op=\"send\"} 0\n"));
	assert_true(has("\nrdma_session_last_success_timestamp_seconds{" S "} 0\n"));
	assert_zeros("failed", fail_reason_name, FAIL_COUNT);
	assert_zeros("aborted", abort_reason_name, ABORT_COUNT);
	assert_zeros("not_attempted", skip_reason_name, SKIP_COUNT);
	assert_true(
		has("\nrdma_rail_rtt_seconds_bucket{rail=\"mlx5_0\",class=\"default\",op=\"ack\","
		    "le=\"+Inf\"} 0\n"));
	assert_true(has("\nrdma_async_events_total{device=\"mlx5_0\",port=\"\","
			"event=\"qp_last_wqe_reached\"} 0\n"));
	assert_true(has("\nrdma_connection_failures_total{rail=\"mlx5_0\",reason=\"stale\"} 0\n"));
	for (unsigned why = 0; why < REFUSE_COUNT; why++) {
		char line[128];

		snprintf(line, sizeof(line),
			 "\nrdma_connections_refused_total{rail=\"mlx5_0\",reason=\"%s\"} 0\n",
			 refuse_reason_name(why));
		assert_true(has(line));
	}
	assert_true(has("\nrdma_sysfs_read_errors_total{device=\"mlx5_0\",port=\"\","
			"reason=\"einval\"} 0\n"));
	assert_true(has("\nrdma_worker_heartbeat_timestamp_seconds{device=\"mlx5_0\","
			"loop=\"rail\"} 0\n"));
}

static void test_what_is_unknown_is_absent_and_never_nan(void **state)
{
	struct synthetic fresh = synthetic_default;

	(void)state;
	fresh.fresh = true;
	render(&fresh);
	assert_false(has("quantile="));
	assert_false(has("rdma_session_verdict_id"));
	assert_false(has("rdma_port_state_id"));
	assert_false(has("rdma_worker_resident_memory_bytes"));
	assert_false(has("rdma_rail_info"));
	assert_false(has("nan"));
	assert_false(has("NaN"));
}

static void test_events_of_ports_carry_the_port_and_others_none(void **state)
{
	(void)state;
	render(&synthetic_default);
	assert_true(has("\nrdma_async_events_total{device=\"mlx5_0\",port=\"1\","
			"event=\"port_active\"} 1\n"));
	assert_true(
		has("\nrdma_async_events_total{device=\"mlx5_0\",port=\"\",event=\"other\"} 0\n"));
	assert_false(has("port=\"\",event=\"port_active\""));
	assert_false(has("port=\"1\",event=\"qp_fatal\""));
}

static void test_an_event_of_an_unheard_of_port_is_not_lost(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);

	(void)state;
	for (unsigned i = 0; i < ASYNC_EVENT_COUNT; i++) {
		s->devices[0].async[0][i] += async_event_is_port(i) ? 7 : 0;
		s->devices[0].async[2][i] += 5;
	}
	render_snapshot(s);
	assert_true(has("device=\"mlx5_0\",port=\"\",event=\"port_err\"} 7\n"));
	assert_true(has("device=\"mlx5_0\",port=\"2\",event=\"port_err\"} 5\n"));
	assert_true(has("device=\"mlx5_0\",port=\"\",event=\"qp_fatal\"} 5\n"));
}

static void test_histograms_are_cumulative_and_agree_with_their_count(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);
	struct hist *h = &s->rails[0].classes[0].hist[OP_SEND];

	(void)state;
	*h = (struct hist){0};
	hist_add(h, 5000);
	hist_add(h, 15000);
	hist_add(h, 75000);
	hist_add(h, 10000000000);
	h->count += 3; /* read in the middle of an addition */
	render_snapshot(s);
#define R "rail=\"mlx5_0\",class=\"default\",op=\"send\""
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"4e-06\"} 0\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"5e-06\"} 1\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"1.5e-05\"} 2\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"7.5e-05\"} 3\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"0.5\"} 3\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_bucket{" R ",le=\"+Inf\"} 4\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_count{" R "} 4\n"));
	assert_true(has("\nrdma_rail_rtt_seconds_sum{" R "} 10.000095\n"));
}

static void test_histograms_of_sessions_are_told_on_request_alone(void **state)
{
	struct synthetic with = synthetic_default;

	(void)state;
	render(&with);
	assert_false(has("rdma_session_rtt_seconds"));
	with.per_peer = PER_PEER_HISTOGRAM;
	render(&with);
	assert_true(has("\n# TYPE rdma_session_rtt_seconds histogram\n"));
	assert_true(has("op=\"send\",le=\"+Inf\"} "));
	assert_true(has("\nrdma_probe_rtt_seconds_count{"));
}

static void test_port_data_is_told_in_bytes_once(void **state)
{
	(void)state;
	render(&synthetic_default);
	assert_true(has("\nrdma_port_rcv_data_bytes_total{device=\"mlx5_0\",port=\"1\"} "
			"922159499729932\n"));
	assert_false(has("rdma_port_rcv_data_total"));
}

static void test_the_counters_that_roce_people_ask_for_are_there(void **state)
{
	(void)state;
	render(&synthetic_default);
	assert_true(has("\nrdma_np_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} "));
	assert_true(has("\nrdma_np_ecn_marked_roce_packets_total{device=\"mlx5_1\",port=\"1\"} "));
	assert_true(has("\nrdma_hw_stat_total{device=\"mlx5_0\",port=\"1\",name=\"VL15_dropped\","
			"source=\"counters\"} "));
	assert_false(has("lifespan"));
}

static void set_odd(struct snapshot *s, enum counter_source source, const char *name,
		    uint64_t value)
{
	struct snap_device *d = &s->devices[0];

	while (strcmp(d->name, "odd0") != 0)
		d++;
	for (uint32_t i = 0; i < d->n_values; i++) {
		if (d->values[i].source == source && strcmp(d->values[i].name, name) == 0) {
			d->values[i].value = value;
			return;
		}
	}
	fail_msg("odd0 has no %s", name);
}

static void test_of_a_narrow_counter_and_its_wide_form_the_wide_one_is_told(void **state)
{
	struct synthetic vendors = synthetic_default;
	struct snapshot *s;

	(void)state;
	vendors.vendors = true;
	s = synthetic_snapshot(&vendors, 1);
	set_odd(s, SOURCE_COUNTERS, "port_xmit_data", UINT32_MAX);
	set_odd(s, SOURCE_COUNTERS_EXT, "port_xmit_data_64", 230539874932483);
	render_snapshot(s);
	assert_int_equal(count("\nrdma_port_xmit_data_bytes_total{device=\"odd0\""), 1);
	assert_true(has("\nrdma_port_xmit_data_bytes_total{device=\"odd0\",port=\"1\"} "
			"922159499729932\n"));
	assert_false(has("port_xmit_data_64"));
}

static void test_what_counts_bytes_already_is_told_as_it_is(void **state)
{
	struct synthetic vendors = synthetic_default;
	struct snapshot *s;

	(void)state;
	vendors.vendors = true;
	s = synthetic_snapshot(&vendors, 1);
	set_odd(s, SOURCE_HW_COUNTERS, "rx_bytes", 7521781137064);
	render_snapshot(s);
	assert_true(has("\nrdma_rx_bytes_total{device=\"odd0\",port=\"1\"} 7521781137064\n"));
}

static void test_odd_names_of_vendors_do_no_harm(void **state)
{
	struct synthetic vendors = synthetic_default;

	(void)state;
	vendors.vendors = true;
	render(&vendors);
	/* one series from two sources */
	assert_int_equal(count("\nrdma_link_downed_total{device=\"odd0\",port=\"1\"} "), 1);
	assert_true(has("name=\"link_downed\",source=\"hw_counters\"} "));
	/* the same name at the device and at its port */
	assert_true(has("\nrdma_rate_inc_events_total{device=\"odd0\",port=\"1\"} "));
	assert_true(has("\nrdma_device_rate_inc_events_total{device=\"odd0\"} "));
	/* gauges by name */
	assert_true(has("\n# TYPE rdma_active_qps gauge\n"));
	assert_true(has("\n# TYPE rdma_device_num_qps_congested gauge\n"));
	/* a vendor's name that is one of ours */
	assert_true(has("name=\"probe_ok\",source=\"hw_counters\"} "));
	assert_true(has("name=\"SDMAIdInt1,32\",source=\"hw_counters\"} "));
}

static void test_pauses_of_a_priority_have_one_name_for_all_vendors(void **state)
{
	struct synthetic netdev = synthetic_default;
	struct snapshot *s;

	(void)state;
	netdev.netdev = true;
	s = synthetic_snapshot(&netdev, 1);
	for (size_t i = 0; i < s->devices[0].n_values; i++) {
		struct counter_value *v = &s->devices[0].values[i];

		if (strcmp(v->name, "rx_prio3_pause_duration") == 0)
			v->value = 1500250;
		if (strcmp(v->name, "pfc_pri4_tx_duration_us") == 0)
			v->value = UINT64_MAX;
		if (strcmp(v->name, "rx_prio3_pause") == 0)
			v->value = 9007199254740993; /* 2^53 + 1 */
		if (strcmp(v->name, "mac_rx_pfc_pri3_pkt_num") == 0)
			v->value = 77;
	}
	render_snapshot(s);
	assert_true(
		has("\nrdma_pfc_pause_seconds_total{device=\"mlx5_0\",port=\"1\",priority=\"3\","
		    "direction=\"rx\"} 1.50025\n"));
	assert_true(has("priority=\"4\",direction=\"tx\"} 18446744073.709551615\n"));
	assert_true(has("\nrdma_pfc_pause_frames_total{device=\"mlx5_0\",port=\"1\",priority=\"4\","
			"direction=\"rx\"} "));
	assert_true(has("\nrdma_pfc_pause_frames_total{device=\"mlx5_0\",port=\"1\",priority=\"5\","
			"direction=\"rx\"} "));
	/* Two of one series: one has it, the other is told verbatim, and nothing is lost. */
	assert_int_equal(count("\nrdma_pfc_pause_frames_total{device=\"mlx5_0\",port=\"1\","
			       "priority=\"3\",direction=\"rx\"} "),
			 1);
	assert_true(has("priority=\"3\",direction=\"rx\"} 77\n"));
	assert_true(has("\nrdma_netdev_stat_total{device=\"mlx5_0\",port=\"1\","
			"name=\"rx_prio3_pause\"} 9007199254740993\n"));
}

static void test_other_statistics_of_a_netdev_keep_their_names(void **state)
{
	struct synthetic netdev = synthetic_default;

	(void)state;
	netdev.netdev = true;
	render(&netdev);
	assert_true(has("\nrdma_netdev_link_down_events_phy_total{device=\"mlx5_0\",port=\"1\"} "));
	assert_true(has("# TYPE rdma_netdev_outbound_pci_stalled_rd gauge\n"));
	assert_true(has("\nrdma_netdev_stat_total{device=\"mlx5_0\",port=\"1\","
			"name=\"[0]: rx_ucast_packets\"} "));
	assert_true(has("name=\"rx_corrected_bits_phy\"} "));
	/* The device's own of that name is another series. */
	assert_true(has("\nrdma_np_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} "));
	assert_true(has("\nrdma_netdev_np_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} "));
	render(&synthetic_default);
	assert_false(has("rdma_netdev_"));
	assert_false(has("rdma_pfc_"));
}

static void test_a_data_counter_near_its_end_does_not_wrap(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);

	(void)state;
	for (size_t i = 0; i < s->devices[0].n_values; i++) {
		if (strcmp(s->devices[0].values[i].name, "port_rcv_data") == 0)
			s->devices[0].values[i].value = (1ULL << 62) + 1;
	}
	render_snapshot(s);
	assert_true(has("\nrdma_port_rcv_data_bytes_total{device=\"mlx5_0\",port=\"1\"} "
			"18446744073709551615\n"));
}

static void test_a_saturated_counter_is_flagged_and_told_as_it_is(void **state)
{
	struct synthetic hostile = synthetic_default;

	(void)state;
	hostile.hostile = true;
	render(&hostile);
	assert_true(has("\nrdma_symbol_error_total{device=\"mlx5_0\",port=\"1\"} 65535\n"));
	assert_true(
		has("\nrdma_saturated{device=\"mlx5_0\",port=\"1\",name=\"symbol_error\"} 1\n"));
	render(&synthetic_default);
	assert_false(has("rdma_saturated"));
}

static void test_hostile_names_are_escaped(void **state)
{
	struct synthetic hostile = synthetic_default;

	(void)state;
	hostile.hostile = true;
	render(&hostile);
	assert_true(has("peer=\"a\\\"\\\\\\n\xc3\xa9<script>\xef\xbf\xbd\""));
	assert_true(has("board=\"back\\\\slash \\\"quoted\\\" \xef\xbf\xbd\xef\xbf\xbd\""));
}

static void test_sessions_beyond_the_limit_are_left_out_whole(void **state)
{
	struct synthetic limited = synthetic_default;
	size_t full;

	(void)state;
	limited.peers = 8;
	render(&limited);
	full = count("\nrdma_session_up{");
	assert_int_equal(full, 16);
	assert_true(has("\nrdma_pingmesh_series_dropped 0\n"));
	limited.max_series = 800;
	render(&limited);
	assert_in_range(count("\nrdma_session_up{"), 1, full - 1);
	assert_int_equal(count("\nrdma_session_up{"), count("\nrdma_probe_ok_total{") / 3);
	assert_false(has("\nrdma_pingmesh_series_dropped 0\n"));
	assert_true(count("\nrdma_") - count("\n# ") <= 800 + 1);
}

static void test_no_sessions_are_told_when_nobody_wants_them(void **state)
{
	struct synthetic none = synthetic_default;

	(void)state;
	none.per_peer = PER_PEER_NONE;
	render(&none);
	assert_false(has("peer="));
	assert_true(has("\nrdma_rail_probe_ok_total{"));
}

static void test_the_worst_sessions_of_each_rail_are_told(void **state)
{
	struct synthetic worst = synthetic_default;

	(void)state;
	worst.per_peer = PER_PEER_WORST;
	worst.peers = 20;
	render(&worst);
	assert_int_equal(count("\nrdma_session_up{"), 2 * 8);
	assert_true(
		has("\nrdma_session_up{peer=\"host003\",rail=\"mlx5_0\"")); /* the failing one */
	assert_true(has("\nrdma_session_up{peer=\"host003\",rail=\"mlx5_1\""));
}

static void test_a_session_that_comes_twice_is_told_once(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);

	(void)state;
	s->sessions[1] = s->sessions[0];
	render_snapshot(s);
	assert_int_equal(count("\nrdma_session_up{peer=\"host002\",rail=\"mlx5_0\""), 1);
}

static void test_a_finding_that_comes_twice_is_told_once(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);
	struct snap_finding *two = snapshot_alloc(s, 2, sizeof(*two));

	(void)state;
	two[0] = two[1] = s->findings[0];
	s->findings = two;
	s->n_findings = 2;
	render_snapshot(s);
	assert_int_equal(count("\nrdma_finding{cause=\"remote_host\",severity=\"warning\","
			       "subject=\"peer:host003\"} 1\n"),
			 1);
}

static void test_counters_that_went_stale_leave_but_their_time_stays(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);
	struct snap_device *d = &s->devices[0];

	(void)state;
	d->n_values = d->n_ports = d->n_gids = 0;
	d->read_errors[1][READ_EIO] = 4;
	render_snapshot(s);
	assert_false(has("rdma_np_cnp_sent_total{device=\"mlx5_0\""));
	assert_true(has("rdma_np_cnp_sent_total{device=\"mlx5_1\""));
	assert_true(has(
		"\nrdma_counters_last_success_timestamp_seconds{device=\"mlx5_0\"} 1767225598\n"));
	/* why they left is still told */
	assert_true(has(
		"\nrdma_sysfs_read_errors_total{device=\"mlx5_0\",port=\"1\",reason=\"eio\"} 4\n"));
}

static void test_an_operation_that_was_switched_off_keeps_its_totals(void **state)
{
	struct snapshot *s = synthetic_snapshot(&synthetic_default, 1);

	(void)state;
	for (size_t i = 0; i < s->n_sessions; i++)
		s->sessions[i].op[OP_WRITE].interval_ns = 0;
	s->rails[0].classes[0].op[OP_WRITE].interval_ns = 0;
	render_snapshot(s);
	assert_false(has("\nrdma_probe_ok_total{" S ",op=\"write\"}"));
	assert_true(
		has("\nrdma_rail_probe_ok_total{rail=\"mlx5_0\",class=\"default\",op=\"write\"}"));
}

/* A snapshot whose first device, its counters sorted as ever, was changed by fn. */
typedef void (*change_fn)(struct snap_device *d);

static void change_nothing(struct snap_device *d)
{
	(void)d;
}

static void change_values(struct snap_device *d)
{
	for (size_t i = 0; i < d->n_values; i++)
		d->values[i].value += 1000 + i;
}

static void change_saturation(struct snap_device *d)
{
	d->values[0].flags = COUNTER_SATURATED;
}

static void change_port(struct snap_device *d)
{
	d->values[d->n_values - 1].port = 2;
}

static void change_source(struct snap_device *d)
{
	for (size_t i = 0; i < d->n_values; i++)
		if (strcmp(d->values[i].name, "VL15_dropped") == 0)
			d->values[i].source = SOURCE_HW_COUNTERS;
}

static void change_name(struct snap_device *d)
{
	d->values[d->n_values - 1].name[0]++;
}

static void change_device(struct snap_device *d)
{
	d->name = "mlx4_9";
}

static void change_number(struct snap_device *d)
{
	d->n_values--;
	d->values_dropped = 3;
}

/* No metric can have the name, and rdma_hw_stat_total is no gauge. */
static void change_to_gauge(struct snap_device *d)
{
	snprintf(d->values[0].name, sizeof(d->values[0].name), "active_sec");
	d->values[0].source = SOURCE_HW_COUNTERS;
}

/* As with the lines of the renderings before, so with lines of its own. */
static void check_kept(struct counter_lines *kept, change_fn change)
{
	const struct synthetic wanted = {.rails = 2, .vendors = true, .netdev = true};
	struct snapshot *s = synthetic_snapshot(&wanted, 1);
	struct strbuf again = {0};

	change(&s->devices[0]);
	assert_int_equal(metrics_render(s, NULL, EXPOSITION_TEXT, kept, &again), 0);
	/* They stand for the next one. */
	assert_true(counter_lines_fit(kept, s));
	render_snapshot(s);
	assert_string_equal(out.data + 1, again.data);
	strbuf_free(&again);
}

static void test_kept_lines_tell_what_lines_made_anew_tell(void **state)
{
	static const change_fn changes[] = {
		change_values, change_saturation, change_port,
		change_source, change_name,	  change_device,
	};
	struct counter_lines kept = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		check_kept(&kept, change_nothing);
		check_kept(&kept, changes[i]);
	}
	check_kept(&kept, change_to_gauge);
	assert_true(has("\nrdma_pingmesh_series_dropped 1\n"));
	check_kept(&kept, change_number);
	assert_true(has("\nrdma_pingmesh_series_dropped 3\n"));
	counter_lines_free(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_have_their_labels_also_for_the_default_class),
		cmocka_unit_test(test_counters_exist_with_zero_before_anything_happened),
		cmocka_unit_test(test_what_is_unknown_is_absent_and_never_nan),
		cmocka_unit_test(test_events_of_ports_carry_the_port_and_others_none),
		cmocka_unit_test(test_an_event_of_an_unheard_of_port_is_not_lost),
		cmocka_unit_test(test_histograms_are_cumulative_and_agree_with_their_count),
		cmocka_unit_test(test_histograms_of_sessions_are_told_on_request_alone),
		cmocka_unit_test(test_port_data_is_told_in_bytes_once),
		cmocka_unit_test(test_the_counters_that_roce_people_ask_for_are_there),
		cmocka_unit_test(test_of_a_narrow_counter_and_its_wide_form_the_wide_one_is_told),
		cmocka_unit_test(test_what_counts_bytes_already_is_told_as_it_is),
		cmocka_unit_test(test_odd_names_of_vendors_do_no_harm),
		cmocka_unit_test(test_pauses_of_a_priority_have_one_name_for_all_vendors),
		cmocka_unit_test(test_other_statistics_of_a_netdev_keep_their_names),
		cmocka_unit_test(test_a_data_counter_near_its_end_does_not_wrap),
		cmocka_unit_test(test_a_saturated_counter_is_flagged_and_told_as_it_is),
		cmocka_unit_test(test_hostile_names_are_escaped),
		cmocka_unit_test(test_sessions_beyond_the_limit_are_left_out_whole),
		cmocka_unit_test(test_no_sessions_are_told_when_nobody_wants_them),
		cmocka_unit_test(test_the_worst_sessions_of_each_rail_are_told),
		cmocka_unit_test(test_a_session_that_comes_twice_is_told_once),
		cmocka_unit_test(test_a_finding_that_comes_twice_is_told_once),
		cmocka_unit_test(test_counters_that_went_stale_leave_but_their_time_stays),
		cmocka_unit_test(test_an_operation_that_was_switched_off_keeps_its_totals),
		cmocka_unit_test(test_kept_lines_tell_what_lines_made_anew_tell),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	strbuf_free(&out);
	return r;
}
