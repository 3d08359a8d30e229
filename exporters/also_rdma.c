#include "exporters/also.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/metric_name.h"
#include "probes/counter_name.h"
#include "probes/counter_table.h"

#define HELP_SIZE 256
#define PRIORITIES 8
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A statistic of the netdev (# stands for a number), and the family and labels it has there. What
 * is told by its own name as rdma_netdev_<name> is so by us as well, and not in here. */
static const struct stat_name {
	const char *family, *stat;
	const char *number_key; /* label of #; NULL: there is none */
	const char *key, *value;
	const char *key2, *value2;
} stat_names[] = {
	{"rdma_roce_pfc_pause_frames", "rx_prio#_pause", "priority", "direction", "rx"},
	{"rdma_roce_pfc_pause_frames", "tx_prio#_pause", "priority", "direction", "tx"},
	{"rdma_roce_pfc_pause_duration", "rx_prio#_pause_duration", "priority", "direction", "rx"},
	{"rdma_roce_pfc_pause_duration", "tx_prio#_pause_duration", "priority", "direction", "tx"},
	{"rdma_roce_pfc_pause_transitions", "rx_prio#_pause_transition", "priority", "direction",
	 "rx"},
	{"rdma_roce_pfc_pause_transitions", "tx_prio#_pause_transition", "priority", "direction",
	 "tx"},
	{"rdma_netdev_prio_buf_discard", "rx_prio#_buf_discard", "priority"},
	{"rdma_netdev_prio_cong_discard", "rx_prio#_cong_discard", "priority"},
	{"rdma_netdev_prio_discards", "rx_prio#_discards", "priority"},
	{"rdma_netdev_prio_ecn_marked", "rx_prio#_marked", "priority"},
	{"rdma_pcie_outbound_stalled_percent", "outbound_pci_stalled_rd", NULL, "op", "rd"},
	{"rdma_pcie_outbound_stalled_percent", "outbound_pci_stalled_wr", NULL, "op", "wr"},
	{"rdma_pcie_outbound_stalled_seconds", "outbound_pci_stalled_rd_events", NULL, "op", "rd"},
	{"rdma_pcie_outbound_stalled_seconds", "outbound_pci_stalled_wr_events", NULL, "op", "wr"},
	{"rdma_pcie_outbound_buffer_overflow", "outbound_pci_buffer_overflow"},
	{"rdma_pcie_signal_integrity", "rx_pci_signal_integrity", NULL, "direction", "rx"},
	{"rdma_pcie_signal_integrity", "tx_pci_signal_integrity", NULL, "direction", "tx"},
	{"rdma_phy_rx_corrected_bits", "rx_corrected_bits_phy"},
	{"rdma_phy_rx_pcs_symbol_err", "rx_pcs_symbol_err_phy"},
	{"rdma_phy_rx_bits", "rx_bits_phy"},
	{"rdma_phy_rx_err_lane", "rx_err_lane_#_phy", "lane"},
	{"rdma_phy_rx_crc_errors", "rx_crc_errors_phy"},
	{"rdma_phy_link_down_events", "link_down_events_phy"},
	{"rdma_netdev_global_pause_frames", "rx_global_pause", NULL, "direction", "rx"},
	{"rdma_netdev_global_pause_frames", "tx_global_pause", NULL, "direction", "tx"},
	{"rdma_netdev_global_pause_duration", "rx_global_pause_duration", NULL, "direction", "rx"},
	{"rdma_netdev_global_pause_duration", "tx_global_pause_duration", NULL, "direction", "tx"},
	{"rdma_netdev_global_pause_transitions", "rx_global_pause_transition"},
	{"rdma_netdev_pause_storm_events", "tx_pause_storm_warning_events", NULL, "severity",
	 "warning"},
	{"rdma_netdev_pause_storm_events", "tx_pause_storm_error_events", NULL, "severity",
	 "error"},
	{"rdma_netdev_vport_rdma_bytes", "rx_vport_rdma_unicast_bytes", NULL, "direction", "rx",
	 "traffic", "unicast"},
	{"rdma_netdev_vport_rdma_bytes", "tx_vport_rdma_unicast_bytes", NULL, "direction", "tx",
	 "traffic", "unicast"},
	{"rdma_netdev_vport_rdma_bytes", "rx_vport_rdma_multicast_bytes", NULL, "direction", "rx",
	 "traffic", "multicast"},
	{"rdma_netdev_vport_rdma_bytes", "tx_vport_rdma_multicast_bytes", NULL, "direction", "tx",
	 "traffic", "multicast"},
	{"rdma_netdev_vport_rdma_packets", "rx_vport_rdma_unicast_packets", NULL, "direction", "rx",
	 "traffic", "unicast"},
	{"rdma_netdev_vport_rdma_packets", "tx_vport_rdma_unicast_packets", NULL, "direction", "tx",
	 "traffic", "unicast"},
	{"rdma_netdev_vport_rdma_packets", "rx_vport_rdma_multicast_packets", NULL, "direction",
	 "rx", "traffic", "multicast"},
	{"rdma_netdev_vport_rdma_packets", "tx_vport_rdma_multicast_packets", NULL, "direction",
	 "tx", "traffic", "multicast"},
};

struct item {
	char family[FAMILY_NAME_MAX + 1];
	const struct snap_device *device;
	const struct port_fact *port;
	const struct counter_value *value;
	const struct stat_name *stat; /* NULL: a counter of sysfs */
	unsigned number;
};

struct items {
	struct item *item;
	size_t n;
	/* Families of ours that have names made of the drivers' ones, sorted. */
	char (*ours)[FAMILY_NAME_MAX + 1];
	size_t n_ours;
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool is_ours(const struct items *all, const char *family)
{
	return bsearch(family, all->ours, all->n_ours, sizeof(*all->ours), compare_text);
}

/* The family in which we tell a value, if it is one of its name. */
static void add_ours(struct items *all, const struct counter_value *v)
{
	static const char *const prefix[] = {
		[METRIC_PORT] = "", [METRIC_DEVICE] = "device_", [METRIC_NETDEV] = "netdev_"};
	enum metric_scope scope = v->source == SOURCE_ETHTOOL ? METRIC_NETDEV
				  : v->port		      ? METRIC_PORT
							      : METRIC_DEVICE;
	const struct counter_row *row = counter_row_of(v->source, v->name);
	char wide[FACT_NAME];
	const char *name = counter_wide_form(v->source, v->name, wide) ? wide : v->name;

	/* Those of legs have families that no exporter of others has. */
	if (v->source != SOURCE_LEG && metric_name_usable(scope, name, row->kind == KIND_GAUGE))
		snprintf(all->ours[all->n_ours++], sizeof(*all->ours), "rdma_%s%s%s", prefix[scope],
			 name, row->unit == UNIT_WORDS ? "_bytes" : "");
}

static const struct port_fact *port_of(const struct snap_device *d, unsigned port)
{
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].port == port)
			return &d->ports[i];
	return NULL;
}

