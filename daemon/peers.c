#include "daemon/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "daemon/peer_list.h"

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

static void fill(struct target *t, const struct peer_entry *from)
{
	name_copy(t->host, sizeof(t->host), from->host);
	name_copy(t->rail, sizeof(t->rail), from->rail);
	name_copy(t->rack, sizeof(t->rack), from->rack);
	name_copy(t->pod, sizeof(t->pod), from->pod);
	t->address = from->address;
	if (from->address.sa.sa_family != AF_UNSPEC)
		address_format(&from->address, t->text);
}

int peers_load(struct peers *p, const struct peer_list *list)
{
	struct target *targets = NULL;

	if (list->n > 0) {
		targets = calloc(list->n, sizeof(*targets));
		if (!targets)
			return -ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++)
		fill(&targets[i], &list->entries[i]);
	free(p->targets);
	p->targets = targets;
	p->n = list->n;
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
