#include "daemon/proc_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

#define STAT_MAX 1024

int proc_usage_parse(const char *stat, uint64_t ticks_per_second, uint64_t page_bytes,
		     uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	unsigned long long utime, stime;
	long long rss;
	/* The name stands in parentheses and may hold anything, parentheses too. */
	const char *after = strrchr(stat, ')');

	if (!after || ticks_per_second == 0)
		return -EINVAL;
	/* Fields 3 (state) to 24 (rss); 14 and 15 are the times. */
	if (sscanf(after + 1,
		   " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu"
		   " %*s %*s %*s %*s %*s %*s %*s %*s %lld",
		   &utime, &stime, &rss) != 3)
		return -EINVAL;
	*ret_cpu_ns = (utime + stime) * (NSEC_PER_SEC / ticks_per_second);
	*ret_rss_bytes = rss > 0 ? (uint64_t)rss * page_bytes : 0;
	return 0;
}

int proc_usage(pid_t pid, uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	char path[32], text[STAT_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	return proc_usage_parse(text, (uint64_t)sysconf(_SC_CLK_TCK),
				(uint64_t)sysconf(_SC_PAGESIZE), ret_cpu_ns, ret_rss_bytes);
}
