#include "exporters/json_devices.h"

#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "exporters/gid_text.h"
#include "exporters/json_port_rules.h"
#include "exporters/json_port_facts.h"
#include "exporters/json_device_health.h"
#include "probes/counter_table.h"

/* A name that two sources have is told by the second one with its source before it. */
static bool name_taken(const struct snap_device *d, size_t i)
{
	const struct counter_value *v = &d->values[i];

	for (size_t k = i; k > 0 && strcmp(d->values[k - 1].name, v->name) == 0; k--) {
		if (d->values[k - 1].port == v->port)
			return true;
	}
	return false;
}

static void put_counters(struct jsonw *j, const struct snap_device *d, unsigned port)
{
	char key[FACT_NAME + 16];

	jsonw_key(j, "counters");
	jsonw_open_object(j);
	for (size_t i = 0; i < d->n_values; i++) {
		const struct counter_value *v = &d->values[i];

		if (v->port != port || v->source == SOURCE_ETHTOOL || v->source == SOURCE_LEG)
			continue;
		if (name_taken(d, i))
			snprintf(key, sizeof(key), "%s/%s", counter_source_name(v->source),
				 v->name);
		else
			snprintf(key, sizeof(key), "%s", v->name);
		jsonw_put_u64(j, key, v->value);
	}
	jsonw_close_object(j);
}

static void put_netdev_counters(struct jsonw *j, const struct snap_device *d, unsigned port)
{
	jsonw_key(j, "netdev_counters");
	jsonw_open_object(j);
	for (size_t i = 0; i < d->n_values; i++) {
		const struct counter_value *v = &d->values[i];

		if (v->port == port && v->source == SOURCE_ETHTOOL)
			jsonw_put_u64(j, v->name, v->value);
	}
	jsonw_close_object(j);
}

/* The leg of a value, whose name begins with it. */
static void leg_of(const struct counter_value *v, char ret[FACT_NAME])
{
	name_copy(ret, FACT_NAME, v->name);
	ret[strcspn(ret, "/")] = '\0';
}

/* {"ens1f0np0":{"rx_prio3_pause":7}}: values come sorted, those of a leg side by side. */
static void put_leg_counters(struct jsonw *j, const struct snap_device *d, unsigned port)
{
	char last[FACT_NAME] = "", leg[FACT_NAME];

	jsonw_key(j, "leg_counters");
	jsonw_open_object(j);
	for (size_t i = 0; i < d->n_values; i++) {
		const struct counter_value *v = &d->values[i];

		if (v->port != port || v->source != SOURCE_LEG)
			continue;
		leg_of(v, leg);
		if (strcmp(leg, last) != 0) {
			if (last[0])
				jsonw_close_object(j);
			jsonw_key(j, leg);
			jsonw_open_object(j);
			name_copy(last, sizeof(last), leg);
		}
		jsonw_put_u64(j, counter_plain_name(SOURCE_LEG, v->name), v->value);
	}
	if (last[0])
		jsonw_close_object(j);
	jsonw_close_object(j);
}

/* Counters that cannot rise any more: that they stand still says nothing. */
static void put_saturated(struct jsonw *j, const struct snap_device *d, unsigned port)
{
	jsonw_key(j, "saturated");
	jsonw_open_array(j);
	for (size_t i = 0; i < d->n_values; i++) {
		if (d->values[i].port == port && d->values[i].flags & COUNTER_SATURATED)
			jsonw_string(j, d->values[i].name);
	}
	jsonw_close_array(j);
}

static const struct snap_rail *rail_of(const struct snapshot *s, const struct snap_device *d,
				       unsigned port)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *r = &s->rails[i];

		if (r->present && r->fact.port == port && strcmp(r->fact.device, d->name) == 0)
			return r;
	}
	return NULL;
}

static void put_gids(struct jsonw *j, const struct snap_device *d, unsigned port)
{
	char text[GID_TEXT_SIZE];

	jsonw_key(j, "gids");
	jsonw_open_array(j);
	for (size_t i = 0; i < d->n_gids; i++) {
		const struct gid_fact *g = &d->gids[i];

		if (g->port != port)
			continue;
		gid_text(g->gid, text);
		jsonw_open_object(j);
		jsonw_put_u64(j, "index", g->index);
		jsonw_put_string(j, "gid", text);
		jsonw_put_known_string(j, "type", gid_type_name(g->type));
		jsonw_put_known_string(j, "netdev", g->netdev);
		jsonw_close_object(j);
	}
	jsonw_close_array(j);
}

static void put_port(struct jsonw *j, const struct snapshot *s, const struct snap_device *d,
		     const struct port_fact *p)
{
	const struct snap_rail *rail = rail_of(s, d, p->port);

	jsonw_open_object(j);
	jsonw_put_u64(j, "port", p->port);
	jsonw_put_known_string(j, "rail", rail ? rail->name : "");
	jsonw_put_known_string(j, "address", rail ? rail->fact.address : "");
	jsonw_put_known_string(j, "netdev", p->netdev);
	jsonw_put_known_string(j, "link_layer", p->link_layer_text);
	jsonw_put_known_string(j, "state", p->state_known ? p->state_text : "");
	jsonw_put_known_string(j, "phys_state", p->phys_state_known ? p->phys_state_text : "");
	jsonw_key(j, "rate_bytes_per_second");
	if (p->rate_known)
		jsonw_u64(j, p->rate_bytes_per_second);
	else
		jsonw_null(j);
	json_put_port_facts(j, p, rail);
	put_gids(j, d, p->port);
	put_counters(j, d, p->port);
	put_netdev_counters(j, d, p->port);
	put_leg_counters(j, d, p->port);
	put_saturated(j, d, p->port);
	json_put_port_rules(j, snapshot_port_rules(d, p->port));
	jsonw_close_object(j);
}

static void put_worker(struct jsonw *j, const struct snap_device *d)
{
	jsonw_key(j, "worker");
	jsonw_open_object(j);
	jsonw_put_string(j, "state", worker_state_name(d->worker_state));
	jsonw_put_timestamp(j, "since", d->worker_since_wall_ns);
	jsonw_put_u64(j, "restarts", d->restarts);
	jsonw_close_object(j);
}

static bool devices_row(struct json_list *l, struct jsonw *j)
{
	const struct snap_device *d;

	if (l->next >= l->snapshot->n_devices)
		return false;
	d = &l->snapshot->devices[l->next++];
	jsonw_open_object(j);
	jsonw_put_string(j, "device", d->name);
	jsonw_put_string(j, "verdict", verdict_name(d->verdict));
	jsonw_put_string(j, "cause", cause_name(d->cause));
	jsonw_put_string(j, "reason", d->reason);
	json_put_device_facts(j, d);
	put_worker(j, d);
	put_counters(j, d, 0);
	json_put_device_health(j, d);
	jsonw_key(j, "ports");
	jsonw_open_array(j);
	for (size_t i = 0; i < d->n_ports; i++)
		put_port(j, l->snapshot, d, &d->ports[i]);
	jsonw_close_array(j);
	jsonw_close_object(j);
	return true;
}

const struct json_list_type json_devices = {.name = "devices", .row = devices_row};
