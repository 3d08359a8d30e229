#include "exporters/also.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/metrics_parts.h"
#include "probes/counter_delta.h"
#include "probes/counter_table.h"

#define HELP_SIZE 256
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Its name after node_infiniband_ and without _total. hw_counters are told by it since 1.11. */
static const struct node_name {
	enum counter_source source;
	const char *file, *told;
} node_names[] = {
	{SOURCE_COUNTERS_EXT, "port_multicast_rcv_packets", "legacy_multicast_packets_received"},
	{SOURCE_COUNTERS_EXT, "port_multicast_xmit_packets",
	 "legacy_multicast_packets_transmitted"},
	{SOURCE_COUNTERS_EXT, "port_rcv_data_64", "legacy_data_received_bytes"},
	{SOURCE_COUNTERS_EXT, "port_rcv_packets_64", "legacy_packets_received"},
	{SOURCE_COUNTERS_EXT, "port_unicast_rcv_packets", "legacy_unicast_packets_received"},
	{SOURCE_COUNTERS_EXT, "port_unicast_xmit_packets", "legacy_unicast_packets_transmitted"},
	{SOURCE_COUNTERS_EXT, "port_xmit_data_64", "legacy_data_transmitted_bytes"},
	{SOURCE_COUNTERS_EXT, "port_xmit_packets_64", "legacy_packets_transmitted"},
	{SOURCE_COUNTERS, "excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors"},
	{SOURCE_COUNTERS, "link_downed", "link_downed"},
	{SOURCE_COUNTERS, "link_error_recovery", "link_error_recovery"},
	{SOURCE_COUNTERS, "local_link_integrity_errors", "local_link_integrity_errors"},
	{SOURCE_COUNTERS, "multicast_rcv_packets", "multicast_packets_received"},
	{SOURCE_COUNTERS, "multicast_xmit_packets", "multicast_packets_transmitted"},
	{SOURCE_COUNTERS, "port_rcv_constraint_errors", "port_constraint_errors_received"},
	{SOURCE_COUNTERS, "port_xmit_constraint_errors", "port_constraint_errors_transmitted"},
	{SOURCE_COUNTERS, "port_rcv_data", "port_data_received_bytes"},
	{SOURCE_COUNTERS, "port_xmit_data", "port_data_transmitted_bytes"},
	{SOURCE_COUNTERS, "port_rcv_discards", "port_discards_received"},
	{SOURCE_COUNTERS, "port_xmit_discards", "port_discards_transmitted"},
	{SOURCE_COUNTERS, "port_rcv_errors", "port_errors_received"},
	{SOURCE_COUNTERS, "port_rcv_packets", "port_packets_received"},
	{SOURCE_COUNTERS, "port_xmit_packets", "port_packets_transmitted"},
	{SOURCE_COUNTERS, "port_rcv_remote_physical_errors", "port_receive_remote_physical_errors"},
	{SOURCE_COUNTERS, "port_rcv_switch_relay_errors", "port_receive_switch_relay_errors"},
	{SOURCE_COUNTERS, "port_xmit_wait", "port_transmit_wait"},
	{SOURCE_COUNTERS, "symbol_error", "symbol_error"},
	{SOURCE_COUNTERS, "unicast_rcv_packets", "unicast_packets_received"},
	{SOURCE_COUNTERS, "unicast_xmit_packets", "unicast_packets_transmitted"},
	{SOURCE_COUNTERS, "VL15_dropped", "vl15_dropped"},
	{SOURCE_HW_COUNTERS, "duplicate_request", "duplicate_requests_packets"},
	{SOURCE_HW_COUNTERS, "implied_nak_seq_err", "implied_nak_seq_errors"},
	{SOURCE_HW_COUNTERS, "local_ack_timeout_err", "local_ack_timeout_errors"},
	{SOURCE_HW_COUNTERS, "np_cnp_sent", "np_cnp_packets_sent"},
	{SOURCE_HW_COUNTERS, "np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets_received"},
	{SOURCE_HW_COUNTERS, "out_of_buffer", "out_of_buffer_drops"},
	{SOURCE_HW_COUNTERS, "out_of_sequence", "out_of_sequence_packets_received"},
	{SOURCE_HW_COUNTERS, "packet_seq_err", "packet_sequence_errors"},
	{SOURCE_HW_COUNTERS, "req_cqe_error", "req_cqes_errors"},
	{SOURCE_HW_COUNTERS, "req_cqe_flush_error", "req_cqes_flush_errors"},
	{SOURCE_HW_COUNTERS, "req_remote_access_errors", "req_remote_access_errors"},
	{SOURCE_HW_COUNTERS, "req_remote_invalid_request", "req_remote_invalid_request_errors"},
	{SOURCE_HW_COUNTERS, "resp_cqe_error", "resp_cqes_errors"},
	{SOURCE_HW_COUNTERS, "resp_cqe_flush_error", "resp_cqes_flush_errors"},
	{SOURCE_HW_COUNTERS, "resp_local_length_error", "resp_local_length_errors"},
	{SOURCE_HW_COUNTERS, "resp_remote_access_errors", "resp_remote_access_errors"},
	{SOURCE_HW_COUNTERS, "rnr_nak_retry_err", "rnr_nak_retry_packets_received"},
	{SOURCE_HW_COUNTERS, "roce_adp_retrans", "roce_adp_retransmits"},
	{SOURCE_HW_COUNTERS, "roce_adp_retrans_to", "roce_adp_retransmits_timeout"},
	{SOURCE_HW_COUNTERS, "roce_slow_restart", "roce_slow_restart_used"},
	{SOURCE_HW_COUNTERS, "roce_slow_restart_cnps", "roce_slow_restart_cnps"},
	{SOURCE_HW_COUNTERS, "roce_slow_restart_trans", "roce_slow_restart"},
	{SOURCE_HW_COUNTERS, "rp_cnp_handled", "rp_cnp_packets_handled"},
	{SOURCE_HW_COUNTERS, "rp_cnp_ignored", "rp_cnp_ignored_packets_received"},
	{SOURCE_HW_COUNTERS, "rx_atomic_requests", "rx_atomic_requests"},
	{SOURCE_HW_COUNTERS, "rx_dct_connect", "rx_dct_connect_requests"},
	{SOURCE_HW_COUNTERS, "rx_icrc_encapsulated", "rx_icrc_encapsulated_errors"},
	{SOURCE_HW_COUNTERS, "rx_read_requests", "rx_read_requests"},
	{SOURCE_HW_COUNTERS, "rx_write_requests", "rx_write_requests"},
};

