#include "probes/schedule.h"

uint64_t schedule_phase(uint64_t key_hash, unsigned index, uint64_t stagger_ns,
			uint64_t interval_ns)
{
	return (key_hash % interval_ns + index * stagger_ns) % interval_ns;
}

uint64_t schedule_common(uint64_t a_ns, uint64_t b_ns)
{
	while (b_ns) {
		uint64_t rest = a_ns % b_ns;

		a_ns = b_ns;
		b_ns = rest;
	}
	return a_ns;
}

/* Number of instants in [0, t]. */
static uint64_t until(uint64_t phase_ns, uint64_t interval_ns, uint64_t t_ns)
{
	return t_ns < phase_ns ? 0 : (t_ns - phase_ns) / interval_ns + 1;
}

uint64_t schedule_next(uint64_t phase_ns, uint64_t interval_ns, uint64_t t_ns)
{
	return phase_ns + until(phase_ns, interval_ns, t_ns) * interval_ns;
}

uint64_t schedule_count(uint64_t phase_ns, uint64_t interval_ns, uint64_t from_ns, uint64_t to_ns)
{
	if (!interval_ns || to_ns <= from_ns)
		return 0;
	return until(phase_ns, interval_ns, to_ns) - until(phase_ns, interval_ns, from_ns);
}
