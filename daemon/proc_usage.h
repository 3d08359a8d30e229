/* CPU time and memory of a process, asked once a second for each worker: by its CPU clock, which is
 * one call, and by a file of /proc that stays open. */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct proc_usage { /* zeroed: of no process */
	clockid_t cpu_clock;
	int number; /* the descriptor plus one; 0: not open */
};

/* Of a child that is not reaped yet, so that its number is nobody else's. 0 or -errno. */
int proc_usage_open(struct proc_usage *u, pid_t pid);
void proc_usage_close(struct proc_usage *u);
/* CPU time of all its threads, ended ones included, in ns; resident memory in bytes. 0 or -errno;
 * nothing is set then. */
int proc_usage_read(const struct proc_usage *u, uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);
