#include "tests/tools/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define WALL_NS (1767225600 * NSEC_PER_SEC) /* 2026-01-01 */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOSSES 3 /* probes of each operation that failed */

const struct synthetic synthetic_default = {
	.rails = 2,
	.peers = 2,
	.ops = {[OP_SEND] = true, [OP_READ] = true, [OP_WRITE] = true},
};

/* What an mlx5 RoCE port has. */
static const char *const mlx5_counters[] = {
	"VL15_dropped",
	"excessive_buffer_overrun_errors",
	"link_downed",
	"link_error_recovery",
	"local_link_integrity_errors",
	"multicast_rcv_packets",
	"multicast_xmit_packets",
	"port_rcv_constraint_errors",
	"port_rcv_data",
	"port_rcv_errors",
	"port_rcv_packets",
	"port_rcv_remote_physical_errors",
	"port_rcv_switch_relay_errors",
	"port_xmit_constraint_errors",
	"port_xmit_data",
	"port_xmit_discards",
	"port_xmit_packets",
	"port_xmit_wait",
	"symbol_error",
	"unicast_rcv_packets",
	"unicast_xmit_packets",
};
static const char *const mlx5_hw_counters[] = {
	"duplicate_request",
	"implied_nak_seq_err",
	"lifespan",
	"local_ack_timeout_err",
	"np_cnp_sent",
	"np_ecn_marked_roce_packets",
	"out_of_buffer",
	"out_of_sequence",
	"packet_seq_err",
	"req_cqe_error",
	"req_cqe_flush_error",
	"req_remote_access_errors",
	"req_remote_invalid_request",
	"req_transport_retries_exceeded",
	"req_rnr_retries_exceeded",
	"resp_cqe_error",
	"resp_cqe_flush_error",
	"resp_local_length_error",
	"resp_remote_access_errors",
	"rnr_nak_retry_err",
	"roce_adp_retrans",
	"roce_adp_retrans_to",
	"roce_slow_restart",
	"roce_slow_restart_cnps",
	"roce_slow_restart_trans",
	"rp_cnp_handled",
	"rp_cnp_ignored",
	"rx_atomic_requests",
	"rx_dct_connect",
	"rx_icrc_encapsulated",
	"rx_read_requests",
	"rx_write_requests",
};

/* Statistics of netdevs of all vendors, as if one driver had them all. */
static const char *const netdev_stats[] = {
	"rx_packets",
	"rx_out_of_buffer",
	"link_down_events_phy",
	"rx_corrected_bits_phy",
	"outbound_pci_stalled_rd",
	"rx_prio3_pause",
	"tx_prio3_pause",
	"rx_prio3_pause_duration",
	"rx_prio3_pause_transition",
	"rx_prio3_discards",
	"rx_prio3_buf_discard",
	"rx_prio3_cong_discard",
	"rx_prio3_marked",
	"rx_prio3_bytes",
	"tx_prio3_packets",
	"rx_pfc_ena_frames_pri4",
	"pfc_pri4_tx_duration_us",
	"rx_priority_5_xoff.nic",
	"rx_priority_5_xon.nic",
	"mac_rx_pfc_pri3_pkt_num", /* a second one of the same series as mlx5's */
	"mac_rx_pfc_pri6_xoff_time",
	"[0]: rx_ucast_packets",
	"rx0_packets",
	"np_cnp_sent", /* a name that the device has too */
	"rx_global_pause",
	"rx_global_pause_duration",
	"rx_pci_signal_integrity",
	"rx_vport_rdma_unicast_bytes",
	"rx_vport_rdma_unicast_packets",
	"rx_vport_rdma_multicast_bytes",
	"rx_vport_rdma_multicast_packets",
	"tx_prio3_pause_duration",
	"tx_global_pause",
	"tx_global_pause_duration",
	"tx_pci_signal_integrity",
	"tx_vport_rdma_unicast_bytes",
	"tx_vport_rdma_unicast_packets",
	"tx_vport_rdma_multicast_bytes",
	"tx_vport_rdma_multicast_packets",
	"rx_global_pause_transition",
	"outbound_pci_stalled_rd_events",
	"outbound_pci_stalled_wr",
	"outbound_pci_stalled_wr_events",
	"outbound_pci_buffer_overflow",
	"rx_pcs_symbol_err_phy",
	"rx_bits_phy",
	"rx_crc_errors_phy",
	"rx_err_lane_0_phy",
	"tx_pause_storm_warning_events",
	"tx_pause_storm_error_events",
	"dev_out_of_buffer",
	"rx_discards_phy",
};

