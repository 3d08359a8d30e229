/* Families of the statistics of the ports' netdevs. Those that are of a priority are told under one
 * name for all vendors, the others by their own. What the legs of a bond tell has families of its
 * own, rdma_leg_ where a port's netdev has rdma_, and the leg's name as a label. */
#include "exporters/metrics_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/counter_lines.h"
#include "exporters/metric_name.h"
#include "probes/counter_table.h"

#define HELP_SIZE 320

/* With labels priority and direction; either signal is the one of a direction. */
static const struct priority_family {
	const char *name, *help;
	enum signal rx, tx;
} priority_families[] = {
	{"rdma_pfc_pause_frames", "Pause frames of a priority: received ones stop this port.",
	 SIGNAL_PFC_RX_FRAMES, SIGNAL_PFC_TX_FRAMES},
	{"rdma_pfc_pause_seconds",
	 "Time in which a priority was paused: rx this port's sending, tx its neighbour's.",
	 SIGNAL_PFC_RX_US, SIGNAL_PFC_TX_US},
	{"rdma_pfc_pause_driver_time",
	 "Time in which a priority was paused, in a unit that the driver does not tell.",
	 SIGNAL_PFC_RX_TIME, SIGNAL_PFC_TX_TIME},
	{"rdma_pfc_pause_transitions", "Times that a pause of a priority ended.",
	 SIGNAL_PFC_RX_TRANSITIONS, SIGNAL_PFC_TX_TRANSITIONS},
	{"rdma_pfc_resume_frames", "Frames that end the pause of a priority.", SIGNAL_PFC_RX_XON,
	 SIGNAL_PFC_TX_XON},
	{"rdma_priority_bytes", "Bytes of a priority, of any protocol.",
	 SIGNAL_TRAFFIC_RX_PRIO_BYTES, SIGNAL_TRAFFIC_TX_PRIO_BYTES},
	{"rdma_priority_packets", "Packets of a priority, of any protocol.",
	 SIGNAL_TRAFFIC_RX_PRIO_PACKETS, SIGNAL_TRAFFIC_TX_PRIO_PACKETS},
	{"rdma_priority_discards", "Packets of a priority dropped for want of buffers of the port.",
	 SIGNAL_DROP_RX_PRIO, SIGNAL_NONE},
	{"rdma_priority_host_buffer_discards",
	 "Packets of a priority dropped for want of this host's buffers.",
	 SIGNAL_DROP_RX_PRIO_NOBUF, SIGNAL_NONE},
	{"rdma_priority_host_congestion_discards",
	 "Packets of a priority dropped because this host was congested.", SIGNAL_DROP_RX_PRIO_CONG,
	 SIGNAL_NONE},
	{"rdma_priority_host_congestion_marks",
	 "Packets of a priority that the NIC marked because this host was congested.",
	 SIGNAL_CC_RX_PRIO_MARKED, SIGNAL_NONE},
};

#define FAMILIES (sizeof(priority_families) / sizeof(priority_families[0]))
#define BY_NAME FAMILIES	/* rdma_netdev_<name> */
#define VERBATIM (FAMILIES + 1) /* rdma_netdev_stat */

struct stat {
	const struct snap_device *device;
	const struct counter_value *value;
	const struct counter_row *row;
	const char *name; /* without that of the leg */
	size_t leg_len;	  /* of the leg's name, which begins the value's; 0: of no leg */
	size_t family;	  /* index into priority_families, or one of the above */
	int priority;	  /* -1: none */
};

struct stats {
	struct stat *item;
	size_t n;
};

static bool is_gauge(const struct stat *s)
{
	return s->row->kind == KIND_GAUGE;
}

static size_t family_of(const struct stat *s)
{
	enum signal signal = s->row->signal;

	for (size_t i = 0; s->priority >= 0 && signal != SIGNAL_NONE && i < FAMILIES; i++) {
		if (signal == priority_families[i].rx || signal == priority_families[i].tx)
			return i;
	}
	return metric_name_usable(METRIC_NETDEV, s->name, is_gauge(s)) ? BY_NAME : VERBATIM;
}

static void add(struct stats *all, const struct snap_device *d, const struct counter_value *v,
		enum counter_source source)
{
	struct stat *s = &all->item[all->n];

	if (v->source != source)
		return;
	s->device = d;
	s->value = v;
	s->row = counter_row_of(v->source, v->name);
	if (s->row->kind == KIND_SETTING)
		return;
	s->name = counter_plain_name(source, v->name);
	s->leg_len = source == SOURCE_LEG ? strcspn(v->name, "/") : 0;
	s->priority = counter_row_priority(s->row, s->name);
	s->family = family_of(s);
	all->n++;
}

static int compare_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_leg(const struct stat *x, const struct stat *y)
{
	size_t len = x->leg_len < y->leg_len ? x->leg_len : y->leg_len;
	int order = strncmp(x->value->name, y->value->name, len);

	return order ? order : compare_number(x->leg_len, y->leg_len);
}

/* Series of one family together, and two that would be the same side by side. */
static int compare(const void *a, const void *b)
{
	const struct stat *x = a, *y = b;
	int order = compare_number(x->family, y->family);

	if (order == 0 && x->family >= BY_NAME)
		order = strcmp(x->name, y->name);
	if (order == 0)
		order = strcmp(x->device->name, y->device->name);
	if (order == 0)
		order = compare_number(x->value->port, y->value->port);
	if (order == 0)
		order = compare_leg(x, y);
	if (order == 0)
		order = x->priority - y->priority;
	if (order == 0)
		order = compare_number(x->row->direction, y->row->direction);
	return order ? order : strcmp(x->name, y->name);
}