/* Lower case, and _ for what cannot stand in a name. */
static void clean(const char *name, char ret[FACT_NAME])
{
	size_t i = 0;

	for (; name[i] && i < FACT_NAME - 1; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		ret[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
	}
	ret[i] = '\0';
}

static void add_sysfs(struct items *all, struct item *item)
{
	char name[FACT_NAME];

	clean(item->value->name, name);
	if (counter_row_of(item->value->source, item->value->name)->kind == KIND_SETTING ||
	    !metric_name_free(name))
		return;
	snprintf(item->family, sizeof(item->family), "rdma_%s", name);
	if (!is_ours(all, item->family))
		all->item[all->n++] = *item;
}

/* true: name is pattern, with a number at its #. */
static bool match(const char *pattern, const char *name, unsigned *ret)
{
	size_t before = strcspn(pattern, "#"), digits;

	if (strncmp(pattern, name, before) != 0)
		return false;
	if (!pattern[before])
		return name[before] == '\0';
	digits = strspn(name + before, "0123456789");
	if (digits == 0 || digits > 3 || strcmp(name + before + digits, pattern + before + 1) != 0)
		return false;
	*ret = (unsigned)strtoul(name + before, NULL, 10);
	return true;
}

static bool number_fits(const struct stat_name *s, unsigned number)
{
	return !s->number_key || strcmp(s->number_key, "priority") != 0 || number < PRIORITIES;
}

/* It asks Ethernet ports of physical functions alone: a virtual one has no pauses of its own. */
static void add_stat(struct items *all, struct item *item)
{
	if (item->device->fact.is_vf || item->port->link_layer != LINK_LAYER_ETHERNET ||
	    !item->port->netdev[0])
		return;
	for (size_t i = 0; i < COUNT(stat_names); i++) {
		const struct stat_name *s = &stat_names[i];

		if (!match(s->stat, item->value->name, &item->number) ||
		    !number_fits(s, item->number) || is_ours(all, s->family))
			continue;
		snprintf(item->family, sizeof(item->family), "%s", s->family);
		item->stat = s;
		all->item[all->n++] = *item;
		return;
	}
}

static void add(struct items *all, const struct snap_device *d, const struct counter_value *v)
{
	struct item item = {.device = d, .value = v, .port = port_of(d, v->port)};

	if (!item.port)
		return;
	if (v->source == SOURCE_COUNTERS || v->source == SOURCE_HW_COUNTERS)
		add_sysfs(all, &item);
	else if (v->source == SOURCE_ETHTOOL)
		add_stat(all, &item);
}

static int compare_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->family, y->family);

	if (order == 0)
		order = (x->device > y->device) - (x->device < y->device);
	if (order == 0)
		order = (int)x->port->port - (int)y->port->port;
	if (order == 0)
		order = (x->stat > y->stat) - (x->stat < y->stat);
	if (order == 0)
		order = (x->number > y->number) - (x->number < y->number);
	if (order == 0) /* two of one name: as ours, the first source has it */
		order = (int)x->value->source - (int)y->value->source;
	return order ? order : strcmp(x->value->name, y->value->name);
}

