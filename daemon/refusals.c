#include "daemon/refusals.h"

#include <string.h>

#include "core/names.h"

void refusals_expire(struct refusals *r, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		if (now_ns - r->list[i].at_ns < REFUSALS_FRESH_NS)
			r->list[kept++] = r->list[i];
	r->n = kept;
}

void refusals_note(struct refusals *r, const char *peer, uint32_t why, uint64_t now_ns)
{
	size_t i = 0;

	refusals_expire(r, now_ns);
	while (i < r->n && strcmp(r->list[i].peer, peer) != 0)
		i++;
	if (i == REFUSALS_MAX)
		return;
	if (i == r->n)
		r->n++;
	name_copy(r->list[i].peer, FACT_NAME, peer);
	r->list[i].why = why;
	r->list[i].at_ns = now_ns;
}