static void put_counter(struct exposition *e, const struct snapshot *s, const struct node_name *n)
{
	const struct counter_row *row = counter_row_of(n->source, n->file);
	char name[FAMILY_NAME_MAX + 1], help[HELP_SIZE];

	snprintf(name, sizeof(name), "node_infiniband_%s", n->told);
	snprintf(help, sizeof(help), "As node_exporter names %s%s%s.", n->file,
		 row->help[0] ? ": " : "", row->help);
	exposition_family(e, name, FAMILY_COUNTER, help);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; k < d->n_ports; k++) {
			const struct counter_value *v =
				snap_device_value(d, n->file, n->source, d->ports[k].port);

			if (v && metrics_open_port(e, d, v->port))
				exposition_u64(e, row->unit == UNIT_WORDS ? counter_bytes(v->value)
									  : v->value);
		}
	}
}

static void put_info(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "node_infiniband_info", FAMILY_GAUGE,
			  "As node_exporter tells what the device is; always 1.");
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		if (d->gone || !d->counters_fresh || !exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_label(e, "device", d->name);
		exposition_label(e, "board_id", d->fact.board);
		exposition_label(e, "firmware_version", d->fact.firmware);
		exposition_label(e, "hca_type", d->fact.hca_type);
		exposition_u64(e, 1);
	}
}

enum port_gauge { GAUGE_PHYSICAL_STATE, GAUGE_RATE, GAUGE_STATE };

static bool gauge_value(const struct port_fact *p, enum port_gauge gauge, uint64_t *ret)
{
	switch (gauge) {
	case GAUGE_PHYSICAL_STATE:
		*ret = p->phys_state;
		return p->phys_state_known;
	case GAUGE_RATE:
		*ret = p->rate_bytes_per_second;
		return p->rate_known;
	case GAUGE_STATE:
		*ret = p->state;
		return p->state_known;
	}
	return false;
}

static void put_gauge(struct exposition *e, const struct snapshot *s, enum port_gauge gauge,
		      const char *name, const char *help)
{
	uint64_t value;

	exposition_family(e, name, FAMILY_GAUGE, help);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; k < d->n_ports; k++)
			if (gauge_value(&d->ports[k], gauge, &value) &&
			    metrics_open_port(e, d, d->ports[k].port))
				exposition_u64(e, value);
	}
}

void also_put_node(struct exposition *e, const struct snapshot *s)
{
	put_info(e, s);
	put_gauge(e, s, GAUGE_STATE, "node_infiniband_state_id",
		  "As node_exporter tells the port's state: 1 down, 2 init, 3 armed, 4 active, "
		  "5 active deferred.");
	put_gauge(e, s, GAUGE_PHYSICAL_STATE, "node_infiniband_physical_state_id",
		  "As node_exporter tells the port's physical state: 2 polling, 3 disabled, 5 link "
		  "up.");
	put_gauge(e, s, GAUGE_RATE, "node_infiniband_rate_bytes_per_second",
		  "As node_exporter tells the port's rate.");
	for (size_t i = 0; i < COUNT(node_names); i++)
		put_counter(e, s, &node_names[i]);
}
