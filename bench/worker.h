/* A worker inside this process: rail and control threads as probes/worker.c has them, with the
 * rail's clock and loop given by the caller; the caller is main to it. */
#pragma once
#include "probes/rail.h"
#include "probes/wish.h"

struct bench_worker;
struct table;

struct bench_worker_params {
	struct worker_config config;
	uint64_t (*rail_now_ns)(void);
	void (*rail_loop)(struct rail *r, void *arg); /* until rail_step() returns 0 */
	void *arg;
	uint32_t samples_per_stream; /* ring of the table, a power of two */
};

/* NULL with errno. Block the signals that the caller waits for before: threads inherit the mask. */
struct bench_worker *bench_worker_start(const struct bench_worker_params *p);
int bench_worker_fd(const struct bench_worker *w); /* main's end: wishes down, facts up */
struct table *bench_worker_table(struct bench_worker *w);
/* Goodbye, drain, end of both threads; frees. Returns what control ended with (worker.h). */
int bench_worker_stop(struct bench_worker *w);
