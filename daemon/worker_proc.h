/* One worker process: its pid, its socket, its table. Wishes go down, facts come up; the end is
 * told once, after the process was reaped and its last facts were handed over. */
#pragma once
#include <signal.h>
#include "core/loop.h"
#include "probes/table.h"
#include "probes/wish.h"

struct worker_proc;

struct worker_events {
	void (*fact)(void *arg, const struct fact *f);
	/* Reaped. The table is still mapped; the callee frees the worker, now or later. */
	void (*ended)(void *arg, const siginfo_t *info);
};

struct worker_start {
	const char *path;   /* of the program */
	const char *device; /* for those who read a process list */
	struct table_layout layout;
};

/* NULL with errno. The first wish has to be WISH_CONFIG. */
struct worker_proc *worker_proc_start(struct loop *loop, const struct worker_start *how,
				      const struct worker_events *events, void *arg);
/* NULL is fine. A worker that still runs is killed, and not waited for. */
void worker_proc_free(struct worker_proc *w);
pid_t worker_proc_pid(const struct worker_proc *w);
const struct table *worker_proc_table(const struct worker_proc *w);
/* Sent in order, now or when the worker reads again. A worker that cannot be told anything any
 * more is killed: its successor is told everything afresh. */
void worker_proc_send(struct worker_proc *w, const struct wish *wish);
void worker_proc_kill(struct worker_proc *w, int signo);
/* Packets from it that were malformed. */
uint64_t worker_proc_malformed(const struct worker_proc *w);
