#include "daemon/peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "daemon/lookups.h"
#include "daemon/peer_list.h"

#define OWN_MAX 1024 /* a host whose addresses change for ever forgets the oldest */

struct peers {
	struct target *targets;
	char **lookups; /* parallel; NULL: its address was given */
	size_t n;
	union address own[OWN_MAX];
	size_t n_own, next_own;
};

struct peers *peers_new(void)
{
	return calloc(1, sizeof(struct peers));
}

static void drop(struct peers *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->lookups[i]);
	free(p->lookups);
	free(p->targets);
	p->targets = NULL;
	p->lookups = NULL;
	p->n = 0;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	drop(p);
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

static int fill_all(struct peers *fresh, const struct peer_list *list)
{
	fresh->targets = calloc(list->n + 1, sizeof(*fresh->targets));
	fresh->lookups = calloc(list->n + 1, sizeof(*fresh->lookups));
	if (!fresh->targets || !fresh->lookups)
		return -ENOMEM;
	for (; fresh->n < list->n; fresh->n++) {
		const struct peer_entry *from = &list->entries[fresh->n];

		fill(&fresh->targets[fresh->n], from);
		if (!from->lookup)
			continue;
		fresh->targets[fresh->n].pending = true;
		fresh->lookups[fresh->n] = strdup(from->lookup);
		if (!fresh->lookups[fresh->n])
			return -ENOMEM;
	}
	return 0;
}

int peers_load(struct peers *p, const struct peer_list *list)
{
	struct peers fresh = {0};

	if (fill_all(&fresh, list) < 0) {
		drop(&fresh);
		return -ENOMEM;
	}
	drop(p);
	p->targets = fresh.targets;
	p->lookups = fresh.lookups;
	p->n = fresh.n;
	return 0;
}

static void miss(struct target *t, const struct lookup *l, uint64_t now_ns)
{
	t->pending = !l || lookup_pending(l, now_ns);
	if (l && l->error[0])
		snprintf(t->trouble, sizeof(t->trouble), "host name %.80s: %s", l->name, l->error);
	else
		snprintf(t->trouble, sizeof(t->trouble), "host name %.80s: no answer yet",
			 l ? l->name : t->host);
}

static bool place(struct target *t, const struct lookup *l, uint64_t now_ns, int family)
{
	bool was_pending = t->pending;
	union address a;

	if (!l || !lookup_pick(l, family, &a)) {
		if (t->address.sa.sa_family != AF_UNSPEC)
			return false;
		miss(t, l, now_ns);
		return t->pending != was_pending;
	}
	t->pending = false;
	t->ours = address_is_loopback(&a);
	t->trouble[0] = '\0';
	if (address_equal(&a, &t->address))
		return was_pending;
	t->address = a;
	address_format(&a, t->text);
	return true;
}

/* --- names that lead to one endpoint --- */

struct place_of {
	uint64_t hash; /* of address and rail */
	const struct target *target;
	bool given, nameless;
	size_t at;
};

/* The one to keep first: one whose address was given, one that has a name, the first of the list.
 */
static int place_cmp(const void *a, const void *b)
{
	const struct place_of *pa = a, *pb = b;

	if (pa->hash != pb->hash)
		return pa->hash < pb->hash ? -1 : 1;
	if (pa->nameless != pb->nameless)
		return pa->nameless ? 1 : -1;
	if (pa->given != pb->given)
		return pa->given ? -1 : 1;
	return pa->at < pb->at ? -1 : 1;
}

static size_t gather_places(const struct peers *p, struct place_of *places)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->targets[i];

		if (t->address.sa.sa_family == AF_UNSPEC)
			continue;
		places[n++] = (struct place_of){
			.hash = address_hash(&t->address) * 31 + hash_str(t->rail),
			.target = t,
			.given = !p->lookups[i],
			.nameless = strcmp(t->host, t->text) == 0,
			.at = i,
		};
	}
	return n;
}

/* Two sessions to one endpoint would push each other out there. */
static void mark_doubles(struct peers *p)
{
	struct place_of *places = calloc(p->n + 1, sizeof(*places));
	const struct target *kept = NULL;
	size_t n;

	if (!places)
		return;
	n = gather_places(p, places);
	qsort(places, n, sizeof(*places), place_cmp);
	for (size_t i = 0; i < n; i++) {
		struct target *t = &p->targets[places[i].at];
		bool doubled = kept && address_equal(&kept->address, &t->address) &&
			       strcmp(kept->rail, t->rail) == 0;

		t->doubled = doubled;
		if (!doubled)
			kept = t;
	}
	free(places);
}

bool target_ready(const struct target *t)
{
	return !t->pending && !t->doubled;
}

bool peers_place(struct peers *p, const struct lookups *lookups, uint64_t now_ns,
		 int (*family)(void *arg, const struct target *t), void *arg)
{
	bool changed = false;

	for (size_t i = 0; i < p->n; i++)
		if (p->lookups[i])
			changed |= place(&p->targets[i], lookups_find(lookups, p->lookups[i]),
					 now_ns, family(arg, &p->targets[i]));
	if (changed)
		mark_doubles(p);
	return changed;
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

bool peers_is_us(const struct peers *p, const struct target *t)
{
	return t->ours || peers_is_own(p, &t->address);
}

const char *peers_mesh_name(const struct peers *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (peers_is_us(p, &p->targets[i]))
			return p->targets[i].host;
	return NULL;
}
