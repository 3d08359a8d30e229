/* Whole hosts in one thread on one virtual clock: the product's main (devices, sessions, rails,
 * books, planner, reload), its workers (control and rail), and between them the fake fabric and a
 * kernel in plain memory. Who runs next, and how late, is drawn from the seed, and so is what goes
 * wrong. After every step the invariants of oracle.h are looked at. */
#pragma once
#include "chance.h"
#include "core/clock.h"
#include "fake_fabric.h"

#define HOSTS_MAX 3

struct simulation_options {
	uint64_t seed;
	uint64_t skip[4]; /* bit per fault that does not happen: for finding those that matter */
	bool trace;	  /* everything as it happens, on stderr */
};

/* Counted over all runs. */
struct simulation_totals {
	uint64_t steps, faults, well, virtual_ns;
};

extern struct simulation_totals simulation_totals;

/* Also what the fake, an assertion or a sanitizer ends tells the seed; the argument is the
 * sanitizer's way to say so, NULL without one. Once. */
void simulation_catch(void (*set_death_callback)(void (*fn)(void)));
/* One run; it does not return when an invariant breaks. How many faults there were. */
unsigned simulation_run(const struct simulation_options *options);

/* --- for its parts --- */

uint64_t simulation_now_ns(void);
uint64_t simulation_random(void);
/* Wall time may jump against the monotonic one. */
void simulation_shift_wall(int64_t ns);
bool simulation_traced(void);
/* One line of what happened: shown when the run fails, or at once when it is traced. */
void simulation_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An invariant is broken: says so, with the seed and what happened before, and ends the program
 * with 1. */
_Noreturn void simulation_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define simulation_check(ok, ...)                                                                  \
	do {                                                                                       \
		if (!(ok))                                                                         \
			simulation_fail(__VA_ARGS__);                                              \
	} while (0)

/* A thread as the scheduler sees it. */
struct thread {
	bool alive;
	uint64_t wake_ns;  /* it sleeps until then */
	uint64_t timer_ns; /* when that is over, its lateness included */
	uint64_t ready_ns; /* when it will have woken from a descriptor; 0: none is readable */
	uint64_t since_ns; /* it sleeps since then */
	uint64_t frozen_until_ns;
	uint64_t window_ns; /* to see who never rests */
	unsigned steps;
};

/* It sleeps until wake_ns, but for what is readable. late_ns: how late it may wake. */
void thread_sleep(struct thread *t, uint64_t wake_ns, uint64_t late_ns);
/* When it runs again. */
uint64_t thread_when(struct thread *t, bool readable, uint64_t late_ns);
void thread_freeze(struct thread *t, uint64_t until_ns);
