#include "health/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot of 500 sessions is about 0.5 MB: a few chunks. */
#define CHUNK_BYTES ((size_t)64 * 1024)
#define CHUNK_ALIGN _Alignof(max_align_t)

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char data[];
};

/* What snapshot_new() hands out is the first member. Only main's thread makes, takes and drops
 * references (HTTP runs in main's loop), hence a plain count. */
struct snapshot_box {
	struct snapshot public;
	unsigned refs;
	struct chunk *chunks; /* the one being filled first */
	struct chunk *empty;  /* of an earlier snapshot, in the order in which they were filled */
	struct snapshot_pool *pool;
};

struct snapshot_pool {
	unsigned refs; /* its owner's, and one of each snapshot */
	struct snapshot_box *spare;
};

static struct snapshot_box *box_of(struct snapshot *s)
{
	return (struct snapshot_box *)s;
}

const char *worker_state_name(enum worker_state state)
{
	switch (state) {
	case WORKER_STARTING:
		return "starting";
	case WORKER_UP:
		return "up";
	case WORKER_STUCK:
		return "stuck";
	case WORKER_EXITED:
		return "exited";
	case WORKER_BACKOFF:
		return "backoff";
	case WORKER_RELEASED:
		return "released";
	}
	return "unknown";
}

static void free_chunks(struct chunk *c)
{
	struct chunk *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
}

static void free_box(struct snapshot_box *box)
{
	if (!box)
		return;
	free_chunks(box->chunks);
	free_chunks(box->empty);
	free(box);
}

/* Zeroed again, and nobody's until handed out. */
static void empty_chunk(struct chunk *c)
{
	memset(c->data, 0, c->used);
	c->used = 0;
	ASAN_POISON_MEMORY_REGION(c->data, c->size);
}

/* Chunks that were not needed this time are given back. */
static void empty_box(struct snapshot_box *box)
{
	struct chunk *c;

	free_chunks(box->empty);
	box->empty = NULL;
	while ((c = box->chunks)) {
		box->chunks = c->next;
		empty_chunk(c);
		c->next = box->empty;
		box->empty = c;
	}
	memset(&box->public, 0, sizeof(box->public));
}

struct snapshot_pool *snapshot_pool_new(void)
{
	struct snapshot_pool *pool = calloc(1, sizeof(*pool));

	if (pool)
		pool->refs = 1;
	return pool;
}

void snapshot_pool_unref(struct snapshot_pool *pool)
{
	if (!pool || --pool->refs)
		return;
	free_box(pool->spare);
	free(pool);
}

static struct snapshot_box *take_spare(struct snapshot_pool *pool)
{
	struct snapshot_box *box = pool ? pool->spare : NULL;

	if (box)
		pool->spare = NULL;
	return box;
}

struct snapshot *snapshot_new(struct snapshot_pool *pool)
{
	struct snapshot_box *box = take_spare(pool);

	if (!box)
		box = calloc(1, sizeof(*box));
	if (!box)
		return NULL;
	box->refs = 1;
	box->pool = pool;
	if (pool)
		pool->refs++;
	box->public.instance = box->public.host = box->public.version = "";
	box->public.reason = box->public.config_hash = "";
	box->public.fabric.fingerprint = "";
	return &box->public;
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
	assert(box_of(s)->refs > 0);
	box_of(s)->refs++;
	return s;
}

void snapshot_unref(struct snapshot *s)
{
	struct snapshot_pool *pool;
	struct snapshot_box *box;

	if (!s)
		return;
	box = box_of(s);
	assert(box->refs > 0);
	if (--box->refs)
		return;
	pool = box->pool;
	if (pool && !pool->spare) {
		empty_box(box);
		pool->spare = box;
	} else {
		free_box(box);
	}
	snapshot_pool_unref(pool);
}

/* One that has the room, so that the same snapshot again finds the same chunks. */
static struct chunk *take_empty(struct snapshot_box *box, size_t at_least)
{
	for (struct chunk **at = &box->empty; *at; at = &(*at)->next) {
		struct chunk *c = *at;

		if (c->size < at_least)
			continue;
		*at = c->next;
		return c;
	}
	return NULL;
}

static struct chunk *new_chunk(size_t at_least)
{
	size_t size = at_least > CHUNK_BYTES ? at_least : CHUNK_BYTES;
	struct chunk *c;

	if (size > SIZE_MAX - sizeof(*c)) {
		errno = ENOMEM;
		return NULL;
	}
	c = calloc(1, sizeof(*c) + size);
	if (!c)
		return NULL;
	c->size = size;
	ASAN_POISON_MEMORY_REGION(c->data, c->size);
	return c;
}

static struct chunk *chunk_add(struct snapshot_box *box, size_t at_least)
{
	struct chunk *c = take_empty(box, at_least);

	if (!c)
		c = new_chunk(at_least);
	if (!c)
		return NULL;
	c->next = box->chunks;
	box->chunks = c;
	return c;
}

void *snapshot_alloc(struct snapshot *s, size_t n, size_t size)
{
	struct snapshot_box *box = box_of(s);
	struct chunk *c = box->chunks;
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - CHUNK_ALIGN) {
		errno = ENOMEM;
		return NULL;
	}
	bytes = (bytes + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1);
	if (!c || c->size - c->used < bytes) {
		c = chunk_add(box, bytes);
		if (!c)
			return NULL;
	}
	p = c->data + c->used;
	c->used += bytes;
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	return p;
}

const char *snapshot_str(struct snapshot *s, const char *text)
{
	size_t len = strlen(text);
	char *copy;

	if (!len)
		return "";
	copy = snapshot_alloc(s, len + 1, 1);
	if (!copy)
		return "";
	return memcpy(copy, text, len + 1);
}

const char *snapshot_printf(struct snapshot *s, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len <= 0)
		return "";
	text = snapshot_alloc(s, (size_t)len + 1, 1);
	if (!text)
		return "";
	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}

const struct snap_port_rules *snapshot_port_rules(const struct snap_device *d, unsigned port)
{
	for (size_t i = 0; i < d->n_port_rules; i++)
		if (d->port_rules[i].port == port)
			return &d->port_rules[i];
	return NULL;
}

int snap_value_cmp(const void *a, const void *b)
{
	const struct counter_value *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = (x->source > y->source) - (x->source < y->source);
	if (order == 0)
		order = (x->port > y->port) - (x->port < y->port);
	return order;
}

const struct counter_value *snap_device_value(const struct snap_device *d, const char *name,
					      enum counter_source source, uint8_t port)
{
	struct counter_value key = {.source = (uint8_t)source, .port = port};

	if (d->n_values == 0)
		return NULL;
	snprintf(key.name, sizeof(key.name), "%s", name);
	return bsearch(&key, d->values, d->n_values, sizeof(key), snap_value_cmp);
}
