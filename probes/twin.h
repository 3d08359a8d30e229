/* Twin slots: one value in shared memory that is read whole although its writer may be frozen or
 * killed at any instruction. One writer thread; any number of readers, which never wait.
 * Everything shared is a 64-bit word accessed atomically, so this holds between processes and
 * is free of data races by the letter of C11. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWIN_WORDS(size) (((size) + 7) / 8)
/* Bytes of a twin whose value has `size` bytes. */
#define TWIN_SIZE(size) (8 + 2 * 8 * TWIN_WORDS(size))

/* All zero is valid: nothing published, a reader gets zeroes. 8-byte aligned. */
struct twin {
	_Atomic uint64_t published; /* how often; its lowest bit is the slot to read */
	_Atomic uint64_t words[];
};

/* Fill the other slot with value and publish it. */
void twin_put(struct twin *t, const void *value, size_t size);
/* The value published last into ret; false when the writer outran the reader several times. */
bool twin_get(const struct twin *t, void *ret, size_t size);

/* The same in parts, for big values of which only some ranges are used. size is always that of
 * the whole value; offsets are multiples of 8, ranges are copied in whole words. */
_Atomic uint64_t *twin_next(struct twin *t, size_t size); /* the slot to be filled */
void twin_fill(_Atomic uint64_t *next, size_t offset, const void *from, size_t len);
void twin_publish(struct twin *t);
uint64_t twin_begin(const struct twin *t); /* ticket; 0: nothing was published yet */
void twin_read(const struct twin *t, uint64_t ticket, size_t size, size_t offset, void *ret,
	       size_t len);
bool twin_whole(const struct twin *t, uint64_t ticket); /* what was read with it is one value */
