#include "probes/optional_counters.h"

#include <errno.h>
#include <string.h>

#include <rdma/rdma_netlink.h>

#define TYPE_OF(command) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)

struct device_search {
	const char *device;
	bool found;
	uint32_t index;
};

static bool is_device(struct netlink_attrs attrs, const char *device)
{
	struct netlink_attr attr;
	char name[FACT_NAME];

	return netlink_find(attrs, RDMA_NLDEV_ATTR_DEV_NAME, &attr) &&
	       netlink_text(&attr, name, sizeof(name)) && strcmp(name, device) == 0;
}

static int take_device(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	struct netlink_attrs attrs = netlink_attrs(payload, len, 0);
	struct device_search *s = arg;
	struct netlink_attr attr;

	(void)type;
	if (is_device(attrs, s->device) && netlink_find(attrs, RDMA_NLDEV_ATTR_DEV_INDEX, &attr) &&
	    netlink_u32(&attr, &s->index))
		s->found = true;
	return 0;
}

int optional_device(struct netlink *n, const char *device, uint32_t *ret_index)
{
	struct device_search s = {.device = device};
	struct netlink_request q;
	int r;

	netlink_begin(&q, TYPE_OF(RDMA_NLDEV_CMD_GET), NLM_F_DUMP, NULL, 0);
	r = netlink_ask(n, &q, take_device, &s);
	if (r == 0 && !s.found)
		r = -ENODEV;
	if (r == 0)
		*ret_index = s.index;
	return r;
}

static void begin(struct netlink_request *q, uint16_t type, uint32_t index, uint8_t port)
{
	netlink_begin(q, type, 0, NULL, 0);
	netlink_put_u32(q, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	netlink_put_u32(q, RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

/* fn for each counter in an answer, with the attributes of its entry. */
static void each_entry(const uint8_t *payload, size_t len, struct optional_counters *o,
		       void (*fn)(struct optional_counters *o, const char *name,
				  struct netlink_attrs entry))
{
	struct netlink_attr table, entry, name;
	struct netlink_attrs entries;
	char text[FACT_NAME];

	if (!netlink_find(netlink_attrs(payload, len, 0), RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, &table))
		return;
	entries = netlink_inside(&table);
	while (netlink_next(&entries, &entry)) {
		if (entry.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY &&
		    netlink_find(netlink_inside(&entry), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
				 &name) &&
		    netlink_text(&name, text, sizeof(text)))
			fn(o, text, netlink_inside(&entry));
	}
}

static struct optional_counter *find(struct optional_counters *o, const char *name)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (strcmp(o->counter[i].name, name) == 0)
			return &o->counter[i];
	}
	return NULL;
}

/* Only optional ones say whether they are on. While a listing runs, told marks those that are. */
static void note_status(struct optional_counters *o, const char *name, struct netlink_attrs entry)
{
	struct optional_counter *c = find(o, name);
	struct netlink_attr attr;
	uint8_t on;

	if (!netlink_find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, &attr) ||
	    !netlink_u8(&attr, &on) || !on)
		return;
	if (!c && o->n == OPTIONAL_MAX) {
		o->dropped++;
		return;
	}
	if (!c) {
		c = &o->counter[o->n++];
		*c = (struct optional_counter){.row = counter_row_of(SOURCE_OPTIONAL, name)};
		memcpy(c->name, name, strlen(name) + 1);
	}
	c->told = true;
}

static int take_status(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	(void)type;
	each_entry(payload, len, arg, note_status);
	return 0;
}

static void forget_untold(struct optional_counters *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		if (o->counter[i].told)
			o->counter[kept++] = o->counter[i];
	}
	o->n = kept;
}

static void untell(struct optional_counters *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		o->counter[i].told = false;
}

int optional_list(struct optional_counters *o, struct netlink *n, uint32_t index, uint8_t port)
{
	struct netlink_request q;
	int r;

	untell(o);
	o->dropped = 0;
	begin(&q, TYPE_OF(RDMA_NLDEV_CMD_STAT_GET_STATUS), index, port);
	r = netlink_ask(n, &q, take_status, o);
	if (r < 0)
		untell(o);
	forget_untold(o);
	return r;
}

static void note_value(struct optional_counters *o, const char *name, struct netlink_attrs entry)
{
	struct optional_counter *c = find(o, name);
	struct netlink_attr attr;
	uint64_t value;

	if (!c || c->told ||
	    !netlink_find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &attr) ||
	    !netlink_u64(&attr, &value))
		return;
	c->before = c->value;
	c->has_before = c->has_value;
	c->value = value;
	c->has_value = c->told = true;
}

struct reading {
	struct optional_counters *counters;
	const char *device;
};

static int take_values(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	const struct reading *r = arg;

	(void)type;
	if (!is_device(netlink_attrs(payload, len, 0), r->device))
		return -ENODEV;
	each_entry(payload, len, r->counters, note_value);
	return 0;
}

int optional_read(struct optional_counters *o, struct netlink *n, uint32_t index,
		  const char *device, uint8_t port)
{
	struct reading reading = {.counters = o, .device = device};
	struct netlink_request q;
	int r;

	untell(o);
	if (o->n == 0)
		return 0;
	begin(&q, TYPE_OF(RDMA_NLDEV_CMD_STAT_GET), index, port);
	r = netlink_ask(n, &q, take_values, &reading);
	if (r < 0)
		untell(o);
	return r;
}
