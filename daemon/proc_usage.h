/* CPU time and memory of a process by /proc. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* User and system time in ns, resident memory in bytes. 0 or -errno; nothing is set then. */
int proc_usage(pid_t pid, uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);
/* The parser alone: text as in /proc/PID/stat. 0 or -EINVAL. */
int proc_usage_parse(const char *stat, uint64_t ticks_per_second, uint64_t page_bytes,
		     uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);