/* Counters of the other vendors that are worth a look: (source, name, port). */
static const struct odd {
	enum counter_source source;
	const char *name;
	uint8_t port;
} odd_counters[] = {
	{SOURCE_HW_COUNTERS, "active_qps", 1},
	{SOURCE_HW_COUNTERS, "RxECNMrkd", 1},
	{SOURCE_HW_COUNTERS, "SDMAIdInt1,32", 1},
	{SOURCE_HW_COUNTERS, "current_rate", 1},
	{SOURCE_HW_COUNTERS, "db_fifo_register", 1},
	{SOURCE_HW_COUNTERS, "ip4InOctets", 0},
	{SOURCE_HW_COUNTERS, "link_downed", 1}, /* also in counters/ */
	{SOURCE_HW_COUNTERS, "num_qps_congested", 0},
	{SOURCE_HW_COUNTERS, "oos_drop_count", 1},
	{SOURCE_HW_COUNTERS, "pfc_pri0_rx_duration_us", 1},
	{SOURCE_HW_COUNTERS, "probe_ok", 1},
	{SOURCE_HW_COUNTERS, "rate_inc_events", 0},
	{SOURCE_HW_COUNTERS, "rate_inc_events", 1},
	{SOURCE_HW_COUNTERS, "rx_bytes", 1},
	{SOURCE_HW_COUNTERS, "rx_corrected_bits", 1},
	{SOURCE_HW_COUNTERS, "sent_total", 1},
	{SOURCE_HW_COUNTERS, "watermark_qps", 1},
	{SOURCE_COUNTERS, "link_downed", 1},
	{SOURCE_COUNTERS, "port_rcv_data", 1},
	{SOURCE_COUNTERS, "port_xmit_data", 1},
	{SOURCE_COUNTERS_EXT, "port_xmit_data_64", 1},
	{SOURCE_COUNTERS_EXT, "port_unicast_rcv_packets", 1},
};

struct maker {
	struct snapshot *s;
	const struct synthetic *wanted;
	uint64_t state; /* of next_value() */
};

/* Values that look alive and are the same in every run. */
static uint64_t next_value(struct maker *m, uint64_t below)
{
	m->state = m->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (m->state >> 33) % below;
}

static int compare_value(const void *a, const void *b)
{
	const struct counter_value *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = x->source - y->source;
	return order ? order : x->port - y->port;
}

static void add_value(struct maker *m, struct snap_device *d, enum counter_source source,
		      const char *name, uint8_t port)
{
	struct counter_value *v = &d->values[d->n_values++];

	snprintf(v->name, sizeof(v->name), "%s", name);
	v->source = source;
	v->port = port;
	if (strcmp(name, "port_rcv_data") == 0 || strcmp(name, "port_xmit_data") == 0) {
		v->value = 230539874932483ULL; /* four times that are 15 digits */
	} else if (strcmp(name, "symbol_error") == 0 && m->wanted->hostile) {
		v->value = UINT16_MAX;
		v->flags = COUNTER_SATURATED;
	} else if (strcmp(name, "np_cnp_sent") == 0 && m->wanted->hostile) {
		v->value = UINT64_MAX;
	} else {
		v->value = next_value(m, 100000);
	}
}

static const char *const legs[] = {"ens1f0np0", "ens1f1np1"};

/* As if the netdev were a bond besides, one of whose legs has no link. */
static void make_bond(struct port_fact *p)
{
	struct port_config_fact *c = &p->config;

	memcpy(c->bond, p->netdev, sizeof(c->bond));
	c->n_members = COUNT(legs);
	c->legs_known = 1 << 0 | 1 << 1;
	c->legs_up = 1 << 0;
	for (size_t i = 0; i < COUNT(legs); i++)
		snprintf(c->members[i], sizeof(c->members[i]), "%s", legs[i]);
}

