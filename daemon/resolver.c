#include "daemon/resolver.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/backoff.h"
#include "daemon/child.h"

struct question {
	uint64_t id; /* 0: free */
	uint64_t asked_ns;
	char name[PEER_LOOKUP_MAX];
};

struct resolver {
	struct loop *loop;
	const struct resolver_events *events;
	void *arg;
	struct question questions[RESOLVER_QUESTIONS];
	uint64_t last_id;
	struct loop_source *io, *child;
	int fd;	   /* -1: no helper */
	pid_t pid; /* 0: none, or reaped */
	uint64_t started_ns, start_at_ns;
	struct backoff backoff;
};

static uint64_t random_u64(void)
{
	uint64_t v = 0;

	/* Of no use to anybody: without it, delays are not spread. */
	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = clock_now_ns();
	return v;
}

/* --- questions --- */

static void hand_over(struct resolver *r, struct question *q, const struct resolver_answer *a)
{
	char name[PEER_LOOKUP_MAX];

	name_copy(name, sizeof(name), q->name);
	q->id = 0;
	r->events->answer(r->arg, name, a);
}

static void fail_all(struct resolver *r, const char *why)
{
	struct resolver_answer a = {0};

	name_copy(a.error, sizeof(a.error), why);
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (r->questions[i].id)
			hand_over(r, &r->questions[i], &a);
}

static struct question *find_question(struct resolver *r, uint64_t id)
{
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (r->questions[i].id == id)
			return &r->questions[i];
	return NULL;
}

/* --- the helper --- */

static void close_helper(struct resolver *r)
{
	loop_source_free(r->io);
	r->io = NULL;
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static void postpone(struct resolver *r, uint64_t now_ns)
{
	backoff_lived(&r->backoff, now_ns - r->started_ns);
	r->start_at_ns = now_ns + backoff_next(&r->backoff, random_u64());
}

static void on_child(void *arg, pid_t pid, const siginfo_t *info)
{
	struct resolver *r = arg;
	bool expected = r->fd < 0;
	char text[128];

	(void)pid;
	r->pid = 0;
	loop_source_free(r->child);
	r->child = NULL;
	close_helper(r);
	if (expected)
		return;
	snprintf(text, sizeof(text), "the helper that looks up names ended (%s %d)",
		 info->si_code == CLD_EXITED ? "exit" : "signal", info->si_status);
	postpone(r, clock_now_ns());
	r->events->trouble(r->arg, text);
	fail_all(r, "the helper that looks up names ended");
}

static void on_io(void *arg, int fd, uint32_t events)
{
	struct resolver *r = arg;
	struct resolver_answer a;
	struct question *q;
	ssize_t n = recv(fd, &a, sizeof(a), MSG_DONTWAIT);

	if (n > 0 && resolver_answer_check(&a, (size_t)n)) {
		q = a.id ? find_question(r, a.id) : NULL;
		if (q)
			hand_over(r, q, &a);
	} else if (n == 0 || (events & EPOLLHUP)) {
		/* Its end is told by on_child(). */
		loop_source_free(r->io);
		r->io = NULL;
	}
}

static int spawn(struct resolver *r, int socket_fd)
{
	char name[] = "rdma-pingmeshd", flag[] = "--resolver", fd3[] = "3";
	char *argv[] = {name, flag, fd3, NULL};

	return child_spawn(NULL, argv, &socket_fd, 1, &r->pid);
}

static int start(struct resolver *r, uint64_t now_ns)
{
	int fds[2], err;

	r->started_ns = now_ns;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	r->fd = fds[0];
	fds[1] = child_lift_fd(fds[1]);
	if (fds[1] < 0)
		return -errno;
	err = spawn(r, fds[1]);
	close(fds[1]);
	if (err < 0)
		return err;
	r->child = loop_add_child(r->loop, r->pid, on_child, r);
	r->io = loop_add_io(r->loop, r->fd, EPOLLIN, on_io, r);
	return r->child && r->io ? 0 : -ENOMEM;
}

static void kill_helper(struct resolver *r)
{
	if (r->pid > 0)
		kill(r->pid, SIGKILL);
}

/* --- interface --- */

struct resolver *resolver_new(struct loop *loop, const struct resolver_events *events, void *arg)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->loop = loop;
	r->events = events;
	r->arg = arg;
	r->fd = -1;
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	kill_helper(r);
	loop_source_free(r->child);
	close_helper(r);
	free(r);
}

bool resolver_ready(const struct resolver *r, uint64_t now_ns)
{
	if (r->fd < 0 && (r->pid > 0 || now_ns < r->start_at_ns))
		return false;
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (!r->questions[i].id)
			return true;
	return false;
}

void resolver_ask(struct resolver *r, const char *name, uint64_t now_ns)
{
	struct question *q = find_question(r, 0);
	struct resolver_question packet = {0};
	int err = 0;

	*q = (struct question){.id = ++r->last_id, .asked_ns = now_ns};
	name_copy(q->name, sizeof(q->name), name);
	packet.id = q->id;
	name_copy(packet.name, sizeof(packet.name), name);
	if (r->fd < 0)
		err = start(r, now_ns);
	/* A helper that is gone is told by its end. */
	if (err == 0)
		send(r->fd, &packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (err == 0)
		return;
	kill_helper(r);
	close_helper(r);
	postpone(r, now_ns);
	r->events->trouble(r->arg, "the helper that looks up names cannot be started");
	fail_all(r, strerror(-err));
}

void resolver_tick(struct resolver *r, uint64_t now_ns, bool paused)
{
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++) {
		struct question *q = &r->questions[i];

		if (q->id && paused)
			q->asked_ns = now_ns;
		if (!q->id || now_ns - q->asked_ns < RESOLVER_PATIENCE_NS)
			continue;
		/* The others that it holds fail with it, and are asked again soon. */
		kill_helper(r);
		return;
	}
}

void resolver_rest(struct resolver *r)
{
	if (r->fd < 0)
		return;
	close_helper(r);
	kill_helper(r);
	memset(r->questions, 0, sizeof(r->questions));
}
