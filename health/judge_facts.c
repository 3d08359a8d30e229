#include "health/judge_facts.h"

#include <string.h>

#define DSCP_SHIFT 2 /* in a ToS octet, above ECN */

size_t judge_facts_max(const struct snapshot *s, const struct judge_input *in)
{
	size_t ports = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		ports += s->devices[i].n_ports;
	return s->n_rails * (s->n_classes + 1) + ports + s->n_devices + in->n_subnets;
}

static void hang_on(struct findings *f, struct snap_finding *finding,
		    const struct snap_evidence *evidence, size_t n)
{
	struct snap_evidence *e = finding ? snapshot_alloc(f->s, n, sizeof(*e)) : NULL;

	if (!e)
		return;
	memcpy(e, evidence, n * sizeof(*e));
	finding->evidence = e;
	finding->n_evidence = n;
}

static const struct port_fact *port_of(const struct snapshot *s, const struct snap_rail *r)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		if (strcmp(d->name, r->fact.device) != 0)
			continue;
		for (size_t k = 0; k < d->n_ports; k++)
			if (d->ports[k].port == r->fact.port)
				return &d->ports[k];
	}
	return NULL;
}

/* The ToS that a class's packets carry from this port; -1: not certain. */
static int32_t tos_of(const struct snap_class *class, const struct port_config_fact *c)
{
	if (c->forced_tos_known)
		return c->forced_tos;
	if (class->tos >= 0)
		return class->tos;
	return c->roce_tos_known ? c->roce_tos : -1;
}

/* In which priority a packet of that ToS travels; -1: not certain. Only a port that trusts DSCP,
 * and has an entry for this one, says so: the rest is up to driver and VLAN. */
static int priority_of(int32_t tos, const struct port_config_fact *c)
{
	uint8_t priority;

	if (tos < 0 || c->trust != TRUST_DSCP)
		return -1;
	priority = c->dscp_priority[(uint32_t)tos >> DSCP_SHIFT & (DSCP_COUNT - 1)];
	return priority < PRIORITIES ? priority : -1;
}

static const char *what_sets_tos(struct snapshot *s, const struct snap_class *class,
				 const struct port_config_fact *c)
{
	if (c->forced_tos_known)
		return "the global tclass of the driver (traffic_class below tc in the device's "
		       "directory), which overrides [class] tos,";
	return snapshot_printf(s, "[class %s] tos", class->name);
}

static void find_priority(struct findings *f, const struct snap_rail *r,
			  const struct port_config_fact *c, const struct snap_class *class)
{
	int32_t tos = tos_of(class, c);
	int priority = priority_of(tos, c);
	struct snap_finding *finding;

	if (priority < 0 || c->pfc & 1u << priority)
		return;
	finding = findings_add_of_rule(
		f, "probe_priority", CAUSE_CONFIGURATION, false,
		snapshot_printf(f->s, "class:%s/%s", r->name, class->name),
		snapshot_printf(f->s,
				"probes of class %s leave rail %s with ToS %d, which is priority "
				"%d, and flow control is on in others only: they are lost where "
				"the traffic that matters waits; set %s to that of the lossless "
				"priority",
				class->name, r->name, tos, priority, what_sets_tos(f->s, class, c)),
		0);
	findings_mark_minor(f, finding);
	hang_on(f, finding,
		(struct snap_evidence[]){{.name = "tos", .value = tos},
					 {.name = "priority", .value = priority},
					 {.name = "pfc_priorities", .value = c->pfc}},
		3);
}

static void find_priorities(struct findings *f, const struct snap_rail *r)
{
	const struct port_fact *p = r->present ? port_of(f->s, r) : NULL;

	if (!p || p->link_layer != LINK_LAYER_ETHERNET || !p->config.pfc_known || !p->config.pfc)
		return;
	for (size_t i = 0; i < f->s->n_classes; i++)
		find_priority(f, r, &p->config, &f->s->classes[i]);
}

static bool v1_only(const struct snap_device *d, unsigned port)
{
	bool v1 = false;

	/* A table that may be cut says nothing of what it lacks. */
	if (d->n_gids >= GID_MAX)
		return false;
	for (size_t i = 0; i < d->n_gids; i++) {
		if (d->gids[i].port != port)
			continue;
		if (d->gids[i].type != GID_TYPE_ROCE_V1)
			return false;
		v1 = true;
	}
	return v1;
}

static void find_rocev1(struct findings *f, const struct snap_device *d, const struct port_fact *p)
{
	if (p->link_layer != LINK_LAYER_ETHERNET || !v1_only(d, p->port))
		return;
	findings_mark_minor(
		f,
		findings_add_of_rule(
			f, "rocev1_only", CAUSE_CONFIGURATION, false,
			snapshot_printf(f->s, "port:%s/%u", d->name, p->port),
			snapshot_printf(f->s,
					"port %u of %s has GIDs of RoCE v1 only, which no router "
					"passes on and no ECN marks: turn on RoCE v2 in its driver "
					"or firmware",
					p->port, d->name),
			0));
}

static void find_pci(struct findings *f, const struct snap_device *d)
{
	const struct pci_link *now = &d->fact.pci, *could = &d->fact.pci_possible;
	bool narrow = now->lanes && now->lanes < could->lanes;
	bool slow = now->mega_transfers && now->mega_transfers < could->mega_transfers;
	struct snap_finding *finding;

	if (!narrow && !slow)
		return;
	finding = findings_add_of_rule(
		f, "pcie_degraded", CAUSE_LOCAL_HOST, false,
		snapshot_printf(f->s, "pci:%s",
				d->fact.pci_address[0] ? d->fact.pci_address : d->name),
		snapshot_printf(f->s,
				"the PCI link of %s runs at x%u and %.1f GT/s, card and slot can "
				"x%u and %.1f GT/s: reseat the card, look at riser and firmware",
				d->name, now->lanes, now->mega_transfers / 1e3, could->lanes,
				could->mega_transfers / 1e3),
		0);
	findings_mark_minor(f, finding);
	hang_on(f, finding,
		(struct snap_evidence[]){
			{.name = "lanes", .value = now->lanes, .threshold = could->lanes},
			{.name = "mega_transfers_per_second",
			 .value = now->mega_transfers,
			 .threshold = could->mega_transfers}},
		2);
}

static void find_subnet(struct findings *f, const struct judge_subnet *pair)
{
	findings_mark_minor(f, findings_add_of_rule(f, "same_subnet", CAUSE_CONFIGURATION, false,
						    snapshot_printf(f->s, "rails:%s+%s", pair->rail,
								    pair->other),
						    pair->text, 0));
}

void judge_facts(const struct judge_input *in, struct findings *f)
{
	for (size_t i = 0; i < f->s->n_rails; i++)
		find_priorities(f, &f->s->rails[i]);
	for (size_t i = 0; i < f->s->n_devices; i++) {
		const struct snap_device *d = &f->s->devices[i];

		if (!d->counters_fresh)
			continue;
		find_pci(f, d);
		for (size_t k = 0; k < d->n_ports; k++)
			find_rocev1(f, d, &d->ports[k]);
	}
	for (size_t i = 0; i < in->n_subnets; i++)
		find_subnet(f, &in->subnets[i]);
}
