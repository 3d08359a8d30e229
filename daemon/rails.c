#include "daemon/rails.h"

#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "daemon/config.h"
#include "probes/table.h"

struct rails {
	struct rail *list[RAILS_MAX]; /* sorted by name */
	size_t n;
};

struct rails *rails_new(void)
{
	return calloc(1, sizeof(struct rails));
}

static void rail_free(struct rail *rail)
{
	rail_books_free(rail->books);
	free(rail);
}

void rails_free(struct rails *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		rail_free(r->list[i]);
	free(r);
}

size_t rails_count(const struct rails *r)
{
	return r->n;
}

struct rail *rails_get(const struct rails *r, size_t i)
{
	return r->list[i];
}

struct rail *rails_find(const struct rails *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->list[i]->name, name) == 0)
			return r->list[i];
	return NULL;
}

struct rail *rails_by_index(const struct rails *r, const char *device, uint32_t index)
{
	for (size_t i = 0; i < r->n; i++) {
		struct rail *rail = r->list[i];

		if (rail->present && rail->index == index && strcmp(rail->device, device) == 0)
			return rail;
	}
	return NULL;
}

static struct rail *add(struct rails *r, const char *name)
{
	struct rail *rail;
	size_t at = r->n;

	if (r->n == RAILS_MAX)
		return NULL;
	rail = calloc(1, sizeof(*rail));
	if (!rail)
		return NULL;
	rail->books = rail_books_new();
	if (!rail->books) {
		free(rail);
		return NULL;
	}
	name_copy(rail->name, sizeof(rail->name), name);
	for (; at > 0 && strcmp(r->list[at - 1]->name, name) > 0; at--)
		r->list[at] = r->list[at - 1];
	r->list[at] = rail;
	r->n++;
	return rail;
}

void rails_configure(struct rails *r, const struct config *config,
		     bool (*keep)(void *arg, const char *device), void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		r->list[i]->configured = false;
	for (size_t i = 0; i < config->n_rails; i++) {
		struct rail *rail = rails_find(r, config->rails[i].name);

		if (!rail)
			rail = add(r, config->rails[i].name);
		if (rail)
			rail->configured = true;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct rail *rail = r->list[i];
		bool wanted = keep(arg, rail->device);

		rail->present &= wanted;
		if (rail->configured || wanted)
			r->list[kept++] = rail;
		else
			rail_free(rail);
	}
	r->n = kept;
}

/* The rail of that name, unless another device has it. */
static enum rail_change claim(struct rails *r, const char *device, uint32_t index, const char *name,
			      struct rail **ret_rail)
{
	struct rail *rail = rails_find(r, name);

	if (!rail && rail_name_valid(name))
		rail = add(r, name);
	if (!rail)
		return RAIL_IGNORED;
	if (rail->present && (rail->index != index || strcmp(rail->device, device) != 0))
		return RAIL_CONFLICT;
	*ret_rail = rail;
	return RAIL_SAME;
}

/* The worker gave the index to another rail, or to none. */
static void release_index(struct rails *r, const char *device, uint32_t index, const char *name)
{
	struct rail *rail = rails_by_index(r, device, index);

	if (rail && strcmp(rail->name, name) != 0)
		rail->present = false;
}

static void totals_add(struct rail_totals *into, const struct rail_totals *from)
{
	into->attempts += from->attempts;
	for (unsigned i = 0; i < CONNECT_COUNT; i++)
		into->failures[i] += from->failures[i];
	for (unsigned i = 0; i < DRAIN_COUNT; i++)
		into->drains[i] += from->drains[i];
	for (unsigned i = 0; i < REFUSE_COUNT; i++)
		into->refused[i] += from->refused[i];
}

static void raise_all(uint64_t *into, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

/* A worker only counts up; what does not is a worker gone wild. */
static void totals_raise(struct rail_totals *into, const struct rail_totals *from)
{
	raise_all(&into->attempts, &from->attempts, 1);
	raise_all(into->failures, from->failures, CONNECT_COUNT);
	raise_all(into->drains, from->drains, DRAIN_COUNT);
	raise_all(into->refused, from->refused, REFUSE_COUNT);
}

static void fold(struct rail *rail)
{
	rail_books_fold(rail->books);
	totals_add(&rail->folded, &rail->live);
	memset(&rail->live, 0, sizeof(rail->live));
}

static enum rail_change compare(const struct rail *rail, const struct rail_fact *now)
{
	if (!rail->present)
		return RAIL_APPEARED;
	if (!rail->fact.up != !now->up)
		return now->up ? RAIL_UP : RAIL_DOWN;
	if (strcmp(rail->fact.address, now->address) != 0 ||
	    memcmp(rail->fact.gid, now->gid, sizeof(now->gid)) != 0)
		return RAIL_READDRESSED;
	return RAIL_SAME;
}

enum rail_change rails_learn(struct rails *r, const char *device, uint32_t index,
			     const struct rail_fact *fact, struct rail **ret_rail)
{
	enum rail_change change;
	struct rail *rail;

	*ret_rail = NULL;
	release_index(r, device, index, fact->name);
	if (fact->name[0] == '\0')
		return RAIL_IGNORED;
	change = claim(r, device, index, fact->name, &rail);
	if (change != RAIL_SAME)
		return change;
	change = compare(rail, fact);
	/* Its counts start anew where it moved to. */
	if (rail->index != index || strcmp(rail->device, device) != 0)
		fold(rail);
	name_copy(rail->device, sizeof(rail->device), device);
	rail->index = index;
	rail->present = true;
	rail->fact = *fact;
	if (fact->address[0] != '\0')
		name_copy(rail->address, sizeof(rail->address), fact->address);
	*ret_rail = rail;
	return change;
}

static void read_rail(struct rail *rail, const struct table *table,
		      const struct class_names *classes)
{
	struct rail_totals totals;

	for (uint32_t c = 0; c < classes->n; c++) {
		for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
			struct hist hist;

			table_get_hist(table, rail->index, c, stream, &hist);
			rail_books_hist(rail->books, classes->name[c], stream, &hist);
		}
	}
	if (table_get_rail_totals(table, rail->index, &totals))
		totals_raise(&rail->live, &totals);
}

void rails_read(struct rails *r, const char *device, const struct table *table,
		const struct class_names *classes)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i]->present && strcmp(r->list[i]->device, device) == 0)
			read_rail(r->list[i], table, classes);
}

void rails_worker_ended(struct rails *r, const char *device)
{
	for (size_t i = 0; i < r->n; i++) {
		struct rail *rail = r->list[i];

		if (strcmp(rail->device, device) != 0)
			continue;
		fold(rail);
		rail->present = false;
	}
}

void rail_totals_sum(const struct rail *rail, struct rail_totals *ret)
{
	*ret = rail->folded;
	totals_add(ret, &rail->live);
}
