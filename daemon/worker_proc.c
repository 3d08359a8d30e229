#include "daemon/worker_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child.h"
#include "daemon/outbox.h"

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

static int spawn(const struct worker_start *how, int socket_fd, int table_fd, pid_t *ret_pid)
{
	char name[] = "rdma-pingmeshd", flag[] = "--worker", fd3[] = "3", fd4[] = "4";
	char device[FACT_NAME];
	char *argv[] = {name, flag, fd3, fd4, device, NULL};
	const int fds[] = {socket_fd, table_fd};

	snprintf(device, sizeof(device), "%s", how->device);
	return child_spawn(how->path, argv, fds, 2, ret_pid);
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
	*ret_child_fd = child_lift_fd(fds[1]);
	return *ret_child_fd < 0 ? -errno : 0;
}

static int open_table(struct worker_proc *w, const struct table_layout *layout, int *ret_fd)
{
	int fd;

	w->table = table_create(layout, &fd);
	if (!w->table)
		return -errno;
	*ret_fd = child_lift_fd(fd);
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
