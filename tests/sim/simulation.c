#include "simulation.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "faults.h"
#include "host.h"
#include "kernel.h"
#include "oracle.h"

#define START_NS (1000 * NSEC_PER_SEC)
#define WALL_NS (1700000000 * NSEC_PER_SEC)
#define FAULTS_MIN_NS (4 * NSEC_PER_SEC)
#define FAULTS_SPAN_NS (26 * NSEC_PER_SEC)
#define SETTLE_NS (40 * NSEC_PER_SEC)
#define HEAL_NS (180 * NSEC_PER_SEC) /* a worker's back-off is half a minute */
#define STOP_NS (5 * NSEC_PER_SEC)
#define STEP_NS 1000	       /* a round takes its time */
#define STEPS_PER_SECOND 40000 /* of one thread: more is no rest at all */
#define NOTES_MAX 400	       /* lines kept for a failure */
#define NOTE_MAX 200

struct simulation_totals simulation_totals;

static const struct simulation_options *opt;
static uint64_t now_ns;
static int64_t wall_shift;
static struct chance luck; /* of the scheduler and of the product */
static char notes[NOTES_MAX][NOTE_MAX];
static unsigned n_notes;

/* --- the clock --- */

uint64_t simulation_now_ns(void)
{
	return now_ns;
}

void simulation_shift_wall(int64_t ns)
{
	wall_shift += ns;
}

uint64_t clock_now_ns(void)
{
	return now_ns;
}

uint64_t clock_wall_ns(void)
{
	return WALL_NS + now_ns + (uint64_t)wall_shift;
}

uint64_t clock_process_cpu_ns(void)
{
	return now_ns;
}

uint64_t simulation_random(void)
{
	return chance_u64(&luck);
}

/* --- telling --- */

bool simulation_traced(void)
{
	return opt && opt->trace;
}

void simulation_note(const char *fmt, ...)
{
	char *to = notes[n_notes++ % NOTES_MAX];
	int n = snprintf(to, NOTE_MAX, "%11.6f ", (double)(now_ns - START_NS) / 1e9);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + n, NOTE_MAX - (size_t)n, fmt, ap);
	va_end(ap);
	if (simulation_traced())
		fprintf(stderr, "%s\n", to);
}

/* Also when the fake or an assertion ends the program, or a sanitizer does. */
static void tell_what_happened(void)
{
	unsigned first = n_notes > NOTES_MAX ? n_notes - NOTES_MAX : 0;

	fflush(stdout);
	if (!opt)
		return;
	fprintf(stderr, "at %.6f s of seed %llu; before that:\n", (double)(now_ns - START_NS) / 1e9,
		(unsigned long long)opt->seed);
	for (unsigned i = first; !opt->trace && i < n_notes; i++)
		fprintf(stderr, "%s\n", notes[i % NOTES_MAX]);
	fprintf(stderr, "again: tests/sim/run --seed %llu --trace\n",
		(unsigned long long)opt->seed);
}

void simulation_fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "\nsimulation: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	tell_what_happened();
	_exit(1);
}

static void on_signal(int signo)
{
	fprintf(stderr, "\nsimulation: ended by signal %d\n", signo);
	tell_what_happened();
	_exit(1);
}

void simulation_catch(void (*set_death_callback)(void (*fn)(void)))
{
	signal(SIGABRT, on_signal);
	if (set_death_callback)
		set_death_callback(tell_what_happened);
	else
		signal(SIGSEGV, on_signal);
}

/* --- threads --- */

void thread_sleep(struct thread *t, uint64_t wake_ns, uint64_t late_ns)
{
	uint64_t soonest = now_ns + STEP_NS;

	t->since_ns = now_ns;
	t->wake_ns = wake_ns;
	t->timer_ns =
		wake_ns < UINT64_MAX / 2 ? wake_ns + 1 + simulation_random() % late_ns : wake_ns;
	if (t->timer_ns < soonest)
		t->timer_ns = soonest;
	t->ready_ns = 0;
}

uint64_t thread_when(struct thread *t, bool readable, uint64_t late_ns)
{
	uint64_t at = t->timer_ns;

	if (!t->alive)
		return UINT64_MAX;
	if (readable && !t->ready_ns)
		t->ready_ns = now_ns + 1 + simulation_random() % late_ns;
	if (t->ready_ns && t->ready_ns < at)
		at = t->ready_ns > t->since_ns + STEP_NS ? t->ready_ns : t->since_ns + STEP_NS;
	return at > t->frozen_until_ns ? at : t->frozen_until_ns;
}

void thread_freeze(struct thread *t, uint64_t until_ns)
{
	t->frozen_until_ns = until_ns;
}

void oracle_ran(struct thread *t, const char *whose)
{
	simulation_totals.steps++;
	if (now_ns - t->window_ns > NSEC_PER_SEC) {
		t->window_ns = now_ns;
		t->steps = 0;
	}
	simulation_check(++t->steps < STEPS_PER_SECOND, "a %s thread never rests", whose);
}

/* --- who is next --- */

