#include "probes/twin.h"

#include <string.h>

/* A reader loses only when the writer publishes twice during its copy; a writer that does so this
 * often in a row is no sane worker. */
#define READ_ATTEMPTS 16

/* Words go out with release and come in with acquire instead of fences: a reader that sees a
 * word of the round after next then also sees that `published` moved on, and TSan, which does not
 * know fences, can follow. On x86-64 both are plain moves. */
static void word_put(_Atomic uint64_t *to, const char *from, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, from, len);
	atomic_store_explicit(to, word, memory_order_release);
}

/* The rail spends a tenth of a probe here: in fours, for compilers do not unroll atomics. */
static void words_put(_Atomic uint64_t *to, const char *from, size_t len)
{
	for (; len >= 32; len -= 32, from += 32, to += 4) {
		word_put(to, from, 8);
		word_put(to + 1, from + 8, 8);
		word_put(to + 2, from + 16, 8);
		word_put(to + 3, from + 24, 8);
	}
	for (; len >= 8; len -= 8, from += 8, to++)
		word_put(to, from, 8);
	if (len)
		word_put(to, from, len);
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

_Atomic uint64_t *twin_next(struct twin *t, size_t size)
{
	uint64_t next = atomic_load_explicit(&t->published, memory_order_relaxed) + 1;

	return &t->words[slot_at(next, size, 0)];
}

void twin_fill(_Atomic uint64_t *next, size_t offset, const void *from, size_t len)
{
	words_put(next + offset / 8, from, len);
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
	twin_fill(twin_next(t, size), 0, value, size);
	twin_publish(t);
}

bool twin_get(const struct twin *t, void *ret, size_t size)
{
	for (int i = 0; i < READ_ATTEMPTS; i++) {
		uint64_t ticket = twin_begin(t);

		/* Many a cell is never used: there is nothing to read. */
		if (ticket == 0) {
			memset(ret, 0, size);
			return true;
		}
		twin_read(t, ticket, size, 0, ret, size);
		if (twin_whole(t, ticket))
			return true;
	}
	return false;
}
