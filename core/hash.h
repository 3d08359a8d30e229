/* FNV-1a, 64 bit (http://www.isthe.com/chongo/tech/comp/fnv/): names on the wire and in maps.
 * Not for secrets. */
#pragma once
#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_str(const char *s);
