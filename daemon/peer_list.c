#include "daemon/peer_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"

#define NONE UINT32_MAX
#define FIRST_CAP 64

void peer_entry_label(const struct peer_entry *e, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s%s", e->host, e->rail[0] ? "/" : "", e->rail);
}

void peer_entry_place(const struct peer_entry *e, char *buf, size_t len)
{
	char text[ADDRESS_TEXT];

	if (e->lookup) {
		snprintf(buf, len, "%s", e->lookup);
		return;
	}
	address_format(&e->address, text);
	snprintf(buf, len, "%s", text);
}

/* --- the index: a chain of entries per bucket, as many buckets as there is room for entries --- */

static void hash_entry(struct peer_entry *e)
{
	e->name_hash = hash_str(e->host) * 31 + hash_str(e->rail);
	e->place_hash = e->lookup ? hash_str(e->lookup) : address_hash(&e->address);
}

static uint32_t *bucket(const struct peer_list *l, uint32_t *table, uint64_t hash)
{
	return &table[(hash ^ hash >> 32) % l->cap];
}

static void link_entry(struct peer_list *l, uint32_t i)
{
	struct peer_entry *e = &l->entries[i];
	uint32_t *name = bucket(l, l->by_name, e->name_hash);
	uint32_t *place = bucket(l, l->by_place, e->place_hash);

	e->next_name = *name;
	*name = i;
	e->next_place = *place;
	*place = i;
}

static void unlink_name(struct peer_list *l, uint32_t i)
{
	uint32_t *at = bucket(l, l->by_name, l->entries[i].name_hash);

	while (*at != i)
		at = &l->entries[*at].next_name;
	*at = l->entries[i].next_name;
}

static void rename_entry(struct peer_list *l, uint32_t i, const struct peer_entry *merged)
{
	struct peer_entry *e = &l->entries[i];
	uint32_t *name;

	unlink_name(l, i);
	*e = *merged;
	hash_entry(e);
	name = bucket(l, l->by_name, e->name_hash);
	e->next_name = *name;
	*name = i;
}

static uint32_t find_name(const struct peer_list *l, const struct peer_entry *wanted)
{
	uint32_t i = l->n ? *bucket(l, l->by_name, wanted->name_hash) : NONE;

	for (; i != NONE; i = l->entries[i].next_name) {
		const struct peer_entry *e = &l->entries[i];

		if (e->name_hash == wanted->name_hash && !strcmp(e->host, wanted->host) &&
		    !strcmp(e->rail, wanted->rail))
			return i;
	}
	return NONE;
}

static bool same_place(const struct peer_entry *a, const struct peer_entry *b)
{
	if (a->place_hash != b->place_hash || !a->lookup != !b->lookup)
		return false;
	return a->lookup ? !strcmp(a->lookup, b->lookup) : address_equal(&a->address, &b->address);
}

static uint32_t find_place(const struct peer_list *l, const struct peer_entry *wanted)
{
	uint32_t i = l->n ? *bucket(l, l->by_place, wanted->place_hash) : NONE;

	while (i != NONE && !same_place(&l->entries[i], wanted))
		i = l->entries[i].next_place;
	return i;
}

/* --- growing --- */

static int grow(struct peer_list *l)
{
	size_t cap = l->cap ? 2 * l->cap : FIRST_CAP;
	struct peer_entry *entries = reallocarray(l->entries, cap, sizeof(*entries));
	uint32_t *by_name, *by_place;

	if (!entries)
		return -ENOMEM;
	l->entries = entries;
	by_name = malloc(cap * sizeof(*by_name));
	by_place = malloc(cap * sizeof(*by_place));
	if (!by_name || !by_place) {
		free(by_name);
		free(by_place);
		return -ENOMEM;
	}
	free(l->by_name);
	free(l->by_place);
	l->by_name = by_name;
	l->by_place = by_place;
	l->cap = cap;
	memset(by_name, 0xff, cap * sizeof(*by_name));
	memset(by_place, 0xff, cap * sizeof(*by_place));
	for (uint32_t i = 0; i < l->n; i++)
		link_entry(l, i);
	return 0;
}

static int append(struct peer_list *l, const struct peer_entry *entry)
{
	struct peer_entry e = *entry;

	if (l->n == l->cap && grow(l) < 0)
		return -ENOMEM;
	e.lookup = entry->lookup ? strdup(entry->lookup) : NULL;
	if (entry->lookup && !e.lookup)
		return -ENOMEM;
	l->entries[l->n] = e;
	link_entry(l, (uint32_t)l->n++);
	return 0;
}

int peer_list_copy(struct peer_list *to, const struct peer_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (append(to, &from->entries[i]) < 0)
			return -ENOMEM;
	return 0;
}

void peer_list_free(struct peer_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->entries[i].lookup);
	free(l->entries);
	free(l->by_name);
	free(l->by_place);
	*l = (struct peer_list){0};
}

/* --- adding --- */

/* Its name is nothing but its place. */
static bool nameless(const struct peer_entry *e)
{
	char text[PEER_LOOKUP_MAX];

	peer_entry_place(e, text, sizeof(text));
	return !strcmp(text, e->host);
}

static void fill_label(char into[FACT_NAME], const char *label)
{
	if (!into[0])
		name_copy(into, FACT_NAME, label);
}

/* One endpoint under two names: fine when one of them says less than the other, for example
 * 10.99.0.2 and host2/rxe0. Then the fuller name stays, unless another endpoint has it. */
