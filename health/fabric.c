#include "health/fabric.h"

#include <inttypes.h>
#include <string.h>

#include "core/hash.h"
#include "core/strbuf.h"

static void put_number(struct strbuf *b, const char *key, bool known, uint32_t value)
{
	if (known)
		strbuf_printf(b, " %s=%u", key, value);
	else
		strbuf_printf(b, " %s=-", key);
}

static void put_word(struct strbuf *b, const char *key, const char *word)
{
	strbuf_printf(b, " %s=%s", key, word[0] ? word : "-");
}

/* Short forms, so that a line can be read: "26:3,48:6". */
static void put_maps(struct strbuf *b, const struct port_config_fact *c)
{
	const char *comma = "";

	strbuf_printf(b, " classes=%s", c->classes_known ? "" : "-");
	for (unsigned p = 0; c->classes_known && p < PRIORITIES; p++)
		strbuf_printf(b, "%s%u", p ? "," : "", c->priority_class[p]);
	strbuf_printf(b, " dscp=%s", c->trust == TRUST_DSCP ? "" : "-");
	for (unsigned d = 0; c->trust == TRUST_DSCP && d < DSCP_COUNT; d++) {
		if (c->dscp_priority[d] >= PRIORITIES)
			continue;
		strbuf_printf(b, "%s%u:%u", comma, d, c->dscp_priority[d]);
		comma = ",";
	}
}

static void put_max_rates(struct strbuf *b, const struct port_config_fact *c)
{
	for (unsigned t = 0; t < TRAFFIC_CLASSES; t++)
		if (c->max_kilobits[t])
			strbuf_printf(b, " max_rate[%u]=%" PRIu64, t, c->max_kilobits[t]);
}

static void put_port(struct strbuf *b, const struct snap_rail *r, const struct port_fact *p)
{
	const struct port_config_fact *c = &p->config;

	strbuf_printf(b, "layer=%s", link_layer_name(p->link_layer));
	put_number(b, "mtu", r->fact.mtu != 0, r->fact.mtu);
	put_number(b, "netdev_mtu", c->netdev_mtu != 0, c->netdev_mtu);
	put_number(b, "pfc", c->pfc_known, c->pfc);
	put_word(b, "trust", port_trust_name(c->trust));
	put_maps(b, c);
	put_number(b, "ecn_np", c->ecn_np_known, c->ecn_np);
	put_number(b, "ecn_rp", c->ecn_rp_known, c->ecn_rp);
	put_word(b, "roce_mode", gid_type_name(c->roce_mode));
	put_number(b, "roce_tos", c->roce_tos_known, c->roce_tos);
	/* Where the driver has no such thing, nothing is said: hosts compare with older ones. */
	if (c->cnp_dscp_known)
		put_number(b, "cnp_dscp", true, c->cnp_dscp);
	if (c->cnp_priority_known)
		put_number(b, "cnp_priority", true, c->cnp_priority);
	if (c->forced_tos_known)
		put_number(b, "forced_tos", true, c->forced_tos);
	put_max_rates(b, c);
}

static const struct port_fact *port_of(const struct snapshot *s, const struct snap_rail *r)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		if (!d->counters_fresh || strcmp(d->name, r->fact.device) != 0)
			continue;
		for (size_t k = 0; k < d->n_ports; k++)
			if (d->ports[k].port == r->fact.port)
				return &d->ports[k];
	}
	return NULL;
}

static void add_part(struct snapshot *s, const char *kind, const char *name, const char *value)
{
	struct snap_part *part = &s->fabric.parts[s->fabric.n_parts++];

	part->name = snapshot_printf(s, "%s %s", kind, name);
	part->value = snapshot_str(s, value);
}

/* False: a rail's facts are not known now, or memory is out. */
static bool add_rails(struct snapshot *s, struct strbuf *b)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct snap_rail *r = &s->rails[i];
		const struct port_fact *p = r->present ? port_of(s, r) : NULL;

		if (!r->present)
			continue;
		if (!p)
			return false;
		strbuf_reset(b);
		put_port(b, r, p);
		if (strbuf_failed(b))
			return false;
		add_part(s, "rail", r->name, b->data);
	}
	return s->fabric.n_parts > 0;
}

static bool add_classes(struct snapshot *s, struct strbuf *b)
{
	for (size_t i = 0; i < s->n_classes; i++) {
		strbuf_reset(b);
		strbuf_printf(b, "tos=%d", s->classes[i].tos);
		if (strbuf_failed(b))
			return false;
		add_part(s, "class", s->classes[i].name, s->classes[i].tos < 0 ? "tos=-" : b->data);
	}
	return true;
}

/* Rails come sorted; classes as they stand in the file, which is no difference. */
static void sort_classes(struct snapshot *s)
{
	for (size_t i = 1; i < s->n_classes; i++) {
		struct snap_class class = s->classes[i];
		size_t k = i;

		for (; k > 0 && strcmp(s->classes[k - 1].name, class.name) > 0; k--)
			s->classes[k] = s->classes[k - 1];
		s->classes[k] = class;
	}
}

static const char *fingerprint(struct snapshot *s, struct strbuf *b)
{
	strbuf_reset(b);
	for (size_t i = 0; i < s->fabric.n_parts; i++)
		strbuf_printf(b, "%s: %s\n", s->fabric.parts[i].name, s->fabric.parts[i].value);
	if (strbuf_failed(b))
		return "";
	return snapshot_printf(s, "%016" PRIx64, hash_bytes(b->data, b->len));
}

void fabric_describe(struct snapshot *s, struct strbuf *scratch)
{
	s->fabric = (struct snap_fabric){.fingerprint = ""};
	s->fabric.parts =
		snapshot_alloc(s, s->n_rails + s->n_classes + 1, sizeof(*s->fabric.parts));
	if (!s->fabric.parts)
		return;
	sort_classes(s);
	strbuf_reset(scratch);
	if (add_rails(s, scratch) && add_classes(s, scratch))
		s->fabric.fingerprint = fingerprint(s, scratch);
}