static void make_config(struct snap_device *d, struct port_fact *p)
{
	d->fact.has_numa_node = true;
	d->fact.pci = d->fact.pci_possible =
		(struct pci_link){.mega_transfers = 32000, .lanes = 16};
	p->expected_rate_bytes_per_second = p->rate_bytes_per_second;
	p->expected_by = RATE_OF_PARTNER;
	p->link = (struct link_fact){.megabits = 400000,
				     .lanes = 4,
				     .possible_megabits = 400000,
				     .partner_megabits = 400000,
				     .common_megabits = 400000,
				     .common_lanes = 4};
	p->config = (struct port_config_fact){
		.netdev_mtu = 4200,
		.pfc_known = true,
		.pfc = 1 << 3,
		.trust = TRUST_DSCP,
		.ecn_np_known = true,
		.ecn_np = 1 << 3,
		.ecn_rp_known = true,
		.ecn_rp = 1 << 3,
		.cnp_dscp_known = true,
		.cnp_dscp = 48,
		.cnp_priority_known = true,
		.cnp_priority = 6,
		.roce_mode = GID_TYPE_ROCE_V2,
		.roce_tos_known = true,
		.roce_tos = 106,
		.forced_tos_known = true,
		.forced_tos = 106,
		.max_rates_known = true,
		.max_kilobits = {[6] = 1000000},
	};
	memset(p->config.dscp_priority, DSCP_UNMAPPED, sizeof(p->config.dscp_priority));
	p->config.dscp_priority[26] = 3;
	make_bond(p);
}

static void make_ports(struct maker *m, struct snap_device *d, const char *netdev)
{
	struct port_fact *p = snapshot_alloc(m->s, 1, sizeof(*p));

	*p = (struct port_fact){
		.port = 1,
		.link_layer = LINK_LAYER_ETHERNET,
		.state_known = 1,
		.phys_state_known = 1,
		.rate_known = 1,
		.state = 4,
		.phys_state = 5,
		.rate_bytes_per_second = 50000000000,
		.state_text = "ACTIVE",
		.phys_state_text = "LinkUp",
		.link_layer_text = "Ethernet",
		.rate_text = "400 Gb/sec (4X NDR)",
	};
	snprintf(p->netdev, sizeof(p->netdev), "%s", netdev);
	d->ports = p;
	d->n_ports = 1;
	if (m->wanted->netdev)
		make_config(d, p);
}

static void make_gids(struct maker *m, struct snap_device *d, unsigned index, const char *netdev)
{
	struct gid_fact *g = snapshot_alloc(m->s, 1, sizeof(*g));
	const uint8_t gid[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 99, [14] = (uint8_t)index, [15] = 1};

	memcpy(g->gid, gid, sizeof(gid));
	g->index = 3;
	g->port = 1;
	g->type = GID_TYPE_ROCE_V2;
	snprintf(g->netdev, sizeof(g->netdev), "%s", netdev);
	d->gids = g;
	d->n_gids = 1;
}

static void make_legs(struct maker *m, struct snap_device *d)
{
	char name[FACT_NAME];

	for (size_t leg = 0; leg < COUNT(legs); leg++)
		for (size_t i = 0; i < COUNT(netdev_stats); i++) {
			snprintf(name, sizeof(name), "%s/%s", legs[leg], netdev_stats[i]);
			add_value(m, d, SOURCE_LEG, name, 1);
		}
}

