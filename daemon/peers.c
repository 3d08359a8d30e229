#include "daemon/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "daemon/config.h"

#define OWN_MAX 1024 /* a host whose addresses change for ever forgets the oldest */

struct peers {
	struct target *targets;
	size_t n;
	union address own[OWN_MAX];
	size_t n_own, next_own;
};

struct peers *peers_new(void)
{
	return calloc(1, sizeof(struct peers));
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	free(p->targets);
	free(p);
}

int peers_load(struct peers *p, const struct config *config)
{
	struct target *list = NULL;

	if (config->n_peers > 0) {
		list = calloc(config->n_peers, sizeof(*list));
		if (!list)
			return -ENOMEM;
	}
	for (size_t i = 0; i < config->n_peers; i++) {
		const struct config_peer *from = &config->peers[i];

		name_copy(list[i].host, sizeof(list[i].host), from->host);
		name_copy(list[i].rail, sizeof(list[i].rail), from->rail);
		list[i].address = from->address;
		address_format(&from->address, list[i].text);
	}
	free(p->targets);
	p->targets = list;
	p->n = config->n_peers;
	return 0;
}

bool peers_is_own(const struct peers *p, const union address *a)
{
	for (size_t i = 0; i < p->n_own; i++)
		if (address_equal(&p->own[i], a))
			return true;
	return false;
}

bool peers_learn_own(struct peers *p, const union address *a)
{
	if (a->sa.sa_family == AF_UNSPEC || peers_is_own(p, a))
		return false;
	p->own[p->next_own] = *a;
	p->next_own = (p->next_own + 1) % OWN_MAX;
	if (p->n_own < OWN_MAX)
		p->n_own++;
	return true;
}

size_t peers_count(const struct peers *p)
{
	return p->n;
}

const struct target *peers_get(const struct peers *p, size_t i)
{
	return &p->targets[i];
}

size_t peers_own_count(const struct peers *p)
{
	return p->n_own;
}

const union address *peers_own(const struct peers *p, size_t i)
{
	return &p->own[i];
}

const char *peers_mesh_name(const struct peers *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (peers_is_own(p, &p->targets[i].address))
			return p->targets[i].host;
	return NULL;
}
