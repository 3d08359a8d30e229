#include "daemon/lookups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

struct lookups {
	struct lookup *list; /* sorted by name */
	size_t n;
	size_t cursor; /* where the search for due ones goes on */
};

struct lookups *lookups_new(void)
{
	return calloc(1, sizeof(struct lookups));
}

static void free_list(struct lookup *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].name);
	free(list);
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	free_list(l->list, l->n);
	free(l);
}

size_t lookups_count(const struct lookups *l)
{
	return l->n;
}

size_t lookups_failing(const struct lookups *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->list[i].failures > 0;
	return n;
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(((const struct lookup *)a)->name, ((const struct lookup *)b)->name);
}

static struct lookup *find(const struct lookups *l, const char *name)
{
	struct lookup key = {.name = (char *)name};

	return l->n ? bsearch(&key, l->list, l->n, sizeof(*l->list), name_cmp) : NULL;
}

const struct lookup *lookups_find(const struct lookups *l, const char *name)
{
	return find(l, name);
}

/* --- following a list --- */

/* Entries of the list in no order, doubles included; SIZE_MAX: no memory. */
static size_t copy_names(const struct peer_list *list, struct lookup *into)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (!list->entries[i].lookup)
			continue;
		into[n].name = strdup(list->entries[i].lookup);
		if (!into[n].name) {
			for (size_t k = 0; k < n; k++)
				free(into[k].name);
			return SIZE_MAX;
		}
		n++;
	}
	return n;
}

static size_t drop_doubles(struct lookup *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(list[kept - 1].name, list[i].name) == 0)
			free(list[i].name);
		else
			list[kept++] = list[i];
	}
	return kept;
}

static void keep_known(struct lookup *fresh, const struct lookup *known, uint64_t now_ns)
{
	char *name = fresh->name;

	if (known) {
		*fresh = *known;
		fresh->name = name;
	} else {
		fresh->since_ns = fresh->due_ns = now_ns;
	}
}

int lookups_follow(struct lookups *l, const struct peer_list *list, uint64_t now_ns)
{
	struct lookup *fresh = calloc(list->n + 1, sizeof(*fresh));
	size_t n = fresh ? copy_names(list, fresh) : SIZE_MAX;

	if (n == SIZE_MAX) {
		free(fresh);
		return -ENOMEM;
	}
	qsort(fresh, n, sizeof(*fresh), name_cmp);
	n = drop_doubles(fresh, n);
	for (size_t i = 0; i < n; i++)
		keep_known(&fresh[i], find(l, fresh[i].name), now_ns);
	free_list(l->list, l->n);
	l->list = fresh;
	l->n = n;
	l->cursor = 0;
	return 0;
}

/* --- asking --- */

const char *lookups_next(struct lookups *l, uint64_t now_ns)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lookup *next = &l->list[l->cursor];

		l->cursor = (l->cursor + 1) % l->n;
		if (next->asked || next->due_ns > now_ns)
			continue;
		next->asked = true;
		return next->name;
	}
	return NULL;
}

static uint64_t retry_ns(uint32_t failures)
{
	uint64_t delay = LOOKUP_RETRY_MIN_NS;

	for (uint32_t i = 1; i < failures && delay < LOOKUP_RETRY_MAX_NS; i++)
		delay *= 2;
	return delay < LOOKUP_RETRY_MAX_NS ? delay : LOOKUP_RETRY_MAX_NS;
}

/* A quarter either way, so that names of one start are not asked for together for ever. */
static uint64_t with_jitter(uint64_t ns, uint64_t random)
{
	return ns - ns / 4 + random % (ns / 2 + 1);
}

static bool listed(const union address *list, uint32_t n, const union address *a)
{
	for (uint32_t i = 0; i < n; i++)
		if (address_equal(&list[i], a))
			return true;
	return false;
}

/* Servers hand out the same addresses in turns, so their order says nothing: what is known already
 * keeps its place before what is new. True: something is new or gone. */
static bool merge(struct lookup *l, const struct resolver_answer *a)
{
	union address merged[RESOLVER_ADDRESSES];
	uint32_t n = 0, before = l->n;

	for (uint32_t i = 0; i < l->n; i++)
		if (listed(a->addresses, a->n, &l->addresses[i]))
			merged[n++] = l->addresses[i];
	if (n == before && n == a->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!listed(l->addresses, before, &a->addresses[i]) && n < RESOLVER_ADDRESSES)
			merged[n++] = a->addresses[i];
	memcpy(l->addresses, merged, n * sizeof(*merged));
	l->n = n;
	return true;
}

enum lookup_change lookups_answer(struct lookups *l, const char *name,
				  const struct resolver_answer *a, uint64_t interval_ns,
				  uint64_t now_ns, uint64_t random)
{
	struct lookup *of = find(l, name);
	bool failed_before, first;

	if (!of)
		return LOOKUP_SAME;
	failed_before = of->failures > 0;
	first = !of->answered;
	of->asked = false;
	of->answered = true;
	name_copy(of->error, sizeof(of->error), a->error);
	if (a->n == 0) {
		of->failures++;
		of->due_ns = now_ns + with_jitter(retry_ns(of->failures), random);
		return failed_before && !first ? LOOKUP_SAME : LOOKUP_FAILED;
	}
	of->failures = 0;
	of->due_ns = now_ns + with_jitter(interval_ns, random);
	if (merge(of, a))
		return LOOKUP_CHANGED;
	return failed_before ? LOOKUP_RECOVERED : LOOKUP_SAME;
}

/* --- using --- */

bool lookup_pending(const struct lookup *l, uint64_t now_ns)
{
	return !l->answered && now_ns - l->since_ns < LOOKUP_PENDING_NS;
}

bool lookup_pick(const struct lookup *l, int family, union address *ret)
{
	if (l->n == 0)
		return false;
	*ret = l->addresses[0];
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->addresses[i].sa.sa_family != family)
			continue;
		*ret = l->addresses[i];
		break;
	}
	return true;
}