static bool same_series(const struct item *x, const struct item *y)
{
	return strcmp(x->family, y->family) == 0 && x->port == y->port && x->stat == y->stat &&
	       x->number == y->number;
}

static bool collect(struct items *all, const struct snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].n_values;
	all->item = calloc(n + 1, sizeof(*all->item));
	all->ours = calloc(n + 1, sizeof(*all->ours));
	if (!all->item || !all->ours)
		return false;
	for (size_t i = 0; i < s->n_devices; i++)
		for (size_t k = 0; k < s->devices[i].n_values; k++)
			add_ours(all, &s->devices[i].values[k]);
	qsort(all->ours, all->n_ours, sizeof(*all->ours), compare_text);
	for (size_t i = 0; i < s->n_devices; i++)
		for (size_t k = 0; k < s->devices[i].n_values; k++)
			add(all, &s->devices[i], &s->devices[i].values[k]);
	qsort(all->item, all->n, sizeof(*all->item), compare_item);
	return true;
}

static void begin_family(struct exposition *e, const struct item *item, char help[HELP_SIZE])
{
	bool gauge =
		item->stat && counter_row_of(SOURCE_ETHTOOL, item->value->name)->kind == KIND_GAUGE;

	if (item->stat)
		snprintf(help, HELP_SIZE, "As rdma_exporter names %s of the port's netdev.",
			 item->stat->stat);
	else
		snprintf(help, HELP_SIZE,
			 "As rdma_exporter names a counter of the port, unscaled.");
	exposition_family(e, item->family, gauge ? FAMILY_GAUGE : FAMILY_COUNTER, help);
}

static void put(struct exposition *e, const struct item *item)
{
	const struct stat_name *s = item->stat;

	exposition_sample(e, "");
	exposition_label(e, "device", item->device->name);
	exposition_label_u64(e, "port", item->port->port);
	if (s) {
		exposition_label(e, "netdev", item->port->netdev);
		if (s->key)
			exposition_label(e, s->key, s->value);
		if (s->key2)
			exposition_label(e, s->key2, s->value2);
		if (s->number_key)
			exposition_label_u64(e, s->number_key, item->number);
	}
	exposition_u64(e, item->value->value);
}

static void put_all(struct exposition *e, const struct items *all)
{
	char help[HELP_SIZE];

	for (size_t i = 0; i < all->n; i++) {
		const struct item *item = &all->item[i];

		if (i == 0 || strcmp(item->family, all->item[i - 1].family) != 0)
			begin_family(e, item, help);
		else if (same_series(item, &all->item[i - 1]))
			continue;
		if (exposition_admit(e, 1))
			put(e, item);
	}
}

void also_put_rdma(struct exposition *e, const struct snapshot *s)
{
	struct items all = {0};

	if (collect(&all, s))
		put_all(e, &all);
	else
		e->out->failed = true;
	free(all.item);
	free(all.ours);
}