static void make_mlx5_counters(struct maker *m, struct snap_device *d)
{
	d->values = snapshot_alloc(
		m->s, COUNT(mlx5_counters) + COUNT(mlx5_hw_counters) + 3 * COUNT(netdev_stats),
		sizeof(*d->values));
	for (size_t i = 0; i < COUNT(mlx5_counters); i++)
		add_value(m, d, SOURCE_COUNTERS, mlx5_counters[i], 1);
	for (size_t i = 0; i < COUNT(mlx5_hw_counters); i++)
		add_value(m, d, SOURCE_HW_COUNTERS, mlx5_hw_counters[i], 1);
	for (size_t i = 0; m->wanted->netdev && i < COUNT(netdev_stats); i++)
		add_value(m, d, SOURCE_ETHTOOL, netdev_stats[i], 1);
	if (m->wanted->netdev)
		make_legs(m, d);
	qsort(d->values, d->n_values, sizeof(*d->values), compare_value);
}

static void make_worker(struct maker *m, struct snap_device *d)
{
	d->reason = "";
	d->worker_since_wall_ns = WALL_NS - 3600 * NSEC_PER_SEC;
	if (m->wanted->fresh) {
		d->verdict = VERDICT_UNKNOWN;
		return;
	}
	d->worker_state = WORKER_UP;
	d->worker_up = true;
	for (unsigned i = 0; i < WORKER_LOOPS; i++)
		d->heartbeat_wall_ns[i] = WALL_NS - 100 * NSEC_PER_MSEC;
	d->cpu_ns = 12340000000;
	d->has_rss = true;
	d->rss_bytes = 7340032;
	d->qps_active = d->qps_passive = m->wanted->peers;
	d->counters_success_wall_ns = WALL_NS - 2 * NSEC_PER_SEC;
	d->counters_fresh = true;
	for (unsigned i = 0; i < ASYNC_EVENT_COUNT; i++) {
		if (strcmp(async_event_names[i], "qp_last_wqe_reached") == 0)
			d->async[0][i] = 2;
		if (strcmp(async_event_names[i], "port_active") == 0)
			d->async[1][i] = 1;
	}
}

/* All well; what the driver has no counters for is not applicable. */
static void make_rules(struct maker *m, struct snap_device *d)
{
	struct snap_port_rules *p = snapshot_alloc(m->s, 1, sizeof(*p));

	p->port = 1;
	p->expected = true;
	p->reason = "";
	p->rates = snapshot_alloc(m->s, 1, sizeof(*p->rates));
	p->n_rates = 1;
	p->rates[0] = (struct snap_rate){SIGNAL_TRAFFIC_RX, -1, {true, true}, {1e9, 2e9}};
	for (unsigned i = 0; i < RULE_COUNT; i++) {
		p->rule[i].state = i == RULE_FIRMWARE_STUCK ? RULE_NOT_APPLICABLE : RULE_OK;
		p->rule[i].text = "";
	}
	d->port_rules = p;
	d->n_port_rules = 1;
}

static void make_device(struct maker *m, unsigned index)
{
	struct snap_device *d = &m->s->devices[m->s->n_devices++];
	char netdev[FACT_NETDEV];

	snprintf(netdev, sizeof(netdev), "eth%u", index);
	d->name = snapshot_printf(m->s, "mlx5_%u", index);
	make_worker(m, d);
	if (m->wanted->fresh)
		return;
	snprintf(d->fact.name, sizeof(d->fact.name), "%s", d->name);
	snprintf(d->fact.firmware, sizeof(d->fact.firmware), "28.39.1002");
	snprintf(d->fact.board, sizeof(d->fact.board), "%s",
		 m->wanted->hostile ? "back\\slash \"quoted\" \xff\xfe" : "MT_0000000838");
	d->fact.health[0] = (struct health_fact){.reporter = "fw", .errors = 1, .recoveries = 1};
	d->fact.health[1] = (struct health_fact){.reporter = "fw_fatal"};
	d->fact.n_health = 2;
	snprintf(d->fact.pci_address, sizeof(d->fact.pci_address), "0000:%02x:00.0", index + 0x17);
	make_ports(m, d, netdev);
	make_gids(m, d, index, netdev);
	make_mlx5_counters(m, d);
	make_rules(m, d);
}

