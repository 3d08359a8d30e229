/* What configuration and system say of rails and ports beside the facts of the workers. */
#include <string.h>

#include "core/clock.h"
#include "daemon/daemon.h"
#include "daemon/kernel_log.h"
#include "daemon/view.h"

static bool fill_classes(struct snapshot *s, const struct config *c)
{
	s->classes = snapshot_alloc(s, c->n_classes, sizeof(*s->classes));
	if (!s->classes)
		return c->n_classes == 0;
	for (size_t i = 0; i < c->n_classes; i++)
		s->classes[s->n_classes++] = (struct snap_class){
			.name = snapshot_str(s, c->classes[i].name), .tos = c->classes[i].tos};
	return true;
}

static void expect(struct port_fact *p, uint64_t rate, enum rate_source by)
{
	if (!rate)
		return;
	p->expected_rate_bytes_per_second = rate;
	p->expected_by = (uint8_t)by;
}

/* A configured rate goes before what the two ends of the link have agreed on. */
void view_expect(const struct daemon *d, const char *device, struct port_fact *ports, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		expect(&ports[k], ports[k].link.common_megabits * BYTES_OF_MEGABIT,
		       RATE_OF_PARTNER);
		/* A tree has no rails: every port of it stands for one. */
		if (d->options->sysfs_only)
			expect(&ports[k], d->config.rails_rate, RATE_OF_CONFIGURATION);
	}
	for (size_t i = 0; i < rails_count(d->rails); i++) {
		const struct rail *r = rails_get(d->rails, i);
		uint64_t rate = config_rail_rate(&d->config, r->name);

		if (!r->present || strcmp(r->device, device) != 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if (ports[k].port == r->fact.port)
				expect(&ports[k], rate, RATE_OF_CONFIGURATION);
	}
}

static bool fill_subnets(struct snapshot *s, struct daemon *d, struct view_judged *judged)
{
	const struct subnet_pairs *pairs = &d->subnets;

	subnets_look(&d->subnets, d->rails, clock_now_ns());
	if (pairs->n == 0)
		return true;
	judged->subnets = snapshot_alloc(s, pairs->n, sizeof(*judged->subnets));
	if (!judged->subnets)
		return false;
	for (size_t i = 0; i < pairs->n; i++)
		judged->subnets[judged->n_subnets++] = (struct judge_subnet){
			.rail = snapshot_str(s, pairs->pair[i].rail),
			.other = snapshot_str(s, pairs->pair[i].other),
			.text = snapshot_str(s, pairs->pair[i].text),
		};
	return true;
}

bool view_facts(struct snapshot *s, struct daemon *d, struct view_judged *judged)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		struct snap_device *device = &s->devices[i];

		view_expect(d, device->name, device->ports, device->n_ports);
		kernel_log_tell(d->kernel_log, &device->fact, s->mono_ns, s->wall_ns);
	}
	return fill_classes(s, &d->config) && fill_subnets(s, d, judged);
}
