#include "core/mac.h"

#include <endian.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>

void mac_make(const uint8_t key[MAC_KEY_LEN], const struct mac_part *parts, size_t n,
	      uint8_t ret[MAC_LEN])
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, MAC_KEY_LEN, key);
	for (size_t i = 0; i < n; i++) {
		uint64_t len = htobe64(parts[i].len);

		hmac_sha256_update(&ctx, sizeof(len), (const uint8_t *)&len);
		hmac_sha256_update(&ctx, parts[i].len, parts[i].data);
	}
	hmac_sha256_digest(&ctx, MAC_LEN, ret);
	explicit_bzero(&ctx, sizeof(ctx));
}

bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN])
{
	return memeql_sec(a, b, MAC_LEN);
}

void mac_key(const void *secret, size_t len, uint8_t ret[MAC_KEY_LEN])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, secret);
	sha256_digest(&ctx, MAC_KEY_LEN, ret);
	explicit_bzero(&ctx, sizeof(ctx));
}