static void make_odd_device(struct maker *m)
{
	struct snap_device *d = &m->s->devices[m->s->n_devices++];

	d->name = "odd0";
	make_worker(m, d);
	make_ports(m, d, "eth99");
	d->values = snapshot_alloc(m->s, COUNT(odd_counters), sizeof(*d->values));
	for (size_t i = 0; i < COUNT(odd_counters); i++)
		add_value(m, d, odd_counters[i].source, odd_counters[i].name, odd_counters[i].port);
	qsort(d->values, d->n_values, sizeof(*d->values), compare_value);
}

static void make_books(struct maker *m, struct op_books *b, unsigned op)
{
	b->interval_ns = (op == OP_WRITE ? 10 : 1) * NSEC_PER_SEC;
	if (m->wanted->fresh)
		return;
	b->sent = 3600 + next_value(m, 100);
	b->failed[FAIL_TIMEOUT] = LOSSES;
	b->aborted[ABORT_DRAIN] = 1;
	b->in_flight = 1;
	b->ok = b->sent - LOSSES - 2;
	b->late = 1;
	b->self_delayed = 2;
	b->not_attempted[SKIP_NOT_CONNECTED] = 2;
	b->scheduled = b->sent + 2;
	b->retransmits_suspected = 4;
	b->rtt_count = b->ok + b->late - b->self_delayed;
	b->rtt_sum_ns = b->rtt_count * 8123;
	b->last_attempt_wall_ns = b->last_success_wall_ns = WALL_NS - 250 * NSEC_PER_MSEC;
}

static void add_books(struct op_books *into, const struct op_books *b)
{
	into->interval_ns = b->interval_ns;
	into->scheduled += b->scheduled;
	into->sent += b->sent;
	into->ok += b->ok;
	into->failed[FAIL_TIMEOUT] += b->failed[FAIL_TIMEOUT];
	into->aborted[ABORT_DRAIN] += b->aborted[ABORT_DRAIN];
	into->in_flight += b->in_flight;
	into->late += b->late;
	into->self_delayed += b->self_delayed;
	into->not_attempted[SKIP_NOT_CONNECTED] += b->not_attempted[SKIP_NOT_CONNECTED];
	into->rtt_count += b->rtt_count;
}

static void make_connection(struct snap_session *s, unsigned peer, unsigned rail)
{
	const uint8_t local[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 99, [14] = (uint8_t)rail, [15] = 1};

	s->has_conn = true;
	memcpy(s->local_gid, local, 16);
	memcpy(s->remote_gid, local, 16);
	s->remote_gid[15] = (uint8_t)(peer + 2);
	s->qpn = 0x100 + peer;
	s->remote_qpn = 0x200 + peer;
	s->udp_source_port = 54024 + peer;
}

/* The second peer is the one with a trouble. */
static void make_judgement(struct maker *m, struct snap_session *s, unsigned peer)
{
	s->reason = "";
	if (m->wanted->fresh) {
		s->verdict = VERDICT_UNKNOWN;
		return;
	}
	s->state = SESSION_UP;
	s->verdict_since_wall_ns = WALL_NS - 1800 * NSEC_PER_SEC;
	s->has_loss = true;
	s->window_seconds = 60;
	if (peer != 1)
		return;
	s->verdict = VERDICT_FAILING;
	s->cause = CAUSE_REMOTE_HOST;
	s->reason = "the host stopped answering; its NIC still does READs";
	s->loss_ratio = 0.25;
}

static void make_hist(const struct op_books *b, struct hist *h)
{
	for (uint64_t i = 0; i < b->rtt_count; i++)
		hist_add(h, 6000 + i % 4 * 2500);
}

static void make_hists(struct maker *m, struct snap_session *s)
{
	struct hist *hist = m->wanted->per_peer == PER_PEER_HISTOGRAM
				    ? snapshot_alloc(m->s, OP_COUNT, sizeof(*hist))
				    : NULL;

	for (unsigned op = 0; hist && op < OP_COUNT; op++)
		make_hist(&s->op[op], &hist[op]);
	s->hist = hist;
}

