/* How long to wait before a worker is started again: 1 s doubling to 30 s, each with jitter of
 * a quarter either way, so that hosts that lost their NICs at once do not come back at once. */
#pragma once
#include <stdint.h>

#define BACKOFF_MIN_NS 1000000000ULL
#define BACKOFF_MAX_NS 30000000000ULL
#define BACKOFF_RESET_NS 60000000000ULL /* a life this long is a success */

struct backoff {
	uint32_t failures; /* in a row */
};

/* The next delay in ns; random is any 64 random bits. */
uint64_t backoff_next(struct backoff *b, uint64_t random);
/* A life ended that lasted lived_ns: a long one forgets earlier failures. */
void backoff_lived(struct backoff *b, uint64_t lived_ns);
