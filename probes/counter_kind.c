#include "probes/counter_kind.h"

#include <stdlib.h>
#include <string.h>

#define STICKS_4 15u
#define STICKS_8 UINT8_MAX
#define STICKS_16 UINT16_MAX
#define STICKS_32 UINT32_MAX

/* A backward step is a wrap only when it crosses the upper quarter of 32 bits: no NIC counts a
 * quarter of that in one round, and a reset from there is rare. */
#define WRAP_GROWTH_MAX (1u << 30)

struct named_kind {
	const char *name;
	struct counter_kind kind;
};

/* IB PortCounters as the kernel's counters/ has them, sorted by strcmp. Data and packet counters
 * are 64 bits wide, or stick at 32 where the port has no extended table. */
static const struct named_kind pma_kinds[] = {
	{"VL15_dropped", {.sticks_at = STICKS_16}},
	{"excessive_buffer_overrun_errors", {.sticks_at = STICKS_4}},
	{"link_downed", {.sticks_at = STICKS_8}},
	{"link_error_recovery", {.sticks_at = STICKS_8}},
	{"local_link_integrity_errors", {.sticks_at = STICKS_4}},
	{"multicast_rcv_packets", {.bits = 64}},
	{"multicast_xmit_packets", {.bits = 64}},
	{"port_rcv_constraint_errors", {.sticks_at = STICKS_8}},
	{"port_rcv_data", {.bits = 64, .data_words = true, .sticks_at = STICKS_32}},
	{"port_rcv_errors", {.sticks_at = STICKS_16}},
	{"port_rcv_packets", {.bits = 64, .sticks_at = STICKS_32}},
	{"port_rcv_remote_physical_errors", {.sticks_at = STICKS_16}},
	{"port_rcv_switch_relay_errors", {.sticks_at = STICKS_16}},
	{"port_xmit_constraint_errors", {.sticks_at = STICKS_8}},
	{"port_xmit_data", {.bits = 64, .data_words = true, .sticks_at = STICKS_32}},
	{"port_xmit_discards", {.sticks_at = STICKS_16}},
	{"port_xmit_packets", {.bits = 64, .sticks_at = STICKS_32}},
	{"port_xmit_wait", {.sticks_at = STICKS_32}},
	{"symbol_error", {.sticks_at = STICKS_16}},
	{"unicast_rcv_packets", {.bits = 64}},
	{"unicast_xmit_packets", {.bits = 64}},
};

/* hw_counters/ of all vendors whose width is known, sorted by strcmp. Where one name has 32 bits
 * with one driver and 64 with another (duplicate_request), 32 stands here. */
static const struct named_kind hw_kinds[] = {
	{"cc_rx_ce_pkts", {.bits = 64}},
	{"cc_rx_cnp_pkts", {.bits = 64}},
	{"cc_tx_cnp_pkts", {.bits = 64}},
	{"completer_retry_err", {.bits = 64}},
	{"current_rate", {.bits = 64, .gauge = true}},
	{"db_fifo_register", {.gauge = true}},
	{"duplicate_request", {.bits = 32}},
	{"implied_nak_seq_err", {.bits = 32}},
	{"lifespan", {.hidden = true}},
	{"local_ack_timeout_err", {.bits = 32}},
	{"np_cnp_sent", {.bits = 64}},
	{"np_ecn_marked_roce_packets", {.bits = 64}},
	{"num_cqovf", {.bits = 32}},
	{"num_qps_congested", {.bits = 64, .gauge = true}},
	{"out_of_buffer", {.bits = 32}},
	{"out_of_seq_request", {.bits = 64}},
	{"out_of_sequence", {.bits = 32}},
	{"packet_seq_err", {.bits = 32}},
	{"rcvd_pkts", {.bits = 64}},
	{"rcvd_rnr_err", {.bits = 64}},
	{"rcvd_seq_err", {.bits = 64}},
	{"rdma_recvs", {.bits = 64}},
	{"rdma_sends", {.bits = 64}},
	{"req_cqe_error", {.bits = 32}},
	{"req_cqe_flush_error", {.bits = 32}},
	{"req_remote_access_errors", {.bits = 32}},
	{"req_remote_invalid_request", {.bits = 32}},
	{"req_rnr_retries_exceeded", {.bits = 32}},
	{"req_transport_retries_exceeded", {.bits = 32}},
	{"resp_cqe_error", {.bits = 32}},
	{"resp_cqe_flush_error", {.bits = 32}},
	{"resp_local_length_error", {.bits = 32}},
	{"resp_remote_access_errors", {.bits = 32}},
	{"retry_exceeded_err", {.bits = 64}},
	{"rnr_nak_retry_err", {.bits = 32}},
	{"roce_adp_retrans", {.bits = 32}},
	{"roce_adp_retrans_to", {.bits = 32}},
	{"roce_slow_restart", {.bits = 32}},
	{"roce_slow_restart_cnps", {.bits = 32}},
	{"roce_slow_restart_trans", {.bits = 32}},
	{"rp_cnp_handled", {.bits = 64}},
	{"rp_cnp_ignored", {.bits = 64}},
	{"rx_atomic_requests", {.bits = 32}},
	{"rx_bytes", {.bits = 64}},
	{"rx_cnp_pkts", {.bits = 64}},
	{"rx_dct_connect", {.bits = 32}},
	{"rx_ecn_marked_pkts", {.bits = 64}},
	{"rx_icrc_encapsulated", {.bits = 64}},
	{"rx_pkts", {.bits = 64}},
	{"rx_read_requests", {.bits = 32}},
	{"rx_write_requests", {.bits = 32}},
	{"send_err", {.bits = 64}},
	{"send_rnr_err", {.bits = 64}},
	{"sent_pkts", {.bits = 64}},
	{"seq_err_naks_rcvd", {.bits = 64}},
	{"to_retransmits", {.bits = 64}},
	{"tx_bytes", {.bits = 64}},
	{"tx_cnp_pkts", {.bits = 64}},
	{"tx_pkts", {.bits = 64}},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static int compare_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct named_kind *)entry)->name);
}

