/* The rails of this device: found by scanning, listened on, reported. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "probes/backoff.h"
#include "probes/control_priv.h"
#include "probes/scan.h"
#include "probes/table.h"
#include "probes/worker.h"

#define LISTEN_TELL 3 /* failures in a row before it is worth a word */

void rails_rescan_soon(struct control *c, uint64_t in_ns)
{
	uint64_t at = c->p.now_ns() + in_ns;

	if (at < c->rescan_ns)
		c->rescan_ns = at;
}

/* --- listening --- */

static int listen_on(struct control *c, struct listener *l)
{
	struct rdma_cm_id *id;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr = {0};
	int err;

	if (IN6_IS_ADDR_V4MAPPED(&l->address)) {
		addr.in.sin_family = AF_INET;
		addr.in.sin_port = htons(c->cfg.cm_port);
		memcpy(&addr.in.sin_addr, &l->address.s6_addr[12], 4);
	} else {
		addr.in6.sin6_family = AF_INET6;
		addr.in6.sin6_port = htons(c->cfg.cm_port);
		addr.in6.sin6_addr = l->address;
	}
	if (rdma_create_id(c->channel, &id, l, RDMA_PS_TCP))
		return -errno;
	if (rdma_bind_addr(id, &addr.sa) || rdma_listen(id, LISTEN_BACKLOG)) {
		err = errno;
		rdma_destroy_id(id);
		return -err;
	}
	l->id = id;
	return 0;
}

/* The port may still be held by a process that is about to go, and an address may not be there
 * yet: rdma_cm says EADDRNOTAVAIL for both, so both are tried again. */
static void listen_failed(struct control *c, struct listener *l, int err)
{
	char text[FACT_TEXT], where[FACT_ADDRESS];

	l->retry_ns = c->p.now_ns() + backoff_ns(l->attempt++, NSEC_PER_SEC, 10 * NSEC_PER_SEC,
						 NSEC_PER_SEC / 2, c->p.random());
	if (l->attempt < LISTEN_TELL)
		return;
	rail_address_text(&l->address, where);
	snprintf(text, sizeof(text), "cannot listen on %s port %u: %s; is another process there?",
		 where, c->cfg.cm_port, strerror(-err));
	tell_device(c, text);
}

static void open_endpoint(struct control *c, struct ibv_context *verbs)
{
	char err[FACT_TEXT];
	struct rail_cmd cmd = {.type = RAIL_ENDPOINT};

	/* After a failure another address of the device is no second chance: main's next worker is.
	 */
	if (endpoint_verbs(c->endpoint) || !verbs || c->exit_code >= 0)
		return;
	if (endpoint_open(c->endpoint, verbs, err, sizeof(err)) < 0) {
		tell_device(c, err);
		c->exit_code = WORKER_EXIT_RETRY;
		return;
	}
	cmd.channel = endpoint_channel(c->endpoint);
	cmd.rx = *endpoint_rx(c->endpoint);
	command(c, &cmd);
	conn_tell_queues(c);
	tell_device(c, "");
}

static void try_listen(struct control *c, struct listener *l)
{
	int r = listen_on(c, l);

	if (r < 0) {
		listen_failed(c, l, r);
		return;
	}
	if (l->attempt >= LISTEN_TELL)
		tell_device(c, "");
	l->attempt = 0;
	l->retry_ns = TIMER_NEVER;
	open_endpoint(c, l->id->verbs);
}

static void add_listener(struct control *c, struct control_rail *r, uint32_t rail,
			 const struct in6_addr *a)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->owner.kind = CM_LISTENER;
	l->address = *a;
	l->rail = rail;
	r->listener[r->n_listeners++] = l;
	try_listen(c, l);
}

static void drop_listener(struct control_rail *r, uint32_t i)
{
	struct listener *l = r->listener[i];

	if (l->id)
		rdma_destroy_id(l->id);
	free(l);
	r->listener[i] = r->listener[--r->n_listeners];
}

static bool listed(const struct rail_pick *p, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < p->n_addresses; i++)
		if (IN6_ARE_ADDR_EQUAL(&p->addresses[i], a))
			return true;
	return false;
}

static bool listening(const struct control_rail *r, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < r->n_listeners; i++)
		if (IN6_ARE_ADDR_EQUAL(&r->listener[i]->address, a))
			return true;
	return false;
}

static void follow_addresses(struct control *c, uint32_t rail, const struct rail_pick *p)
{
	struct control_rail *r = &c->rails[rail];

	for (uint32_t i = r->n_listeners; i-- > 0;)
		if (!listed(p, &r->listener[i]->address))
			drop_listener(r, i);
	for (uint32_t i = 0; i < p->n_addresses; i++)
		if (!listening(r, &p->addresses[i]))
			add_listener(c, r, rail, &p->addresses[i]);
}

void rails_listen_retry(struct control *c, uint64_t now)
{
	for (uint32_t i = 0; i < c->n_rails; i++)
		for (uint32_t j = 0; j < c->rails[i].n_listeners; j++) {
			struct listener *l = c->rails[i].listener[j];

			if (l->id || l->retry_ns > now)
				continue;
			try_listen(c, l);
			if (l->id)
				rails_rescan_soon(c, 0);
		}
}

uint64_t rails_next_retry(const struct control *c)
{
	uint64_t at = TIMER_NEVER;

	for (uint32_t i = 0; i < c->n_rails; i++)
		for (uint32_t j = 0; j < c->rails[i].n_listeners; j++) {
			const struct listener *l = c->rails[i].listener[j];

			if (!l->id && l->retry_ns < at)
				at = l->retry_ns;
		}
	return at;
}

