#include "health/snapshot.h"

#include <assert.h>
#include <errno.h>
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

struct snapshot *snapshot_new(void)
{
	struct snapshot_box *box = calloc(1, sizeof(*box));

	if (!box)
		return NULL;
	box->refs = 1;
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
	struct snapshot_box *box;
	struct chunk *c;

	if (!s)
		return;
	box = box_of(s);
	assert(box->refs > 0);
	if (--box->refs)
		return;
	while ((c = box->chunks)) {
		box->chunks = c->next;
		free(c);
	}
	free(box);
}

static struct chunk *chunk_add(struct snapshot_box *box, size_t at_least)
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