static const struct counter_kind *find(const struct named_kind *table, size_t n, const char *name)
{
	const struct named_kind *found = bsearch(name, table, n, sizeof(*table), compare_name);

	return found ? &found->kind : NULL;
}

static struct counter_kind pma_kind(const char *name)
{
	const struct counter_kind *known = find(pma_kinds, COUNT(pma_kinds), name);

	return known ? *known : (struct counter_kind){0};
}

/* counters_ext exists to be wide: every file of it has 64 bits. */
static struct counter_kind ext_kind(const char *name)
{
	struct counter_kind kind = {.bits = 64};

	kind.data_words =
		strcmp(name, "port_rcv_data_64") == 0 || strcmp(name, "port_xmit_data_64") == 0;
	return kind;
}

static struct counter_kind hw_kind(const char *name)
{
	const struct counter_kind *known;

	/* In switchdev mode mlx5 tells the same Q counters per representor. */
	if (has_prefix(name, "vport_"))
		name += strlen("vport_");
	known = find(hw_kinds, COUNT(hw_kinds), name);
	if (known)
		return *known;
	if (has_prefix(name, "active_") || has_prefix(name, "watermark_"))
		return (struct counter_kind){.gauge = true};
	if (has_prefix(name, "rq_num_") || has_prefix(name, "sq_num_"))
		return (struct counter_kind){.bits = 32};
	return (struct counter_kind){0};
}

struct counter_kind counter_kind_of(enum counter_source source, const char *name)
{
	switch (source) {
	case SOURCE_COUNTERS:
		return pma_kind(name);
	case SOURCE_COUNTERS_EXT:
		return ext_kind(name);
	case SOURCE_HW_COUNTERS:
		return hw_kind(name);
	}
	return (struct counter_kind){0};
}

bool counter_name_plain(const char *name)
{
	if (*name < 'a' || *name > 'z')
		return false;
	for (; *name; name++) {
		bool letter = *name >= 'a' && *name <= 'z';
		bool digit = *name >= '0' && *name <= '9';

		if (!letter && !digit && *name != '_')
			return false;
	}
	return true;
}

bool counter_wide_form(enum counter_source source, const char *name, char ret[FACT_NAME])
{
	size_t len = strnlen(name, FACT_NAME);

	if (source != SOURCE_COUNTERS_EXT || len == FACT_NAME || len <= strlen("_64") ||
	    strcmp(name + len - strlen("_64"), "_64") != 0)
		return false;
	len -= strlen("_64");
	memcpy(ret, name, len);
	ret[len] = '\0';
	return true;
}

uint64_t counter_bytes(uint64_t words)
{
	return words > UINT64_MAX / 4 ? UINT64_MAX : words * 4;
}

bool counter_saturated(const struct counter_kind *kind, uint64_t value)
{
	return kind->sticks_at != 0 && value == kind->sticks_at;
}

static bool may_wrap(const struct counter_kind *kind, uint64_t before)
{
	return kind->bits != 64 && kind->sticks_at == 0 && before <= UINT32_MAX;
}

bool counter_growth(const struct counter_kind *kind, uint64_t before, uint64_t now, uint64_t *ret)
{
	uint32_t over_wrap = (uint32_t)(now - before);

	*ret = 0;
	if (now >= before) {
		*ret = now - before;
		return true;
	}
	if (!may_wrap(kind, before) || over_wrap >= WRAP_GROWTH_MAX)
		return false;
	*ret = over_wrap;
	return true;
}
