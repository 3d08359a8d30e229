#include "daemon/worker_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/outbox.h"

#define CHILD_SOCKET_FD 3
#define CHILD_TABLE_FD 4
#define FACTS_PER_ROUND 256	/* then HTTP and timers have their turn */
#define SOCKET_BUFFER (1 << 20) /* a storm of connects of a full device */

struct worker_proc {
	struct loop *loop;
	struct loop_source *io, *child;
	const struct worker_events *events;
	void *arg;
	struct outbox *outbox;
	struct table *table;
	int fd;
	pid_t pid; /* 0: reaped or never started */
	uint64_t malformed;
};

/* A descriptor that is out of the way of the child's two. Takes fd over. */
static int lift_fd(int fd)
{
	int lifted = fcntl(fd, F_DUPFD_CLOEXEC, WORKER_FIRST_SAFE_FD);
	int saved = errno;

	close(fd);
	errno = saved;
	return lifted;
}

/* The service manager's variables are for main alone. */
static char **worker_environment(void)
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

static int spawn(const struct worker_start *how, int socket_fd, int table_fd, pid_t *ret_pid)
{
	char name[] = "rdma-pingmeshd", flag[] = "--worker", fd3[] = "3", fd4[] = "4";
	char device[FACT_NAME];
	char *argv[] = {name, flag, fd3, fd4, device, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = worker_environment();
	int r;

	if (!env)
		return -ENOMEM;
	snprintf(device, sizeof(device), "%s", how->device);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, socket_fd, CHILD_SOCKET_FD);
	posix_spawn_file_actions_adddup2(&actions, table_fd, CHILD_TABLE_FD);
	r = set_signals(&attr);
	if (r == 0)
		r = posix_spawn(ret_pid, how->path, &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	return -r;
}

static void flush(struct worker_proc *w)
{
	int r = outbox_flush(w->outbox, w->fd);

	if (w->io)
		loop_io_set_events(w->io, r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Facts are read until there are none, at most max; false when the other end is closed. */
static bool read_facts(struct worker_proc *w, unsigned max)
{
	struct fact f;

	for (unsigned i = 0; i < max; i++) {
		int r = fact_recv(w->fd, &f);

		if (r == 0)
			return true;
		if (r == 1)
			w->events->fact(w->arg, &f);
		else if (r == -EBADMSG)
			w->malformed++;
		else
			return false;
	}
	return true;
}

static void on_io(void *arg, int fd, uint32_t events)
{
	struct worker_proc *w = arg;

	(void)fd;
	if (events & EPOLLOUT)
		flush(w);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)) || read_facts(w, FACTS_PER_ROUND))
		return;
	/* Closed: what is left to come is the end of the process. */
	loop_source_free(w->io);
	w->io = NULL;
}

static void on_child(void *arg, pid_t pid, const siginfo_t *info)
{
	struct worker_proc *w = arg;

	(void)pid;
	w->pid = 0;
	loop_source_free(w->io);
	w->io = NULL;
	/* Bounded by what a socket buffer holds. */
	read_facts(w, UINT16_MAX);
	w->events->ended(w->arg, info);
}

static int open_socket(struct worker_proc *w, int *ret_child_fd)
{
	int fds[2], size = SOCKET_BUFFER;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -errno;
	w->fd = fds[0];
	/* As far as the system allows; the outbox copes with less. */
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	*ret_child_fd = lift_fd(fds[1]);
	return *ret_child_fd < 0 ? -errno : 0;
}

static int open_table(struct worker_proc *w, const struct table_layout *layout, int *ret_fd)
{
	int fd;

	w->table = table_create(layout, &fd);
	if (!w->table)
		return -errno;
	*ret_fd = lift_fd(fd);
	return *ret_fd < 0 ? -errno : 0;
}

static int watch(struct worker_proc *w)
{
	w->child = loop_add_child(w->loop, w->pid, on_child, w);
	if (!w->child)
		return -errno;
	w->io = loop_add_io(w->loop, w->fd, EPOLLIN, on_io, w);
	return w->io ? 0 : -errno;
}

static int start(struct worker_proc *w, const struct worker_start *how)
{
	int socket_fd = -1, table_fd = -1;
	int r = open_socket(w, &socket_fd);

	if (r == 0)
		r = open_table(w, &how->layout, &table_fd);
	if (r == 0)
		r = spawn(how, socket_fd, table_fd, &w->pid);
	if (r == 0)
		r = watch(w);
	if (socket_fd >= 0)
		close(socket_fd);
	if (table_fd >= 0)
		close(table_fd);
	return r;
}

struct worker_proc *worker_proc_start(struct loop *loop, const struct worker_start *how,
				      const struct worker_events *events, void *arg)
{
	struct worker_proc *w = calloc(1, sizeof(*w));
	int r = -ENOMEM;

	if (!w)
		return NULL;
	w->loop = loop;
	w->events = events;
	w->arg = arg;
	w->fd = -1;
	w->outbox = outbox_new();
	if (w->outbox)
		r = start(w, how);
	if (r == 0)
		return w;
	worker_proc_free(w);
	errno = -r;
	return NULL;
}

void worker_proc_free(struct worker_proc *w)
{
	if (!w)
		return;
	worker_proc_kill(w, SIGKILL);
	loop_source_free(w->io);
	loop_source_free(w->child);
	if (w->fd >= 0)
		close(w->fd);
	table_unmap(w->table);
	outbox_free(w->outbox);
	free(w);
}

pid_t worker_proc_pid(const struct worker_proc *w)
{
	return w->pid;
}

const struct table *worker_proc_table(const struct worker_proc *w)
{
	return w->table;
}

void worker_proc_send(struct worker_proc *w, const struct wish *wish)
{
	if (outbox_add(w->outbox, wish) < 0)
		worker_proc_kill(w, SIGKILL);
	else
		flush(w);
}

void worker_proc_kill(struct worker_proc *w, int signo)
{
	if (w->pid > 0)
		kill(w->pid, signo);
}

uint64_t worker_proc_malformed(const struct worker_proc *w)
{
	return w->malformed;
}