static void make_session(struct maker *m, unsigned peer, unsigned rail)
{
	struct snap_session *s = &m->s->sessions[m->s->n_sessions++];
	struct snap_rail_class *totals = &m->s->rails[rail].classes[0];

	s->peer = m->s->peers[m->s->n_peers - 1].peer;
	s->rail = s->peer_rail = m->s->rails[rail].name;
	s->class_name = "default";
	s->address = snapshot_printf(m->s, "10.99.%u.%u", rail, peer + 2);
	s->device = m->s->devices[rail].name;
	s->since_wall_ns = WALL_NS - 3600 * NSEC_PER_SEC;
	make_judgement(m, s, peer);
	m->s->rails[rail].sessions[s->state]++;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (!m->wanted->ops[op])
			continue;
		make_books(m, &s->op[op], op);
		add_books(&totals->op[op], &s->op[op]);
	}
	make_hists(m, s);
	if (m->wanted->fresh)
		return;
	make_connection(s, peer, rail);
	s->last_success_wall_ns = WALL_NS - 250 * NSEC_PER_MSEC;
	for (unsigned i = 0; i < STREAM_COUNT; i++)
		s->stream[i] = (struct snap_quantiles){7000 + 1000 * i, 21000 + 1000 * i, 60};
}

static void make_rail(struct maker *m, unsigned index)
{
	struct snap_rail *r = &m->s->rails[m->s->n_rails++];

	r->name = m->s->devices[index].name;
	r->classes = snapshot_alloc(m->s, 1, sizeof(*r->classes));
	r->classes[0].class_name = "default";
	r->n_classes = 1;
	r->present = r->up = !m->wanted->fresh;
	if (m->wanted->fresh)
		return;
	snprintf(r->fact.name, sizeof(r->fact.name), "%s", r->name);
	snprintf(r->fact.device, sizeof(r->fact.device), "%s", r->name);
	snprintf(r->fact.netdev, sizeof(r->fact.netdev), "eth%u", index);
	snprintf(r->fact.address, sizeof(r->fact.address), "10.99.%u.1", index);
	memcpy(r->fact.gid, m->s->devices[index].gids[0].gid, 16);
	r->fact.gid_index = 3;
	r->fact.gid_type = GID_TYPE_ROCE_V2;
	r->fact.port = 1;
	r->fact.up = 1;
	if (m->wanted->netdev)
		r->fact.mtu = 4096;
	r->totals.attempts = m->wanted->peers + 1;
	r->totals.failures[CONNECT_REJECTED] = 1;
	r->totals.drains[DRAIN_LAST_WQE] = 1;
	r->totals.refused[REFUSE_NOT_LISTED] = 4;
}

static void make_findings(struct maker *m)
{
	struct snap_finding *f = snapshot_alloc(m->s, 1, sizeof(*f));
	struct snap_evidence *e = snapshot_alloc(m->s, 1, sizeof(*e));

	if (m->wanted->fresh || m->wanted->peers < 2)
		return;
	*e = (struct snap_evidence){"rdma_probe_failed_total", LOSSES, 2, 60};
	*f = (struct snap_finding){
		.cause = CAUSE_REMOTE_HOST,
		.subject = snapshot_printf(m->s, "peer:%s", m->s->peers[m->wanted->rails].peer),
		.text = "the host stopped answering; its NIC still does READs",
		.since_wall_ns = WALL_NS - 1800 * NSEC_PER_SEC,
		.n_evidence = 1,
		.evidence = e,
	};
	m->s->findings = f;
	m->s->n_findings = 1;
}

static void make_peer(struct maker *m, unsigned index, unsigned rail)
{
	struct snap_peer *p = &m->s->peers[m->s->n_peers++];

	p->peer = snapshot_printf(m->s, "host%03u", index + 2);
	if (m->wanted->hostile && index == 0)
		p->peer = "a\"\\\n\xc3\xa9<script>\xff";
	p->peer_rail = m->s->rails[rail].name;
	p->address = snapshot_printf(m->s, "10.99.%u.%u", rail, index + 2);
	p->rack = snapshot_printf(m->s, "r%u", index / 16 + 1);
	p->pod = "p1";
}

