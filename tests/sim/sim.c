/* sim --seed N --runs N: random fault sequences against whole hosts on a virtual clock. A run that
 * breaks an invariant ends the program with 1 and tells the seed, what went wrong before, and which
 * of that matters. */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "simulation.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void __sanitizer_set_death_callback(void (*callback)(void));
#define SET_DEATH_CALLBACK __sanitizer_set_death_callback
#else
#define SET_DEATH_CALLBACK NULL
#endif

#define PROGRESS_S 10.0

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: sim [--seed N] [--runs N] [--trace] [--without FAULT]... [--shrink]\n"
		"  --seed N     the first seed (1)\n"
		"  --runs N     how many seeds (1000)\n"
		"  --trace      tell everything as it happens\n"
		"  --without F  the Fth fault (from 0) does not happen\n"
		"  --shrink     leave out what the failure of --seed does not need\n");
	exit(64);
}

/* In a child, quietly: whether that run fails. */
static bool fails(const struct simulation_options *o)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		simulation_run(o);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status != 0;
}

static int shrink(struct simulation_options *o)
{
	unsigned left = 0;

	if (!fails(o)) {
		printf("seed %llu does not fail\n", (unsigned long long)o->seed);
		return 0;
	}
	for (unsigned i = 256; i-- > 0;) {
		o->skip[i / 64] |= 1ULL << i % 64;
		if (!fails(o)) {
			o->skip[i / 64] &= ~(1ULL << i % 64);
			left++;
		}
	}
	printf("%u faults are enough:\n", left);
	fflush(stdout);
	simulation_run(o);
	return 1;
}

static void tell(double begun, uint64_t first, uint64_t runs)
{
	double s = seconds() - begun;

	printf("%llu runs from seed %llu in %.1f s: %.0f runs/s; %.1f virtual hours, %llu faults, "
	       "%llu steps; %llu runs were seen well again\n",
	       (unsigned long long)runs, (unsigned long long)first, s, (double)runs / s,
	       (double)simulation_totals.virtual_ns / 3.6e12,
	       (unsigned long long)simulation_totals.faults,
	       (unsigned long long)simulation_totals.steps,
	       (unsigned long long)simulation_totals.well);
	fflush(stdout);
}

static int run_all(struct simulation_options *o, uint64_t runs)
{
	uint64_t first = o->seed;
	double begun = seconds(), told = begun;

	for (uint64_t i = 0; i < runs; i++) {
		o->seed = first + i;
		simulation_run(o);
		if (seconds() - told < PROGRESS_S)
			continue;
		told = seconds();
		tell(begun, first, i + 1);
	}
	tell(begun, first, runs);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"seed", required_argument, NULL, 's'},	   {"runs", required_argument, NULL, 'n'},
		{"trace", no_argument, NULL, 't'},	   {"shrink", no_argument, NULL, 'k'},
		{"without", required_argument, NULL, 'w'}, {NULL, 0, NULL, 0}};
	struct simulation_options o = {.seed = 1};
	uint64_t runs = 1000;
	bool shrinks = false;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		unsigned long long v = optarg ? strtoull(optarg, NULL, 0) : 0;

		if (c == 's')
			o.seed = v;
		else if (c == 'n')
			runs = v;
		else if (c == 't')
			o.trace = true;
		else if (c == 'k')
			shrinks = true;
		else if (c == 'w' && v < 256)
			o.skip[v / 64] |= 1ULL << v % 64;
		else
			usage();
	}
	if (optind != argc || !runs)
		usage();
	/* Big blocks are taken from the kernel and given back: zeroing them here costs more. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	log_set_level(o.trace ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR);
	simulation_catch(SET_DEATH_CALLBACK);
	return shrinks ? shrink(&o) : run_all(&o, o.trace ? 1 : runs);
}
