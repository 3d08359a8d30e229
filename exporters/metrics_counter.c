/* Families of the vendors' counters: whatever a driver has in sysfs, by name. */
#include "exporters/metrics_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/counter_lines.h"
#include "exporters/metric_name.h"
#include "probes/counter_name.h"

#define NAME_SIZE (FACT_NAME + 8) /* room for "_bytes" */
#define HELP_SIZE 320

struct entry {
	char name[NAME_SIZE]; /* without rdma_ and rdma_device_ */
	uint8_t name_len;     /* of it, before "_bytes" */
	enum metric_scope scope;
	const struct snap_device *device;
	const struct counter_value *value;
	const struct counter_row *row;
	bool usable;
};

static bool is_gauge(const struct entry *e)
{
	return e->row->kind == KIND_GAUGE;
}

static bool in_words(const struct entry *e)
{
	return e->row->unit == UNIT_WORDS;
}

struct entries {
	struct entry *item;
	size_t n;
};

/* Kernels before 4.5 tell a counter twice, and the narrow one sticks: is there a wide one? */
static bool has_wide_form(const struct snap_device *d, const struct counter_value *v)
{
	char wide[FACT_NAME];

	if (v->source != SOURCE_COUNTERS)
		return false;
	snprintf(wide, sizeof(wide), "%.*s_64", FACT_NAME - 4, v->name);
	return snap_device_value(d, wide, SOURCE_COUNTERS_EXT, v->port) != NULL;
}

static void name_entry(struct entry *e)
{
	char wide[FACT_NAME];
	const char *name = e->value->name;

	if (counter_wide_form(e->value->source, name, wide))
		name = wide;
	e->name_len = (uint8_t)strnlen(name, FACT_NAME - 1);
	snprintf(e->name, sizeof(e->name), "%.*s%s", (int)e->name_len, name,
		 in_words(e) ? "_bytes" : "");
}

static void add_entry(struct entries *all, const struct snap_device *d,
		      const struct counter_value *v)
{
	struct entry *e = &all->item[all->n];

	e->row = counter_row_of(v->source, v->name);
	if (v->source == SOURCE_ETHTOOL || v->source == SOURCE_LEG) /* families of their own */
		return;
	if (e->row->kind == KIND_SETTING || has_wide_form(d, v))
		return;
	e->scope = v->port == 0 ? METRIC_DEVICE : METRIC_PORT;
	e->device = d;
	e->value = v;
	name_entry(e);
	all->n++;
}

static int compare_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = (x->scope > y->scope) - (x->scope < y->scope);
	if (order == 0)
		order = is_gauge(x) - is_gauge(y);
	if (order == 0)
		order = (x->device > y->device) - (x->device < y->device);
	if (order == 0)
		order = (x->value->port > y->value->port) - (x->value->port < y->value->port);
	if (order == 0)
		order = (x->value->source > y->value->source) -
			(x->value->source < y->value->source);
	return order;
}

static bool same_family(const struct entry *a, const struct entry *b)
{
	return a->scope == b->scope && strcmp(a->name, b->name) == 0;
}

static bool nameable(const struct entry *e)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%.*s", e->name_len, e->name);
	return metric_name_usable(e->scope, name, is_gauge(e));
}

static bool same_name(const struct entry *a, const struct entry *b)
{
	return same_family(a, b) && is_gauge(a) == is_gauge(b) && a->name_len == b->name_len;
}

/* In the order of compare_entry(), so that a name is looked at once however many have it: a second
 * source of one series, or a gauge where the family has become a counter, cannot be told by that
 * family. */
static void settle_collisions(struct entries *all)
{
	const struct entry *first = NULL, *last = NULL;
	bool usable = false;

	for (size_t i = 0; i < all->n; i++) {
		struct entry *e = &all->item[i];

		if (i == 0 || !same_name(e, e - 1))
			usable = nameable(e);
		e->usable = usable;
		if (!e->usable)
			continue;
		if (!first || !same_family(first, e)) {
			first = e;
		} else if (is_gauge(e) != is_gauge(first) ||
			   (last->device == e->device && last->value->port == e->value->port)) {
			e->usable = false;
			continue;
		}
		last = e;
	}
}

