/* The clock: the only place that reads it. Everything else is given its time.
 * All durations and instants are nanoseconds in uint64_t. */
#pragma once
#include <stdint.h>

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

/* CLOCK_MONOTONIC in ns: schedules, deadlines, round trips. */
uint64_t clock_now_ns(void);
/* CLOCK_REALTIME in ns since the epoch: only for what people read (timestamps). */
uint64_t clock_wall_ns(void);
/* CPU time of the calling process in ns. */
uint64_t clock_process_cpu_ns(void);
/* The same of the calling thread. */
uint64_t clock_thread_cpu_ns(void);
