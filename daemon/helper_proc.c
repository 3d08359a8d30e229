#include "daemon/helper_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "daemon/backoff.h"
#include "daemon/child.h"

struct helper_proc {
	struct loop *loop;
	const char *flag;
	const struct helper_events *events;
	void *arg;
	int lent;  /* -1: nothing is lent */
	int fd;	   /* -1: none, or one that was told to end */
	pid_t pid; /* 0: none, or reaped */
	struct loop_source *io, *child;
	uint64_t started_ns, may_start_ns;
	struct backoff backoff;
};

static void close_pair(struct helper_proc *h)
{
	loop_source_free(h->io);
	h->io = NULL;
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

static uint64_t random_u64(void)
{
	uint64_t v = 0;

	/* Of no use to anybody: without it, delays are not spread. */
	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = clock_now_ns();
	return v;
}

static void postpone(struct helper_proc *h, uint64_t now_ns)
{
	backoff_lived(&h->backoff, now_ns - h->started_ns);
	h->may_start_ns = now_ns + backoff_next(&h->backoff, random_u64());
}

static void on_child(void *arg, pid_t pid, const siginfo_t *info)
{
	struct helper_proc *h = arg;
	bool expected = h->fd < 0;

	(void)pid;
	h->pid = 0;
	loop_source_free(h->child);
	h->child = NULL;
	close_pair(h);
	if (expected)
		return;
	postpone(h, clock_now_ns());
	h->events->ended(h->arg, info);
}

static void on_io(void *arg, int fd, uint32_t events)
{
	struct helper_proc *h = arg;

	(void)fd;
	(void)events;
	if (h->events->readable(h->arg))
		return;
	/* Its end is told by on_child(). */
	loop_source_free(h->io);
	h->io = NULL;
}

/* A child that the loop does not look after, for there was no memory for that. */
static void reap_orphan(struct helper_proc *h)
{
	if (h->pid > 0 && !h->child && waitpid(h->pid, NULL, WNOHANG) == h->pid)
		h->pid = 0;
}

static int spawn(struct helper_proc *h, const int fds[], size_t n)
{
	char name[] = "rdma-pingmeshd", fd3[] = "3";
	char *flag = strdup(h->flag);
	char *argv[] = {name, flag, fd3, NULL};
	int r = flag ? child_spawn(NULL, argv, fds, n, &h->pid) : -ENOMEM;

	free(flag);
	if (r < 0)
		h->pid = 0;
	return r;
}

static int spawn_lending(struct helper_proc *h, int socket_fd)
{
	int fds[] = {socket_fd, -1}, r;

	if (h->lent < 0)
		return spawn(h, fds, 1);
	fds[1] = fcntl(h->lent, F_DUPFD_CLOEXEC, CHILD_FIRST_SAFE_FD);
	if (fds[1] < 0)
		return -errno;
	r = spawn(h, fds, 2);
	close(fds[1]);
	return r;
}

static int start(struct helper_proc *h)
{
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	h->fd = fds[0];
	fds[1] = child_lift_fd(fds[1]);
	if (fds[1] < 0)
		return -errno;
	r = spawn_lending(h, fds[1]);
	close(fds[1]);
	if (r < 0)
		return r;
	h->child = loop_add_child(h->loop, h->pid, on_child, h);
	h->io = loop_add_io(h->loop, h->fd, EPOLLIN, on_io, h);
	return h->child && h->io ? 0 : -ENOMEM;
}

struct helper_proc *helper_proc_new(struct loop *loop, const char *flag,
				    const struct helper_events *events, void *arg)
{
	struct helper_proc *h = calloc(1, sizeof(*h));

	if (h)
		*h = (struct helper_proc){.loop = loop,
					  .flag = flag,
					  .events = events,
					  .arg = arg,
					  .lent = -1,
					  .fd = -1};
	return h;
}

void helper_proc_lend(struct helper_proc *h, int fd)
{
	h->lent = fd;
}

void helper_proc_free_unharmed(struct helper_proc *h)
{
	if (!h)
		return;
	loop_source_free(h->child);
	h->child = NULL;
	reap_orphan(h);
	close_pair(h);
	free(h);
}

void helper_proc_free(struct helper_proc *h)
{
	if (h)
		helper_proc_kill(h);
	helper_proc_free_unharmed(h);
}

bool helper_proc_may_start(struct helper_proc *h, uint64_t now_ns)
{
	reap_orphan(h);
	return h->pid == 0 && now_ns >= h->may_start_ns;
}

int helper_proc_start(struct helper_proc *h, uint64_t now_ns)
{
	int r;

	reap_orphan(h);
	if (h->pid > 0)
		return -EBUSY;
	h->started_ns = now_ns;
	r = start(h);
	if (r == 0)
		return 0;
	helper_proc_end(h);
	postpone(h, now_ns);
	return r;
}

int helper_proc_fd(const struct helper_proc *h)
{
	return h->fd;
}

void helper_proc_kill(struct helper_proc *h)
{
	if (h->pid > 0)
		kill(h->pid, SIGKILL);
}

void helper_proc_end(struct helper_proc *h)
{
	close_pair(h);
	helper_proc_kill(h);
}
