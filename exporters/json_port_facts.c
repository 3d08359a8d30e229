#include "exporters/json_port_facts.h"

#include <stdio.h>

/* {"speed_mega_transfers_per_second":16000,"lanes":16}; null when neither is known. */
static void put_link(struct jsonw *j, const char *key, const struct pci_link *link)
{
	jsonw_key(j, key);
	if (!link->lanes && !link->mega_transfers) {
		jsonw_null(j);
		return;
	}
	jsonw_open_object(j);
	jsonw_put_known_u64(j, "mega_transfers_per_second", link->mega_transfers);
	jsonw_put_known_u64(j, "lanes", link->lanes);
	jsonw_close_object(j);
}

void json_put_device_facts(struct jsonw *j, const struct snap_device *d)
{
	const struct device_fact *f = &d->fact;

	jsonw_put_known_string(j, "pci_address", f->pci_address);
	jsonw_key(j, "numa_node");
	if (f->has_numa_node)
		jsonw_u64(j, f->numa_node);
	else
		jsonw_null(j);
	jsonw_put_known_string(j, "firmware", f->firmware);
	jsonw_put_known_string(j, "board", f->board);
	jsonw_key(j, "is_vf");
	jsonw_bool(j, f->is_vf);
	put_link(j, "pci_link", &f->pci);
	put_link(j, "pci_link_possible", &f->pci_possible);
}

/* The priorities of a mask in ascending order; null when it is not known. */
static void put_mask(struct jsonw *j, const char *key, bool known, uint8_t mask)
{
	jsonw_key(j, key);
	if (!known) {
		jsonw_null(j);
		return;
	}
	jsonw_open_array(j);
	for (unsigned p = 0; p < PRIORITIES; p++)
		if (mask & 1u << p)
			jsonw_u64(j, p);
	jsonw_close_array(j);
}

static void put_classes(struct jsonw *j, const struct port_config_fact *c)
{
	jsonw_key(j, "priority_classes");
	if (!c->classes_known) {
		jsonw_null(j);
		return;
	}
	jsonw_open_array(j);
	for (unsigned p = 0; p < PRIORITIES; p++)
		jsonw_u64(j, c->priority_class[p]);
	jsonw_close_array(j);
}

/* {"26":3,"48":6}: only what has an entry. */
static void put_dscp(struct jsonw *j, const struct port_config_fact *c)
{
	char key[8];

	jsonw_key(j, "dscp_priorities");
	if (c->trust != TRUST_DSCP) {
		jsonw_null(j);
		return;
	}
	jsonw_open_object(j);
	for (unsigned d = 0; d < DSCP_COUNT; d++) {
		if (c->dscp_priority[d] >= PRIORITIES)
			continue;
		snprintf(key, sizeof(key), "%u", d);
		jsonw_put_u64(j, key, c->dscp_priority[d]);
	}
	jsonw_close_object(j);
}

/* Zero is a ToS as any other, and a DSCP or a priority. */
static void put_small(struct jsonw *j, const char *key, bool known, uint8_t value)
{
	jsonw_key(j, key);
	if (known)
		jsonw_u64(j, value);
	else
		jsonw_null(j);
}

/* By traffic class; null is a class without a limit. Without DCB's table no array at all. */
static void put_max_rates(struct jsonw *j, const struct port_config_fact *c)
{
	jsonw_key(j, "class_max_rates_bytes_per_second");
	if (!c->max_rates_known) {
		jsonw_null(j);
		return;
	}
	jsonw_open_array(j);
	for (unsigned t = 0; t < TRAFFIC_CLASSES; t++) {
		if (c->max_kilobits[t])
			jsonw_u64(j, c->max_kilobits[t] * BYTES_OF_KILOBIT);
		else
			jsonw_null(j);
	}
	jsonw_close_array(j);
}

/* What a link could do, and its lanes; of the one that ends in a netdev, or of a port. */
static void put_link_facts(struct jsonw *j, const struct link_fact *l)
{
	jsonw_put_known_u64(j, "possible_rate_bytes_per_second",
			    l->possible_megabits * BYTES_OF_MEGABIT);
	jsonw_put_known_u64(j, "partner_rate_bytes_per_second",
			    l->partner_megabits * BYTES_OF_MEGABIT);
	jsonw_put_known_u64(j, "lanes", l->lanes);
	jsonw_put_known_u64(j, "common_lanes", l->common_lanes);
}

static void put_leg_up(struct jsonw *j, const struct port_config_fact *c, unsigned leg)
{
	jsonw_key(j, "up");
	if (c->legs_known & 1u << leg)
		jsonw_bool(j, c->legs_up & 1u << leg);
	else
		jsonw_null(j);
}

static void put_legs(struct jsonw *j, const struct port_fact *p)
{
	unsigned n = port_fact_legs(p);

	jsonw_key(j, "legs");
	jsonw_open_array(j);
	for (unsigned i = 0; i < n; i++) {
		jsonw_open_object(j);
		jsonw_put_string(j, "netdev", p->config.members[i]);
		put_leg_up(j, &p->config, i);
		jsonw_put_known_u64(j, "rate_bytes_per_second",
				    p->leg[i].megabits * BYTES_OF_MEGABIT);
		jsonw_put_known_u64(j, "common_rate_bytes_per_second",
				    p->leg[i].common_megabits * BYTES_OF_MEGABIT);
		put_link_facts(j, &p->leg[i]);
		jsonw_close_object(j);
	}
	jsonw_close_array(j);
}

static void put_bond(struct jsonw *j, const struct port_config_fact *c)
{
	jsonw_put_known_string(j, "bond", c->bond);
	jsonw_key(j, "bond_members");
	jsonw_open_array(j);
	for (unsigned i = 0; i < c->n_members; i++)
		jsonw_string(j, c->members[i]);
	jsonw_close_array(j);
}

void json_put_port_facts(struct jsonw *j, const struct port_fact *p, const struct snap_rail *rail)
{
	const struct port_config_fact *c = &p->config;

	jsonw_key(j, "facts");
	jsonw_open_object(j);
	jsonw_put_known_u64(j, "expected_rate_bytes_per_second", p->expected_rate_bytes_per_second);
	jsonw_put_known_string(j, "expected_rate_by", rate_source_name(p->expected_by));
	put_link_facts(j, &p->link);
	jsonw_put_known_u64(j, "active_mtu_bytes", rail ? rail->fact.mtu : 0);
	jsonw_put_known_u64(j, "netdev_mtu_bytes", c->netdev_mtu);
	put_mask(j, "pfc_priorities", c->pfc_known, c->pfc);
	jsonw_put_known_string(j, "trust", port_trust_name(c->trust));
	put_classes(j, c);
	put_dscp(j, c);
	put_mask(j, "ecn_np_priorities", c->ecn_np_known, c->ecn_np);
	put_mask(j, "ecn_rp_priorities", c->ecn_rp_known, c->ecn_rp);
	put_small(j, "cnp_dscp", c->cnp_dscp_known, c->cnp_dscp);
	put_small(j, "cnp_priority", c->cnp_priority_known, c->cnp_priority);
	jsonw_put_known_string(j, "default_roce_mode", gid_type_name(c->roce_mode));
	put_small(j, "default_roce_tos", c->roce_tos_known, c->roce_tos);
	put_small(j, "forced_tos", c->forced_tos_known, c->forced_tos);
	put_max_rates(j, c);
	put_bond(j, c);
	put_legs(j, p);
	jsonw_close_object(j);
}
