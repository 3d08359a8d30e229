/* When probes are due. Instants are phase + k * interval on CLOCK_MONOTONIC: intended times, which
 * no late completion can shift (no coordinated omission). Pure. */
#pragma once
#include "probes/facts.h"

/* A rail left alone longer than this did not run: what was due is worker_stuck (agreed with
 * main, which derives the same from STUCK_MAIN_NS on). */
#define STUCK_RAIL_NS 1000000000ULL

/* Phase in 0..interval-1, stable for a session's names, and the ops of one session apart from each
 * other, so that two of them are not due at once on the one QP. stagger_ns: what all
 * intervals of the session are multiples of, over the number of its ops; index: which of them.
 * interval must not be 0. */
uint64_t schedule_phase(uint64_t key_hash, unsigned index, uint64_t stagger_ns,
			uint64_t interval_ns);
/* Greatest common divisor: what both intervals are multiples of; a, b may be 0. */
uint64_t schedule_common(uint64_t a_ns, uint64_t b_ns);
/* First instant strictly after t. */
uint64_t schedule_next(uint64_t phase_ns, uint64_t interval_ns, uint64_t t_ns);
/* How many instants lie in (from, to]. */
uint64_t schedule_count(uint64_t phase_ns, uint64_t interval_ns, uint64_t from_ns, uint64_t to_ns);
