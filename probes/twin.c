#include "probes/twin.h"

#include <string.h>

/* A reader loses only when the writer publishes twice during its copy; a writer that does so this
 * often in a row is no sane worker. */
#define READ_ATTEMPTS 16

/* Words go out with release and come in with acquire instead of fences: a reader that sees a
 * word of the round after next then also sees that `published` moved on, and TSan, which does not
 * know fences, can follow. On x86-64 both are plain moves. */
static void words_put(_Atomic uint64_t *to, const void *from, size_t len)
{
	const char *bytes = from;
	uint64_t word;

#pragma GCC unroll 8
	for (size_t i = 0; i < len / 8; i++) {
		memcpy(&word, bytes + i * 8, 8);
		atomic_store_explicit(&to[i], word, memory_order_release);
	}
	if (len % 8) {
		word = 0;
		memcpy(&word, bytes + len / 8 * 8, len % 8);
		atomic_store_explicit(&to[len / 8], word, memory_order_release);
	}
}

static void words_get(void *to, const _Atomic uint64_t *from, size_t len)
{
	char *bytes = to;

	for (size_t at = 0; at < len; at += 8, from++) {
		uint64_t word = atomic_load_explicit(from, memory_order_acquire);

		memcpy(bytes + at, &word, len - at < 8 ? len - at : 8);
	}
}

static size_t slot_at(uint64_t ticket, size_t size, size_t offset)
{
	return (ticket & 1) * TWIN_WORDS(size) + offset / 8;
}

void twin_fill(struct twin *t, size_t size, size_t offset, const void *from, size_t len)
{
	uint64_t next = atomic_load_explicit(&t->published, memory_order_relaxed) + 1;

	words_put(&t->words[slot_at(next, size, offset)], from, len);
}

void twin_publish(struct twin *t)
{
	uint64_t next = atomic_load_explicit(&t->published, memory_order_relaxed) + 1;

	atomic_store_explicit(&t->published, next, memory_order_release);
}

uint64_t twin_begin(const struct twin *t)
{
	return atomic_load_explicit(&t->published, memory_order_acquire);
}

void twin_read(const struct twin *t, uint64_t ticket, size_t size, size_t offset, void *ret,
	       size_t len)
{
	words_get(ret, &t->words[slot_at(ticket, size, offset)], len);
}

bool twin_whole(const struct twin *t, uint64_t ticket)
{
	/* Unequal by one is not enough: the writer may already be filling this slot again. */
	return atomic_load_explicit(&t->published, memory_order_acquire) == ticket;
}

void twin_put(struct twin *t, const void *value, size_t size)
{
	twin_fill(t, size, 0, value, size);
	twin_publish(t);
}

bool twin_get(const struct twin *t, void *ret, size_t size)
{
	for (int i = 0; i < READ_ATTEMPTS; i++) {
		uint64_t ticket = twin_begin(t);

		twin_read(t, ticket, size, 0, ret, size);
		if (twin_whole(t, ticket))
			return true;
	}
	return false;
}
