#include "daemon/proc_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"

#define STATM_MAX 256

int proc_usage_parse(const char *statm, uint64_t page_bytes, uint64_t *ret_rss_bytes)
{
	char *end;

	/* Pages: the whole size, then those that are resident. */
	if (*statm < '0' || *statm > '9')
		return -EINVAL;
	strtoull(statm, &end, 10);
	if (end[0] != ' ' || end[1] < '0' || end[1] > '9')
		return -EINVAL;
	*ret_rss_bytes = strtoull(end + 1, NULL, 10) * page_bytes;
	return 0;
}

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
	struct timespec cpu;
	ssize_t n;
	int r;

	if (u->number == 0)
		return -ENOENT;
	n = pread(u->number - 1, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	text[n] = '\0';
	if (clock_gettime(u->cpu_clock, &cpu) < 0)
		return -errno;
	r = proc_usage_parse(text, (uint64_t)sysconf(_SC_PAGESIZE), ret_rss_bytes);
	if (r == 0)
		*ret_cpu_ns = (uint64_t)cpu.tv_sec * NSEC_PER_SEC + (uint64_t)cpu.tv_nsec;
	return r;
}
