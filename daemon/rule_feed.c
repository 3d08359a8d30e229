#include "daemon/rule_feed.h"

#include <string.h>

#include "core/clock.h"
#include "daemon/daemon.h"

/* Of the rails of one device. */
struct rail_ports {
	uint8_t port[RAIL_MAX];
	size_t n;
	struct rate_own_total own[RAIL_MAX];
	size_t n_own;
};

static struct rate_own_total *own_of(struct rail_ports *p, uint8_t port)
{
	for (size_t i = 0; i < p->n_own; i++)
		if (p->own[i].port == port)
			return &p->own[i];
	if (p->n_own == RAIL_MAX)
		return NULL;
	p->own[p->n_own] = (struct rate_own_total){.port = port};
	return &p->own[p->n_own++];
}

static void add_books(struct rate_own_total *own, const struct rail_books *books)
{
	struct op_books op[OP_COUNT];
	struct hist hist[STREAM_COUNT];

	for (size_t i = 0; i < rail_books_classes(books); i++) {
		rail_books_class(books, i, op, hist);
		for (unsigned k = 0; k < OP_COUNT; k++) {
			own->retry_exceeded += op[k].failed[FAIL_RETRY_EXCEEDED];
			own->troubled += op_books_failed(&op[k]) + op[k].retransmits_suspected;
		}
	}
}

static void collect(struct rail_ports *p, const struct rails *rails, const char *device)
{
	for (size_t i = 0; i < rails_count(rails) && p->n < RAIL_MAX; i++) {
		const struct rail *rail = rails_get(rails, i);
		struct rate_own_total *own;

		if (strcmp(rail->device, device) != 0 || rail->fact.port > UINT8_MAX)
			continue;
		p->port[p->n++] = (uint8_t)rail->fact.port;
		own = own_of(p, (uint8_t)rail->fact.port);
		if (own)
			add_books(own, rail->books);
	}
}

void rule_feed(struct daemon *d, struct device *dev, const struct counter_round *round)
{
	struct rail_ports ports = {0};
	struct device_rules_input in = {
		.limits = &d->config.rules,
		.round = round,
		.now_ns = clock_now_ns(),
		.wall_ns = clock_wall_ns(),
		.all_ports = d->options->sysfs_only,
		.retry_count = d->config.retry_count,
	};

	if (!dev->rules)
		dev->rules = device_rules_new(dev->name);
	if (!dev->rules || device_rules_seen(dev->rules, round->mono_ns))
		return;
	collect(&ports, d->rails, dev->name);
	in.rail_ports = ports.port;
	in.n_rail_ports = ports.n;
	in.own = ports.own;
	in.n_own = ports.n_own;
	device_rules_round(dev->rules, &in);
}