enum runner { RUN_FABRIC, RUN_FAULT, RUN_PROCESS, RUN_HOST };

struct turn {
	uint64_t at_ns;
	enum runner runner;
	void *what;
};

static void consider(struct turn *best, uint64_t at_ns, enum runner runner, void *what)
{
	if (at_ns < best->at_ns)
		*best = (struct turn){at_ns, runner, what};
}

static struct turn next_turn(void)
{
	struct turn best = {UINT64_MAX, RUN_FABRIC, NULL};

	consider(&best, fabric_when(), RUN_FABRIC, NULL);
	consider(&best, faults_when(), RUN_FAULT, NULL);
	for (struct process *p = processes; p; p = p->next)
		consider(&best, process_when(p), RUN_PROCESS, p);
	for (unsigned i = 0; i < n_hosts; i++)
		consider(&best, host_when(&hosts[i]), RUN_HOST, &hosts[i]);
	return best;
}

static void run_turn(const struct turn *t)
{
	switch (t->runner) {
	case RUN_FABRIC:
		fabric_step();
		break;
	case RUN_FAULT:
		faults_step();
		break;
	case RUN_PROCESS:
		process_step(t->what);
		break;
	case RUN_HOST:
		host_step(t->what);
		break;
	}
}

/* Until done, or until end_ns. */
static bool run_until(uint64_t end_ns, bool (*done)(void))
{
	for (;;) {
		struct turn t = next_turn();

		if (t.at_ns > end_ns)
			break;
		if (t.at_ns > now_ns)
			now_ns = t.at_ns;
		run_turn(&t);
		if (done && done())
			return true;
	}
	now_ns = end_ns;
	return done && done();
}

/* --- a run --- */

static uint64_t asked_ns;

static bool all_well(void)
{
	/* Asked often it would cost more than all else. */
	if (now_ns - asked_ns < 100 * NSEC_PER_MSEC)
		return false;
	asked_ns = now_ns;
	for (unsigned i = 0; i < n_hosts; i++)
		if (!host_well(&hosts[i]))
			return false;
	return true;
}

static bool settled(void)
{
	if (now_ns - asked_ns < 100 * NSEC_PER_MSEC)
		return false;
	asked_ns = now_ns;
	return oracle_settled();
}

static bool all_over(void)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].up)
			return false;
	return !processes;
}

static void must_be_well(void)
{
	bool well;

	/* What main knows may be old: first it has to hear what is no more. */
	run_until(now_ns + NSEC_PER_SEC, NULL);
	well = run_until(now_ns + HEAL_NS, all_well);
	for (unsigned i = 0; !well && i < n_hosts; i++)
		if (!host_well(&hosts[i]))
			host_dump(&hosts[i]);
	simulation_check(well, "not all is well %u s after everything was repaired",
			 (unsigned)(HEAL_NS / NSEC_PER_SEC));
	simulation_totals.well++;
	/* Drains of what was replaced come to their end. A GID that went without an event is found
	 * by its worker's own look only, and the death of a peer that lacks all operations by the
	 * word that is said to it every ten seconds: their sessions are made anew meanwhile. What a
	 * peer left behind without a word, and came back under another name, goes after 30 s. */
	run_until(now_ns + 3 * NSEC_PER_SEC, NULL);
	run_until(now_ns + SETTLE_NS, settled);
	oracle_when_well();
}

static void stop_all(void)
{
	uint64_t begun = now_ns;

	faults_end();
	for (unsigned i = 0; i < n_hosts; i++) {
		hosts[i].boots = false;
		thread_freeze(&hosts[i].main, 0); /* its workers may be frozen still */
		host_terminate(&hosts[i]);
	}
	simulation_check(run_until(now_ns + STOP_NS, all_over),
			 "not all has stopped %.3f s after SIGTERM",
			 (double)(now_ns - begun) / 1e9);
}

unsigned simulation_run(const struct simulation_options *options)
{
	struct chance c = {options->seed * 0x9e3779b97f4a7c15ULL + 1};
	uint64_t end_ns;

	opt = options;
	now_ns = START_NS;
	wall_shift = 0;
	n_notes = 0;
	asked_ns = 0;
	chance_u64(&c);
	luck.state = chance_u64(&c) | 1;
	kernel_begin(chance_u64(&c));
	fabric_begin(simulation_now_ns);
	fabric_seed(chance_u64(&c));
	oracle_begin();
	processes_begin();
	hosts_make(&c);
	end_ns = now_ns + FAULTS_MIN_NS + chance_u64(&c) % FAULTS_SPAN_NS;
	faults_begin(options, end_ns);
	for (unsigned i = 0; i < n_hosts; i++)
		host_boot(&hosts[i]);
	run_until(end_ns, NULL);
	/* Some end in the middle of it. */
	if (chance_below(&c, 4)) {
		faults_heal();
		must_be_well();
	}
	stop_all();
	hosts_free();
	oracle_when_over();
	fabric_end();
	simulation_totals.faults += faults_count();
	simulation_totals.virtual_ns += now_ns - START_NS;
	return faults_count();
}
