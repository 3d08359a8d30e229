#include "daemon/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int child_lift_fd(int fd)
{
	int lifted = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FIRST_SAFE_FD);
	int saved = errno;

	close(fd);
	errno = saved;
	return lifted;
}

/* The service manager's variables are for main alone. */
static char **child_environment(void)
{
	static const char *const mine[] = {"NOTIFY_SOCKET=", "WATCHDOG_USEC=", "WATCHDOG_PID=",
					   "LISTEN_FDS=",    "LISTEN_PID=",    "LISTEN_FDNAMES="};
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		bool drop = false;

		for (size_t k = 0; k < sizeof(mine) / sizeof(mine[0]); k++)
			drop |= strncmp(environ[i], mine[k], strlen(mine[k])) == 0;
		if (!drop)
			env[kept++] = environ[i];
	}
	return env;
}

/* Signals as at the start of a fresh program: main blocks most of them. */
static int set_signals(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int child_spawn(const char *path, char *const argv[], const int *fds, int n, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = child_environment();
	int r;

	if (!env)
		return -ENOMEM;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < n; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], CHILD_FIRST_FD + i);
	r = set_signals(&attr);
	if (r == 0)
		r = posix_spawn(ret_pid, path ? path : "/proc/self/exe", &actions, &attr, argv,
				env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	return -r;
}
