#include "exporters/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/clock.h"

static void read_memory(struct process_facts *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size, resident;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &size, &resident) == 2) {
		ret->virtual_bytes = size * page;
		ret->resident_bytes = resident * page;
		ret->has_memory = true;
	}
	fclose(f);
}

static void read_open_fds(struct process_facts *ret)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		ret->open_fds += entry->d_name[0] != '.';
	ret->open_fds--; /* the directory's own */
	ret->has_open_fds = true;
	closedir(dir);
}

static void read_max_fds(struct process_facts *ret)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	ret->max_fds = limit.rlim_cur;
	ret->has_max_fds = true;
}

void process_read(struct process_facts *ret)
{
	*ret = (struct process_facts){.cpu_ns = clock_process_cpu_ns()};
	read_memory(ret);
	read_open_fds(ret);
	read_max_fds(ret);
}
