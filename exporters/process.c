#include "exporters/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/statm.h"

static void read_memory(struct process_facts *ret)
{
	char text[STATM_MAX];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	ret->has_memory = statm_parse(text, (uint64_t)sysconf(_SC_PAGESIZE), &ret->virtual_bytes,
				      &ret->resident_bytes);
}

static void count_open_fds(struct process_facts *ret)
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

/* Since Linux 6.2 the directory's size is the number; where it is 0, they are counted. */
static void read_open_fds(struct process_facts *ret)
{
	struct stat st;

	if (stat("/proc/self/fd", &st) < 0 || st.st_size <= 0) {
		count_open_fds(ret);
		return;
	}
	ret->open_fds = (uint64_t)st.st_size;
	ret->has_open_fds = true;
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