static void make_host(struct maker *m, uint64_t mono_ns)
{
	struct snapshot *s = m->s;

	s->mono_ns = mono_ns;
	s->wall_ns = WALL_NS;
	s->instance = "0123456789abcdef";
	s->host = "host001";
	s->version = "0.1.0";
	s->start_wall_ns = WALL_NS - 3600 * NSEC_PER_SEC;
	s->start_mono_ns = mono_ns > 3600 * NSEC_PER_SEC ? mono_ns - 3600 * NSEC_PER_SEC : 0;
	s->verdict = m->wanted->fresh ? VERDICT_UNKNOWN : VERDICT_DEGRADED;
	s->cause = m->wanted->fresh ? CAUSE_NONE : CAUSE_REMOTE_HOST;
	s->reason = m->wanted->fresh ? "nothing has been measured yet" : "1 peer is failing";
	s->config_hash = "00c0ffee00c0ffee";
	if (m->wanted->netdev)
		s->fabric.fingerprint = "0fab1c0fab1c0fab";
	s->last_reload_ok = true;
	s->last_reload_success_wall_ns = s->start_wall_ns;
	s->per_peer = m->wanted->per_peer;
	s->max_series = m->wanted->max_series;
	s->also_node_exporter = s->also_rdma_exporter = m->wanted->also;
	s->rails_expected = m->wanted->rails;
	s->loop_lag_ns = 120000;
	s->journal = (struct snap_journal){.on_disk = true, .kept = true, .events = 17};
}

static bool make_arrays(struct maker *m)
{
	struct snapshot *s = m->s;
	const struct synthetic *w = m->wanted;

	s->devices = snapshot_alloc(s, w->rails + 1, sizeof(*s->devices));
	s->rails = snapshot_alloc(s, w->rails, sizeof(*s->rails));
	s->peers = snapshot_alloc(s, (size_t)w->rails * w->peers, sizeof(*s->peers));
	s->sessions = snapshot_alloc(s, (size_t)w->rails * w->peers, sizeof(*s->sessions));
	s->loopbacks = snapshot_alloc(s, w->rails, sizeof(*s->loopbacks));
	return s->devices && s->rails && s->peers && s->sessions && s->loopbacks;
}

static void make_loopback(struct maker *m, unsigned rail)
{
	struct snap_session *s = &m->s->loopbacks[m->s->n_loopbacks++];

	s->peer = m->s->host;
	s->rail = s->peer_rail = m->s->rails[rail].name;
	s->class_name = "default";
	s->address = snapshot_printf(m->s, "10.99.%u.1", rail);
	s->device = m->s->devices[rail].name;
	s->reason = "";
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (m->wanted->ops[op])
			make_books(m, &s->op[op], op);
	if (m->wanted->fresh)
		return;
	s->state = SESSION_UP;
	for (unsigned i = 0; i < STREAM_COUNT; i++)
		s->stream[i] = (struct snap_quantiles){5000 + 1000 * i, 11000 + 1000 * i, 60};
}

struct snapshot *synthetic_snapshot(const struct synthetic *wanted, uint64_t mono_ns)
{
	struct maker m = {.s = snapshot_new(NULL), .wanted = wanted, .state = 1};

	if (!m.s || !make_arrays(&m)) {
		snapshot_unref(m.s);
		return NULL;
	}
	make_host(&m, mono_ns);
	for (unsigned i = 0; i < wanted->rails; i++)
		make_device(&m, i);
	if (wanted->vendors)
		make_odd_device(&m);
	for (unsigned i = 0; i < wanted->rails; i++)
		make_rail(&m, i);
	for (unsigned p = 0; p < wanted->peers; p++) {
		for (unsigned r = 0; r < wanted->rails; r++) {
			make_peer(&m, p, r);
			make_session(&m, p, r);
		}
	}
	for (unsigned r = 0; r < wanted->rails; r++) {
		struct snap_rail_class *c = &m.s->rails[r].classes[0];

		for (unsigned i = 0; i < STREAM_COUNT; i++)
			make_hist(&c->op[i == STREAM_ACK ? OP_SEND : i], &c->hist[i]);
	}
	for (unsigned r = 0; wanted->loopback && r < wanted->rails; r++)
		make_loopback(&m, r);
	make_findings(&m);
	return m.s;
}
