/* Families of how ports are set up, and of what must be equal across a fabric. */
#include "exporters/metrics_parts.h"

#include <string.h>

typedef void (*port_fn)(struct exposition *e, const struct snapshot *s, const struct snap_device *d,
			const struct port_fact *p);

static void each_port(struct exposition *e, const struct snapshot *s, const char *name,
		      const char *help, port_fn fn)
{
	exposition_family(e, name, FAMILY_GAUGE, help);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; !d->gone && k < d->n_ports; k++)
			fn(e, s, d, &d->ports[k]);
	}
}

/* One number of a port; false: not known. */
typedef bool (*number_fn)(const struct port_fact *p, uint64_t *ret);

static void each_number(struct exposition *e, const struct snapshot *s, const char *name,
			const char *help, number_fn fn)
{
	uint64_t value;

	exposition_family(e, name, FAMILY_GAUGE, help);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (size_t k = 0; !d->gone && k < d->n_ports; k++)
			if (fn(&d->ports[k], &value) && metrics_open_port(e, d, d->ports[k].port))
				exposition_u64(e, value);
	}
}

static bool expected(const struct port_fact *p, uint64_t *ret)
{
	return (*ret = p->expected_rate_bytes_per_second) != 0;
}

static bool possible(const struct port_fact *p, uint64_t *ret)
{
	return (*ret = p->link.possible_megabits * BYTES_OF_MEGABIT) != 0;
}

static bool lanes(const struct port_fact *p, uint64_t *ret)
{
	return (*ret = p->link.lanes) != 0;
}

static bool cnp_dscp(const struct port_fact *p, uint64_t *ret)
{
	*ret = p->config.cnp_dscp;
	return p->config.cnp_dscp_known;
}

static bool cnp_priority(const struct port_fact *p, uint64_t *ret)
{
	*ret = p->config.cnp_priority;
	return p->config.cnp_priority_known;
}

static bool forced_tos(const struct port_fact *p, uint64_t *ret)
{
	*ret = p->config.forced_tos;
	return p->config.forced_tos_known;
}

static void put_legs(struct exposition *e, const struct snapshot *s, const struct snap_device *d,
		     const struct port_fact *p)
{
	const struct port_config_fact *c = &p->config;
	unsigned n = port_fact_legs(p);

	(void)s;
	for (unsigned i = 0; i < n; i++) {
		if (!(c->legs_known & 1u << i) || !metrics_open_port(e, d, p->port))
			continue;
		exposition_label(e, "netdev", c->members[i]);
		exposition_u64(e, c->legs_up >> i & 1u);
	}
}

static void put_active_mtu(struct exposition *e, const struct snapshot *s,
			   const struct snap_device *d, const struct port_fact *p)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *r = &s->rails[i];

		if (!r->present || r->fact.port != p->port || strcmp(r->fact.device, d->name) != 0)
			continue;
		if (r->fact.mtu && metrics_open_port(e, d, p->port))
			exposition_u64(e, r->fact.mtu);
		return;
	}
}

static void put_mask(struct exposition *e, const struct snap_device *d, const struct port_fact *p,
		     const char *side, uint8_t mask)
{
	for (unsigned k = 0; k < PRIORITIES; k++) {
		if (!metrics_open_port(e, d, p->port))
			continue;
		exposition_label_u64(e, "priority", k);
		if (side)
			exposition_label(e, "side", side);
		exposition_u64(e, mask >> k & 1u);
	}
}

static void put_pfc(struct exposition *e, const struct snapshot *s, const struct snap_device *d,
		    const struct port_fact *p)
{
	(void)s;
	if (p->config.pfc_known)
		put_mask(e, d, p, NULL, p->config.pfc);
}

static void put_ecn(struct exposition *e, const struct snapshot *s, const struct snap_device *d,
		    const struct port_fact *p)
{
	(void)s;
	if (p->config.ecn_np_known)
		put_mask(e, d, p, "notification", p->config.ecn_np);
	if (p->config.ecn_rp_known)
		put_mask(e, d, p, "reaction", p->config.ecn_rp);
}

