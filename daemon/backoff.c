#include "daemon/backoff.h"

uint64_t backoff_next(struct backoff *b, uint64_t random)
{
	uint64_t base = BACKOFF_MAX_NS;

	if (b->failures < 5)
		base = BACKOFF_MIN_NS << b->failures;
	if (b->failures < UINT32_MAX)
		b->failures++;
	return base - base / 4 + random % (base / 2 + 1);
}

void backoff_lived(struct backoff *b, uint64_t lived_ns)
{
	if (lived_ns >= BACKOFF_RESET_NS)
		b->failures = 0;
}
