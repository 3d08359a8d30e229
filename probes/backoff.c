#include "probes/backoff.h"

uint64_t backoff_ns(unsigned attempt, uint64_t base_ns, uint64_t cap_ns, uint64_t floor_ns,
		    uint64_t random)
{
	uint64_t span = base_ns;

	while (attempt-- && span < cap_ns)
		span *= 2;
	if (span > cap_ns)
		span = cap_ns;
	span = span ? random % span : 0;
	return span < floor_ns ? floor_ns : span;
}
