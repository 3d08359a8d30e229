/* The worker's program: found once, at the start of main, and kept open. What runs later is what
 * was there then: a package upgrade between two starts of a worker must not pair this main with
 * the next version's worker, whose messages and table may differ. */
#pragma once
#include <stddef.h>

#define WORKER_PROGRAM_NAME "rdma-pingmesh-worker"
#define WORKER_PROGRAM_PATH 64

struct worker_program {
	int fd;				/* -1: not open */
	char path[WORKER_PROGRAM_PATH]; /* to execute; valid in this process and its fresh child */
};

/* At path, or without one (NULL) beside this program, as in a build directory, else where it is
 * installed. 0, or -errno with a sentence in err. */
int worker_program_open(struct worker_program *p, const char *path, char *err, size_t errlen);
void worker_program_close(struct worker_program *p);