void rails_close(struct control *c)
{
	for (uint32_t i = 0; i < c->n_rails; i++)
		while (c->rails[i].n_listeners)
			drop_listener(&c->rails[i], 0);
}

/* --- scanning --- */

static uint32_t rail_index(struct control *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_rails; i++)
		if (!strcmp(c->rails[i].fact.name, name))
			return i;
	if (c->n_rails == RAIL_MAX)
		return RAIL_MAX;
	name_copy(c->rails[c->n_rails].fact.name, FACT_NAME, name);
	return c->n_rails++;
}

static void set_fact(struct control *c, uint32_t i, const struct rail_fact *fact, bool is_new)
{
	struct rail_fact *old = &c->rails[i].fact;
	bool was_up = old->up, moved = memcmp(old->gid, fact->gid, sizeof(fact->gid)) != 0;

	if (!is_new && !memcmp(old, fact, sizeof(*fact)))
		return;
	*old = *fact;
	if (was_up != fact->up || is_new)
		command(c, &(struct rail_cmd){.type = RAIL_PORT, .index = i, .value = fact->up});
	tell_rail(c, i);
	/* Peers that knew no sender of the old address may know this one. */
	if (fact->up && (!was_up || moved))
		sessions_wake_rail(c, i);
	if (!fact->up && was_up)
		sessions_start_booking(c, i);
}

static void apply(struct control *c, const struct rail_pick *p, bool *seen)
{
	uint32_t before = c->n_rails, i = rail_index(c, p->fact.name);
	struct rail_fact fact = p->fact;

	if (i == RAIL_MAX)
		return;
	seen[i] = true;
	c->rails[i].source = p->source;
	follow_addresses(c, i, p);
	if (fact.up && !endpoint_verbs(c->endpoint)) {
		fact.up = 0;
		name_copy(fact.reason, sizeof(fact.reason),
			  c->device_reason[0] ? c->device_reason : "not listening yet");
	}
	set_fact(c, i, &fact, i >= before);
}

static void lost(struct control *c, uint32_t i)
{
	struct rail_fact fact = c->rails[i].fact;
	struct rail_pick none = {0};

	follow_addresses(c, i, &none);
	fact.up = 0;
	fact.address[0] = '\0';
	snprintf(fact.reason, sizeof(fact.reason), "%.60s has no usable address any more",
		 fact.netdev[0] ? fact.netdev : fact.device);
	set_fact(c, i, &fact, false);
}

static bool is_listed(const struct control *c, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < c->n_listed; i++)
		if (IN6_ARE_ADDR_EQUAL(&c->accept[i], a))
			return true;
	return false;
}

static bool is_source(const struct control *c, const struct in6_addr *a)
{
	for (uint32_t i = 0; i < c->n_rails; i++)
		if (IN6_ARE_ADDR_EQUAL(&c->rails[i].source, a))
			return true;
	return false;
}

/* What the scan cannot know and the choice of a source goes by. */
static void mark_addresses(struct control *c)
{
	for (uint32_t i = 0; i < c->scan->n_addresses; i++) {
		struct scan_address *a = &c->scan->addresses[i];

		a->listed = is_listed(c, &a->addr);
		a->in_use = is_source(c, &a->addr);
	}
}

static bool scan(struct control *c)
{
	int r = scan_device(endpoint_own(c->endpoint), c->cfg.device, c->scan);

	if (r == -EIO || r == -ENODEV)
		c->device_gone = true;
	return r == 0;
}

void rails_rescan(struct control *c)
{
	bool seen[RAIL_MAX] = {0};
	uint32_t n;

	c->rescan_ns = c->p.now_ns() + RESCAN_NS;
	if (!endpoint_own(c->endpoint) || !c->channel || !scan(c))
		return;
	mark_addresses(c);
	n = rails_select(c->scan, c->cfg.rails, c->cfg.n_rails, c->cfg.allow_rocev1, c->picks);
	for (uint32_t i = 0; i < n; i++)
		apply(c, &c->picks[i], seen);
	for (uint32_t i = 0; i < c->n_rails; i++)
		if (!seen[i])
			lost(c, i);
	sessions_check_gids(c);
	conns_follow_port(c);
}

bool rails_port_active(const struct control *c, uint32_t rail)
{
	const struct control_rail *r = &c->rails[rail];
	bool active = false;

	for (uint32_t i = 0; i < c->scan->n_ports; i++)
		if (c->scan->ports[i].port == r->fact.port)
			active = c->scan->ports[i].active;
	for (uint32_t i = 0; active && i < c->scan->n_addresses; i++)
		if (IN6_ARE_ADDR_EQUAL(&c->scan->addresses[i].addr, &r->source))
			return true;
	return false;
}

bool rails_has_gid(const struct control *c, const uint8_t gid[16])
{
	static const uint8_t unknown[16];

	if (!memcmp(gid, unknown, sizeof(unknown)))
		return true; /* verbs did not tell: no sign that it is gone */
	for (uint32_t i = 0; i < c->scan->n_addresses; i++)
		if (!memcmp(c->scan->addresses[i].gid, gid, 16))
			return true;
	return false;
}

bool rails_port_down_now(struct control *c, uint32_t rail, const uint8_t gid[16])
{
	uint32_t port = c->rails[rail].fact.port;

	if (!scan(c))
		return c->device_gone;
	rails_rescan_soon(c, 0);
	for (uint32_t i = 0; i < c->scan->n_ports; i++)
		if (c->scan->ports[i].port == port && !c->scan->ports[i].active)
			return true;
	return !rails_has_gid(c, gid);
}
