#include "daemon/wishes.h"

#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/config.h"

static void fill(struct worker_config *to, const struct wishes_config *how)
{
	const struct config *from = how->config;

	to->instance = how->instance;
	to->generation = how->generation;
	to->n_rails = (uint32_t)from->n_rails;
	memcpy(to->rails, from->rails, sizeof(to->rails));
	to->n_classes = (uint32_t)from->n_classes;
	memcpy(to->classes, from->classes, sizeof(to->classes));
	to->ack_timeout = from->ack_timeout;
	to->retry_count = from->retry_count;
	to->qps_per_device = from->qps_per_device;
	to->connects = from->connects;
	to->probes_per_second = from->probes_per_second;
	to->allow_rocev1 = from->allow_rocev1;
	to->accept_any = from->accept_any;
	to->counters_only = how->counters_only;
	to->cm_port = RDMA_CM_PORT;
	to->has_secret = from->has_secret;
	memcpy(to->secret, from->secret, sizeof(to->secret));
	to->keepalive_ms = (uint32_t)(from->keepalive_ns / NSEC_PER_MSEC);
	to->counters_interval_ns = from->counters_interval_ns;
	to->netdev_stats = from->netdev_stats;
	name_copy(to->host, sizeof(to->host), how->host);
	name_copy(to->device, sizeof(to->device), how->device);
	name_copy(to->sysfs_root, sizeof(to->sysfs_root), how->sysfs_root);
	memcpy(to->op, from->op, sizeof(to->op));
}

void wishes_send_config(struct worker_proc *w, const struct wishes_config *how)
{
	struct wish wish = {.type = WISH_CONFIG};

	fill(&wish.config, how);
	worker_proc_send(w, &wish);
}

static void send_chunk(struct worker_proc *w, struct wish *wish)
{
	worker_proc_send(w, wish);
	wish->accept.first = wish->accept.n = 0;
}

static void add_address(struct worker_proc *w, struct wish *wish, const union address *a)
{
	wish->accept.address[wish->accept.n++] = address_mapped(a);
	if (wish->accept.n == ACCEPT_CHUNK)
		send_chunk(w, wish);
}

void wishes_send_accept(struct worker_proc *w, const struct peers *peers)
{
	struct wish wish = {.type = WISH_ACCEPT, .accept.first = 1};

	for (size_t i = 0; i < peers_count(peers); i++)
		if (peers_get(peers, i)->address.sa.sa_family != AF_UNSPEC &&
		    !peers_get(peers, i)->ours)
			add_address(w, &wish, &peers_get(peers, i)->address);
	/* Also an empty list is told. */
	if (wish.accept.n > 0 || wish.accept.first)
		send_chunk(w, &wish);
	wish.accept.own = 1;
	for (size_t i = 0; i < peers_own_count(peers); i++)
		add_address(w, &wish, peers_own(peers, i));
	if (wish.accept.n > 0)
		send_chunk(w, &wish);
}
