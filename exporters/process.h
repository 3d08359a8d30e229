/* What this process costs, for the process_* families: from /proc/self, which never blocks. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct process_facts {
	uint64_t cpu_ns;
	bool has_memory, has_open_fds, has_max_fds;
	uint64_t resident_bytes, virtual_bytes;
	uint64_t open_fds, max_fds;
};

/* What cannot be read (a sandbox may hide /proc) is left unknown. */
void process_read(struct process_facts *ret);
