/* Rounds of counters in the shared table of a worker gone wild: what main reads of them, what the
 * rules make of it over time, and how it is told. The input is a list of changes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "exporters/edition.h"
#include "exporters/routes.h"
#include "fuzz.h"
#include "health/device_rules.h"
#include "health/fabric.h"
#include "health/judge.h"
#include "probes/table.h"

#define DEVICE "mlx5_0"
#define BODY_MAX (64 << 20)
#define ROUNDS_MAX 12
#define VALUES 64 /* of a round at most: that there may be more is tested elsewhere */
#define GIDS 16

struct change {
	uint8_t what, size;
	uint16_t where;
	uint64_t value;
};

static struct table *table;
static struct rule_limits limits;
static struct snapshot *host;

static struct snapshot *take_snapshot(void *arg)
{
	(void)arg;
	return snapshot_ref(host);
}

static struct http_source source = {.snapshot = take_snapshot};
static struct routes routes = {.source = &source};

static void set_up(void)
{
	const struct table_layout layout = {.sessions = 1, .samples_per_stream = SAMPLES_MIN};
	int fd = -1;

	table = table_create(&layout, &fd);
	must_hold(table);
	close(fd);
	for (unsigned i = 0; i < RULE_COUNT; i++) {
		limits.on[i] = true;
		limits.warning[i] = 2;
		limits.critical[i] = 50;
	}
	limits.recovery_ns = 600 * NSEC_PER_SEC;
	limits.hold_ns = 60 * NSEC_PER_SEC;
}

/* A device that is well, with counters that rules ask for. */
static void begin(struct counter_round *r)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	memset(r, 0, offsetof(struct counter_round, gids) + GIDS * sizeof(r->gids[0]));
	memset(r->values, 0, VALUES * sizeof(r->values[0]));
	r->mono_ns = clock_now_ns() - 600 * NSEC_PER_SEC;
	r->interval_ns = NSEC_PER_SEC;
	r->n_ports = 1;
	r->ports[0].port = 1;
	r->ports[0].state_known = 1;
	r->ports[0].state = 4;
	for (size_t i = 0; i < VALUES; i++) {
		struct counter_value *v = &r->values[r->n_values++];
		const struct counter_row *row = &rows[i * n / VALUES];

		memcpy(v->name, row->name, strlen(row->name) + 1);
		v->source = (uint8_t)row->source;
		v->port = 1;
	}
}

/* Anywhere in what a round begins with, or in its values. */
static void overwrite(struct counter_round *r, const struct change *c)
{
	size_t head = offsetof(struct counter_round, gids) + GIDS * sizeof(r->gids[0]);
	size_t room = c->size & 0x80 ? head : VALUES * sizeof(r->values[0]);
	size_t size = 1 + c->size % sizeof(c->value), at = c->where % room;

	if (at + size <= room)
		memcpy((uint8_t *)(c->size & 0x80 ? (void *)r : r->values) + at, &c->value, size);
}

