#include "daemon/proc_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/statm.h"

int proc_usage_open(struct proc_usage *u, pid_t pid)
{
	char path[32];
	int r, fd;

	*u = (struct proc_usage){0};
	r = clock_getcpuclockid(pid, &u->cpu_clock);
	if (r != 0)
		return -r;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	u->number = fd + 1;
	return 0;
}

void proc_usage_close(struct proc_usage *u)
{
	if (u->number > 0)
		close(u->number - 1);
	*u = (struct proc_usage){0};
}

int proc_usage_read(const struct proc_usage *u, uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	char text[STATM_MAX];
	uint64_t size, resident;
	struct timespec cpu;
	ssize_t n;

	if (u->number == 0)
		return -ENOENT;
	n = pread(u->number - 1, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	text[n] = '\0';
	if (clock_gettime(u->cpu_clock, &cpu) < 0)
		return -errno;
	if (!statm_parse(text, (uint64_t)sysconf(_SC_PAGESIZE), &size, &resident))
		return -EINVAL;
	*ret_rss_bytes = resident;
	*ret_cpu_ns = (uint64_t)cpu.tv_sec * NSEC_PER_SEC + (uint64_t)cpu.tv_nsec;
	return 0;
}
