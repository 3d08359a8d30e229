/* HMAC-SHA256 (RFC 2104), by nettle. Lengths are fixed; nothing here fails. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_LEN 32
#define MAC_KEY_LEN 32

struct mac_part {
	const void *data;
	size_t len;
};

/* Over the parts one after the other, each preceded by its length, so that no two lists of parts
 * are the same message. */
void mac_make(const uint8_t key[MAC_KEY_LEN], const struct mac_part *parts, size_t n,
	      uint8_t ret[MAC_LEN]);
/* In a time that does not depend on the content. */
bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN]);
/* A key of fixed length from a secret of any length: its SHA-256. */
void mac_key(const void *secret, size_t len, uint8_t ret[MAC_KEY_LEN]);
