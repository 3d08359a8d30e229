#include "daemon/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

int session_key_cmp(const struct session_key *a, const struct session_key *b)
{
	int r = strcmp(a->peer, b->peer);

	if (r == 0)
		r = strcmp(a->rail, b->rail);
	if (r == 0)
		r = strcmp(a->peer_rail, b->peer_rail);
	if (r == 0)
		r = strcmp(a->class_name, b->class_name);
	return r;
}

static int entry_cmp(const void *a, const void *b)
{
	const struct plan_entry *ea = a, *eb = b;

	return session_key_cmp(&ea->key, &eb->key);
}

static int rail_by_name(const struct plan_input *in, const char *name)
{
	for (size_t i = 0; i < in->n_rails; i++)
		if (strcmp(in->rails[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* A label names the rail on both ends; without one the routing table knows the way. */
static int rail_for(const struct plan_input *in, const struct target *t)
{
	int rail;

	if (t->rail[0] != '\0')
		return rail_by_name(in, t->rail);
	if (in->n_rails == 0)
		return -1;
	if (in->n_rails == 1 && in->rails_complete)
		return 0;
	rail = in->route(in->arg, t);
	return rail >= 0 && (size_t)rail < in->n_rails ? rail : -1;
}

static void add_target(struct plan *p, const struct plan_input *in, const struct target *t)
{
	int rail = rail_for(in, t);

	if (rail < 0) {
		p->unmatched++;
		return;
	}
	for (size_t c = 0; c < in->n_classes; c++) {
		struct plan_entry *e = &p->entries[p->n++];

		name_copy(e->key.peer, sizeof(e->key.peer), t->host);
		name_copy(e->key.rail, sizeof(e->key.rail), in->rails[rail].name);
		name_copy(e->key.peer_rail, sizeof(e->key.peer_rail), t->rail);
		name_copy(e->key.class_name, sizeof(e->key.class_name), in->classes[c]);
		e->target = t;
		e->device = in->rails[rail].device;
		e->class_index = (uint32_t)c;
	}
}

/* One of equal keys stays; the configuration has told of the others. */
static void drop_duplicates(struct plan *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (kept > 0 && entry_cmp(&p->entries[kept - 1], &p->entries[i]) == 0)
			continue;
		if (kept != i)
			p->entries[kept] = p->entries[i];
		kept++;
	}
	p->n = kept;
}

/* In the order of keys, so that every start of the same list disables the same sessions. */
static void apply_limit(struct plan *p, const struct plan_input *in)
{
	for (size_t r = 0; r < in->n_rails; r++) {
		const char *device = in->rails[r].device;
		uint32_t used = 0;
		bool done = device[0] == '\0'; /* not seen yet, and not named: no telling */

		for (size_t earlier = 0; earlier < r && !done; earlier++)
			done = strcmp(in->rails[earlier].device, device) == 0;
		for (size_t i = 0; i < p->n && !done; i++) {
			struct plan_entry *e = &p->entries[i];

			if (strcmp(e->device, device) != 0 || used++ < in->sessions_per_device)
				continue;
			e->disabled = true;
			snprintf(e->reason, sizeof(e->reason),
				 "limit: qps_per_device allows %u own sessions",
				 in->sessions_per_device);
		}
	}
}

int plan_make(struct plan *ret, const struct plan_input *in)
{
	size_t max = in->n_targets * in->n_classes;

	memset(ret, 0, sizeof(*ret));
	if (max == 0)
		return 0;
	ret->entries = calloc(max, sizeof(*ret->entries));
	if (!ret->entries)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_targets; i++)
		add_target(ret, in, in->targets[i]);
	qsort(ret->entries, ret->n, sizeof(*ret->entries), entry_cmp);
	drop_duplicates(ret);
	apply_limit(ret, in);
	return 0;
}

void plan_free(struct plan *p)
{
	free(p->entries);
	memset(p, 0, sizeof(*p));
}

void plan_match(const struct plan *p, const struct session_key *const *have, size_t n_have,
		ssize_t *ret_have, bool *ret_wanted)
{
	size_t i = 0, h = 0;

	while (i < p->n || h < n_have) {
		int r = i == p->n     ? 1
			: h == n_have ? -1
				      : session_key_cmp(&p->entries[i].key, have[h]);

		if (r < 0) {
			ret_have[i++] = -1;
		} else if (r > 0) {
			ret_wanted[h++] = false;
		} else {
			ret_have[i++] = (ssize_t)h;
			ret_wanted[h++] = true;
		}
	}
}