static void put_max_rates(struct exposition *e, const struct snapshot *s,
			  const struct snap_device *d, const struct port_fact *p)
{
	(void)s;
	for (unsigned t = 0; t < TRAFFIC_CLASSES; t++) {
		if (!p->config.max_kilobits[t] || !metrics_open_port(e, d, p->port))
			continue;
		exposition_label_u64(e, "traffic_class", t);
		exposition_u64(e, p->config.max_kilobits[t] * BYTES_OF_KILOBIT);
	}
}

static bool any_known(const struct snap_device *d, const struct port_config_fact *c)
{
	return c->trust != TRUST_UNKNOWN || c->roce_mode != GID_TYPE_UNKNOWN || c->roce_tos_known ||
	       c->bond[0] || d->fact.has_numa_node;
}

static void put_info(struct exposition *e, const struct snapshot *s, const struct snap_device *d,
		     const struct port_fact *p)
{
	const struct port_config_fact *c = &p->config;

	(void)s;
	if (!any_known(d, c) || !metrics_open_port(e, d, p->port))
		return;
	exposition_label(e, "trust", port_trust_name(c->trust));
	exposition_label(e, "default_roce_mode", gid_type_name(c->roce_mode));
	if (c->roce_tos_known)
		exposition_label_u64(e, "default_roce_tos", c->roce_tos);
	else
		exposition_label(e, "default_roce_tos", "");
	exposition_label(e, "bond", c->bond);
	if (d->fact.has_numa_node)
		exposition_label_u64(e, "numa_node", d->fact.numa_node);
	else
		exposition_label(e, "numa_node", "");
	exposition_u64(e, 1);
}

static void put_fabric(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_pingmesh_fabric_info", FAMILY_GAUGE,
			  "Fingerprint of what must be equal across a fabric; always 1.");
	if (!s->fabric.fingerprint[0] || !exposition_admit(e, 1))
		return;
	exposition_sample(e, "");
	exposition_label(e, "fingerprint", s->fabric.fingerprint);
	exposition_u64(e, 1);
}

void metrics_put_config(struct exposition *e, const struct snapshot *s)
{
	each_number(e, s, "rdma_port_expected_rate_bytes_per_second",
		    "Link rate that the port should have: as configured, or the fastest mode that "
		    "both ends of the link advertise.",
		    expected);
	each_number(e, s, "rdma_port_possible_rate_bytes_per_second",
		    "Fastest mode that this end of the link supports, whatever the other can.",
		    possible);
	each_number(e, s, "rdma_port_lanes", "Lanes that the link runs on.", lanes);
	each_port(e, s, "rdma_port_leg_up", "1 where the leg of the port's bond has its link.",
		  put_legs);
	each_port(e, s, "rdma_port_active_mtu_bytes", "MTU that queue pairs of the port use.",
		  put_active_mtu);
	each_port(e, s, "rdma_port_pfc_enabled",
		  "1 where the priority has priority flow control; absent where DCB is unknown.",
		  put_pfc);
	each_port(e, s, "rdma_port_ecn_enabled",
		  "1 where congestion control is on in the priority: notification sends CNP, "
		  "reaction obeys them.",
		  put_ecn);
	each_number(e, s, "rdma_port_cnp_dscp", "DSCP with which congestion notifications leave.",
		    cnp_dscp);
	each_number(e, s, "rdma_port_cnp_priority",
		    "Priority (802.1p) with which congestion notifications leave.", cnp_priority);
	each_number(e, s, "rdma_port_forced_tos",
		    "ToS that the driver puts into all packets of RoCE, whatever was asked for.",
		    forced_tos);
	each_port(e, s, "rdma_port_class_max_rate_bytes_per_second",
		  "Limit of what a traffic class may send; absent where there is none.",
		  put_max_rates);
	each_port(e, s, "rdma_port_config_info",
		  "How the port is set up, as far as anything is known; always 1.", put_info);
	put_fabric(e, s);
}