static bool merge(struct peer_list *l, uint32_t known_at, const struct peer_entry *entry)
{
	struct peer_entry merged = l->entries[known_at];
	const struct peer_entry *known = &l->entries[known_at];
	uint32_t taken;

	if (strcmp(known->host, entry->host) && !nameless(known) && !nameless(entry))
		return false;
	if (strcmp(known->rail, entry->rail) && known->rail[0] && entry->rail[0])
		return false;
	if (nameless(known))
		name_copy(merged.host, sizeof(merged.host), entry->host);
	fill_label(merged.rail, entry->rail);
	fill_label(merged.rack, entry->rack);
	fill_label(merged.pod, entry->pod);
	hash_entry(&merged);
	taken = find_name(l, &merged);
	if (taken != NONE && taken != known_at)
		return false;
	rename_entry(l, known_at, &merged);
	return true;
}

static int refuse_second_place(const struct peer_list *l, uint32_t known, const char *name,
			       char *err, size_t errlen)
{
	char place[PEER_LOOKUP_MAX];

	peer_entry_place(&l->entries[known], place, sizeof(place));
	snprintf(err, errlen,
		 "%.80s already has the address %.60s: a host with several addresses needs "
		 "HOST/RAIL for each",
		 name, place);
	return -EINVAL;
}

static int add_new(struct peer_list *l, const struct peer_entry *e, char *err, size_t errlen)
{
	if (l->n == PEER_LIST_MAX) {
		snprintf(err, errlen, "more than %d peers", PEER_LIST_MAX);
		return -EINVAL;
	}
	if (append(l, e) < 0) {
		snprintf(err, errlen, "out of memory");
		return -EINVAL;
	}
	return 0;
}

int peer_list_add(struct peer_list *l, const struct peer_entry *entry, char *err, size_t errlen)
{
	char name[2 * FACT_NAME], known[2 * FACT_NAME], place[PEER_LOOKUP_MAX];
	struct peer_entry e = *entry;
	uint32_t by_name, by_place;

	hash_entry(&e);
	by_name = find_name(l, &e);
	by_place = find_place(l, &e);
	peer_entry_label(&e, name, sizeof(name));
	if (by_name != NONE && by_name != by_place)
		return refuse_second_place(l, by_name, name, err, errlen);
	if (by_place == NONE)
		return add_new(l, &e, err, errlen);
	peer_entry_label(&l->entries[by_place], known, sizeof(known));
	peer_entry_place(&e, place, sizeof(place));
	if (!merge(l, by_place, &e)) {
		snprintf(err, errlen, "%.64s has the address %.60s, which is already that of %.64s",
			 name, place, known);
		return -EINVAL;
	}
	snprintf(err, errlen, "%.64s is listed twice (as %.64s before): merged", name, known);
	return 0;
}

/* --- names to look up --- */

static bool host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '-' || c == '_';
}

static bool host_name_valid(const char *s)
{
	if (!*s || *s == '.' || *s == '-')
		return false;
	for (; *s; s++)
		if (!host_char(*s))
			return false;
	return true;
}

static const char *placeholder(const char *template, const char *host, const char *rail,
			       size_t *ret_skip)
{
	if (!strncmp(template, "{host}", 6)) {
		*ret_skip = 6;
		return host;
	}
	if (!strncmp(template, "{rail}", 6)) {
		*ret_skip = 6;
		return rail;
	}
	return NULL;
}

/* False: longer than size allows. */
static bool expand(const char *template, const char *host, const char *rail, char *ret, size_t size)
{
	size_t at = 0;

	while (*template) {
		size_t skip = 1, len = 1;
		const char *from = placeholder(template, host, rail, &skip);

		if (from)
			len = strlen(from);
		else
			from = template;
		if (at + len >= size)
			return false;
		memcpy(ret + at, from, len);
		at += len;
		template += skip;
	}
	ret[at] = '\0';
	return true;
}

int peer_lookup_name(const char *template, const char *host, const char *rail, char *ret, char *err,
		     size_t errlen)
{
	if (!template[0])
		template = "{host}";
	if (!rail[0] && strstr(template, "{rail}")) {
		snprintf(err, errlen,
			 "%.64s has no address, and [peers] address makes one only with a rail: "
			 "give it a rail or an address",
			 host);
		return -EINVAL;
	}
	if (!expand(template, host, rail, ret, PEER_LOOKUP_MAX)) {
		snprintf(err, errlen,
			 "the host name that [peers] address makes of %.64s is longer "
			 "than %d bytes",
			 host, PEER_LOOKUP_MAX - 1);
		return -EINVAL;
	}
	if (host_name_valid(ret))
		return 0;
	snprintf(err, errlen,
		 "'%.64s' is no host name that can be looked up: letters, digits and . _ - only; "
		 "give the peer its address",
		 ret);
	return -EINVAL;
}

int peer_template_check(const char *template, char *err, size_t errlen)
{
	char name[PEER_LOOKUP_MAX];

	if (!strstr(template, "{host}")) {
		snprintf(err, errlen,
			 "'%.64s' makes one name for all hosts: put {host} in it, as "
			 "{host}-{rail}.example",
			 template);
		return -EINVAL;
	}
	if (expand(template, "h", "r", name, sizeof(name)) && host_name_valid(name))
		return 0;
	snprintf(
		err, errlen,
		"'%.64s' makes no host name: letters, digits and . _ -, with {host} and {rail} for "
		"the names of the list",
		template);
	return -EINVAL;
}