static bool collect(struct entries *all, const struct snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].n_values;
	all->item = calloc(n + 1, sizeof(*all->item));
	if (!all->item)
		return false;
	for (size_t i = 0; i < s->n_devices; i++)
		for (size_t k = 0; k < s->devices[i].n_values; k++)
			add_entry(all, &s->devices[i], &s->devices[i].values[k]);
	qsort(all->item, all->n, sizeof(*all->item), compare_entry);
	settle_collisions(all);
	return true;
}

/* By the name told, not by the file of the device that happens to come first: the first source
 * that has it. */
static const char *known_help(const char *name)
{
	for (unsigned source = 0; source < SOURCE_ETHTOOL; source++) {
		const struct counter_row *row = counter_row_of(source, name);

		if (row->help[0])
			return row->help;
	}
	return "";
}

static void put_help(const struct entry *entry, char help[HELP_SIZE])
{
	char name[NAME_SIZE];
	const char *known;
	int len = (int)(strlen(entry->name) - (in_words(entry) ? strlen("_bytes") : 0));

	snprintf(name, sizeof(name), "%.*s", len, entry->name);
	known = known_help(name);
	snprintf(help, HELP_SIZE, "The driver's %s %s of the %s%s%s%s.",
		 is_gauge(entry) ? "value" : "counter", name,
		 entry->scope == METRIC_DEVICE ? "device" : "port",
		 in_words(entry) ? ", 4-byte words told as bytes" : "", known[0] ? ": " : "",
		 known);
}

static void begin_family(struct counter_lines *l, const struct entry *entry)
{
	char name[FAMILY_NAME_MAX + 1], help[HELP_SIZE];

	snprintf(name, sizeof(name), "rdma_%s%s", entry->scope == METRIC_DEVICE ? "device_" : "",
		 entry->name);
	put_help(entry, help);
	counter_lines_family(l, name, is_gauge(entry) ? FAMILY_GAUGE : FAMILY_COUNTER, help);
}

static void make_named(struct counter_lines *l, const struct entries *all)
{
	const struct entry *family = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct entry *entry = &all->item[i];

		if (!entry->usable)
			continue;
		if (!family || !same_family(family, entry)) {
			begin_family(l, entry);
			family = entry;
		}
		counter_lines_add(l, entry->device, entry->value,
				  in_words(entry) ? TOLD_WORDS : TOLD_AS_IT_IS);
		counter_lines_port(l, entry->device->name, entry->value->port, false);
	}
}

static void make_others(struct counter_lines *l, const struct entries *all)
{
	counter_lines_family(
		l, "rdma_hw_stat", FAMILY_COUNTER,
		"Counters of drivers whose names cannot be names of metrics, verbatim.");
	for (size_t i = 0; i < all->n; i++) {
		const struct entry *entry = &all->item[i];

		if (entry->usable)
			continue;
		/* A gauge must not be told as a counter: left out, and counted as such. */
		if (is_gauge(entry)) {
			l->dropped++;
			continue;
		}
		counter_lines_add(l, entry->device, entry->value, TOLD_AS_IT_IS);
		counter_lines_port(l, entry->device->name, entry->value->port, true);
		counter_lines_label(l, "name", entry->value->name);
		counter_lines_label(l, "source", counter_source_name(entry->value->source));
	}
}

static void make_saturated(struct counter_lines *l, const struct entries *all)
{
	counter_lines_family(
		l, "rdma_saturated", FAMILY_GAUGE,
		"1 for a counter that stands at its width's end and cannot rise any more.");
	for (size_t i = 0; i < all->n; i++) {
		const struct entry *entry = &all->item[i];

		counter_lines_add(l, entry->device, entry->value, TOLD_SATURATED);
		counter_lines_port(l, entry->device->name, entry->value->port, true);
		counter_lines_label(l, "name", entry->value->name);
	}
}

void metrics_make_counters(struct counter_lines *l, const struct snapshot *s)
{
	struct entries all = {0};

	if (!collect(&all, s)) {
		l->failed = true;
		return;
	}
	make_named(l, &all);
	make_others(l, &all);
	make_saturated(l, &all);
	free(all.item);
}