static bool same_series(const struct stat *x, const struct stat *y)
{
	return x->family == y->family && x->device == y->device &&
	       x->value->port == y->value->port && x->priority == y->priority &&
	       compare_leg(x, y) == 0 &&
	       (x->family >= BY_NAME || x->row->direction == y->row->direction) &&
	       (x->family < BY_NAME || strcmp(x->name, y->name) == 0);
}

/* Two statistics never become one series: the second one is told verbatim. */
static void settle(struct stats *all)
{
	const struct stat *first = NULL;
	bool moved = false;

	for (size_t i = 0; i < all->n; i++) {
		struct stat *s = &all->item[i];

		if (s->family != VERBATIM && first && same_series(first, s)) {
			s->family = VERBATIM;
			moved = true;
		} else {
			first = s;
		}
	}
	if (moved)
		qsort(all->item, all->n, sizeof(*all->item), compare);
}

static bool collect(struct stats *all, const struct snapshot *s, enum counter_source source)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].n_values;
	all->item = calloc(n + 1, sizeof(*all->item));
	if (!all->item)
		return false;
	for (size_t i = 0; i < s->n_devices; i++) {
		for (size_t k = 0; k < s->devices[i].n_values; k++)
			add(all, &s->devices[i], &s->devices[i].values[k], source);
	}
	qsort(all->item, all->n, sizeof(*all->item), compare);
	settle(all);
	return true;
}

static bool same_family(const struct stat *x, const struct stat *y)
{
	return x->family == y->family && (x->family != BY_NAME || strcmp(x->name, y->name) == 0);
}

/* rdma_pfc_pause_frames as of a port, rdma_leg_pfc_pause_frames as of a leg. */
static void family_name(const struct stat *s, const char *name, char ret[FAMILY_NAME_MAX + 1])
{
	const char *of = s->leg_len ? "rdma_leg_" : "rdma_";

	snprintf(ret, FAMILY_NAME_MAX + 1, "%s%s", of, name + strlen("rdma_"));
}

static void begin_verbatim(struct counter_lines *l, const struct stat *s)
{
	if (s->leg_len)
		counter_lines_family(l, "rdma_leg_netdev_stat", FAMILY_COUNTER,
				     "Statistics of the legs of bonds whose names cannot be names "
				     "of metrics, verbatim.");
	else
		counter_lines_family(l, "rdma_netdev_stat", FAMILY_COUNTER,
				     "Statistics of the ports' netdevs whose names cannot be names "
				     "of metrics, verbatim.");
}

static void begin_family(struct counter_lines *l, const struct stat *s)
{
	char plain[FAMILY_NAME_MAX + 1], name[FAMILY_NAME_MAX + 1], help[HELP_SIZE];

	if (s->family == VERBATIM) {
		begin_verbatim(l, s);
		return;
	}
	if (s->family < BY_NAME) {
		family_name(s, priority_families[s->family].name, name);
		snprintf(help, HELP_SIZE, "%s%s", s->leg_len ? "Of a leg of the port's bond: " : "",
			 priority_families[s->family].help);
		counter_lines_family(l, name, FAMILY_COUNTER, help);
		return;
	}
	snprintf(plain, sizeof(plain), "rdma_netdev_%s", s->name);
	family_name(s, plain, name);
	snprintf(help, HELP_SIZE, "The driver's %s %s of %s%s%s.",
		 is_gauge(s) ? "value" : "statistic", s->name,
		 s->leg_len ? "a leg of the port's bond" : "the port's netdev",
		 s->row->help[0] ? ": " : "", s->row->help);
	counter_lines_family(l, name, is_gauge(s) ? FAMILY_GAUGE : FAMILY_COUNTER, help);
}

static void add_line(struct counter_lines *l, const struct stat *s)
{
	bool us = s->family < BY_NAME && s->row->unit == UNIT_MICROSECONDS;
	char text[FACT_NAME];

	counter_lines_add(l, s->device, s->value, us ? TOLD_MICROSECONDS : TOLD_AS_IT_IS);
	counter_lines_port(l, s->device->name, s->value->port, true);
	if (s->leg_len) {
		snprintf(text, sizeof(text), "%.*s", (int)s->leg_len, s->value->name);
		counter_lines_label(l, "netdev", text);
	}
	if (s->family < BY_NAME) {
		snprintf(text, sizeof(text), "%d", s->priority);
		counter_lines_label(l, "priority", text);
		counter_lines_label(l, "direction", counter_direction_name(s->row->direction));
	} else if (s->family == VERBATIM) {
		counter_lines_label(l, "name", s->name);
	}
}

static void make_all(struct counter_lines *l, const struct stats *all)
{
	const struct stat *family = NULL, *last = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct stat *s = &all->item[i];

		/* A gauge must not be told as a counter, and what is there twice not twice. */
		if ((s->family == VERBATIM && is_gauge(s)) || (last && same_series(last, s))) {
			l->dropped++;
			continue;
		}
		last = s;
		if (!family || !same_family(family, s)) {
			begin_family(l, s);
			family = s;
		}
		add_line(l, s);
	}
}

static void make_source(struct counter_lines *l, const struct snapshot *s,
			enum counter_source source)
{
	struct stats all = {0};

	if (!collect(&all, s, source)) {
		l->failed = true;
		return;
	}
	make_all(l, &all);
	free(all.item);
}

void metrics_make_netdevs(struct counter_lines *l, const struct snapshot *s)
{
	make_source(l, s, SOURCE_ETHTOOL);
	make_source(l, s, SOURCE_LEG);
}