static void apply(struct counter_round *r, const struct change *c)
{
	struct counter_value *v = &r->values[c->where % VALUES];

	switch (c->what % 6) {
	case 0:
		overwrite(r, c);
		break;
	case 1:
		v->value += c->value;
		break;
	case 2:
		v->value += c->value % 1000000;
		break;
	case 3:
		memcpy(v->name + c->size % (FACT_NAME - sizeof(c->value)), &c->value,
		       sizeof(c->value));
		break;
	case 4:
		r->ports[0].state = c->size;
		r->n_ports = c->where;
		break;
	case 5:
		r->n_values = c->where;
		r->n_gids = c->size;
		break;
	}
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

#define must_end(array) must_hold(ends(array, sizeof(array)))

static void check_port(const struct port_fact *p)
{
	must_end(p->state_text);
	must_end(p->phys_state_text);
	must_end(p->link_layer_text);
	must_end(p->netdev);
	must_end(p->rate_text);
	must_end(p->config.bond);
	must_hold(p->config.n_members <= BOND_MEMBERS && p->config.trust <= TRUST_DSCP);
	for (unsigned i = 0; i < BOND_MEMBERS; i++)
		must_end(p->config.members[i]);
}

static void check(const struct counter_round *r)
{
	must_hold(r->n_ports <= PORT_MAX && r->n_gids <= GID_MAX && r->n_values <= COUNTER_MAX);
	must_hold(r->device.n_health <= HEALTH_MAX);
	must_end(r->device.name);
	must_end(r->device.firmware_stuck_text);
	for (uint32_t i = 0; i < r->n_ports; i++)
		check_port(&r->ports[i]);
	for (uint32_t i = 0; i < r->n_values; i++) {
		must_end(r->values[i].name);
		must_hold(r->values[i].source < COUNTER_SOURCE_COUNT);
	}
}

static void check_rule(const struct snap_rule *rule)
{
	must_hold(rule->state < RULE_STATE_COUNT && rule->n_evidence <= RULE_EVIDENCE_MAX);
	must_hold(rule->state < RULE_WARNING || rule->text[0]);
	for (unsigned i = 0; i < rule->n_evidence; i++) {
		must_hold(rule->evidence[i].value >= 0 && rule->evidence[i].window_seconds >= 0);
		must_hold(ends(rule->evidence[i].name, FACT_NAME));
	}
}

static void *copy(struct snapshot *s, const void *from, size_t n, size_t size)
{
	void *to = snapshot_alloc(s, n + 1, size);

	must_hold(to);
	memcpy(to, from, n * size);
	return to;
}

static void fill(struct snapshot *s, struct snap_device *d, const struct counter_round *r,
		 const struct device_rules *rules)
{
	s->mono_ns = r->mono_ns;
	s->wall_ns = s->mono_ns;
	s->host = s->version = s->instance = s->config_hash = s->reason = s->peer_file = "";
	s->journal.words = "";
	s->max_series = 50000;
	s->also_node_exporter = s->also_rdma_exporter = true;
	s->devices = d;
	s->n_devices = 1;
	d->name = DEVICE;
	d->reason = "";
	d->worker_state = WORKER_UP;
	d->fact = r->device;
	d->n_ports = r->n_ports;
	d->n_gids = r->n_gids;
	d->n_values = r->n_values;
	d->ports = copy(s, r->ports, d->n_ports, sizeof(*d->ports));
	d->gids = copy(s, r->gids, d->n_gids, sizeof(*d->gids));
	d->values = copy(s, r->values, d->n_values, sizeof(*d->values));
	qsort(d->values, d->n_values, sizeof(*d->values), snap_value_cmp);
	d->counters_fresh = true;
	must_hold(device_rules_fill(rules, s, d));
}

static void drain(const char *path)
{
	struct http_request req = {.path = path};
	struct http_reply r = {0};
	size_t sum = 0;
	char buf[16384];
	ssize_t n;

	routes_answer(&routes, &req, &r);
	must_hold(r.status == 200);
	while (r.read && (n = r.read(r.arg, buf, sizeof(buf))) > 0) {
		sum += (size_t)n;
		must_hold(sum < BODY_MAX);
	}
	if (r.done)
		r.done(r.arg);
}

static void tell(const struct counter_round *r, const struct device_rules *rules)
{
	struct judge_device trouble = {.trouble = ""};
	struct judge_input in = {.devices = &trouble};
	struct judge *judge = judge_new();
	struct snap_device d = {0};
	struct strbuf words = {0};

	host = snapshot_new(NULL);
	must_hold(host && judge);
	fill(host, &d, r, rules);
	judge_run(judge, &in, host);
	fabric_describe(host, &words);
	for (size_t i = 0; i < d.n_port_rules; i++)
		for (unsigned k = 0; k < RULE_COUNT; k++)
			check_rule(&d.port_rules[i].rule[k]);
	routes.editions = editions_new(&source);
	must_hold(routes.editions);
	drain("/api/v1/devices");
	drain("/api/v1/findings");
	drain("/metrics");
	editions_free(routes.editions);
	snapshot_unref(host);
	strbuf_free(&words);
	judge_free(judge);
}

static void one_round(struct counter_round *r, struct counter_round *read,
		      struct device_rules *rules)
{
	struct device_rules_input in = {
		.limits = &limits, .round = read, .all_ports = true, .retry_count = 6};

	r->n_ports %= PORT_MAX + 1;
	r->n_gids %= GIDS + 1;
	r->n_values %= VALUES + 1;
	table_publish_counters(table);
	if (!table_get_counters(table, read))
		return;
	check(read);
	in.now_ns = r->mono_ns;
	in.wall_ns = r->mono_ns;
	device_rules_round(rules, &in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct counter_round read;
	struct counter_round *round;
	struct device_rules *rules;
	struct change c;
	unsigned rounds = 0;

	if (!table)
		set_up();
	round = table_counter_slot(table);
	begin(round);
	rules = device_rules_new(DEVICE);
	must_hold(rules);
	one_round(round, &read, rules);
	for (; size >= sizeof(c) && rounds < ROUNDS_MAX; data += sizeof(c), size -= sizeof(c)) {
		memcpy(&c, data, sizeof(c));
		if (c.what >= 64) {
			apply(round, &c);
			continue;
		}
		round->mono_ns += c.value % (20 * NSEC_PER_SEC);
		one_round(round, &read, rules);
		rounds++;
	}
	tell(&read, rules);
	device_rules_free(rules);
	return 0;
}
