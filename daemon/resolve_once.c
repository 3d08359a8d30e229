#include "daemon/resolve_once.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/resolver_helper.h"

#define RESOLVE_NS (20 * NSEC_PER_SEC)

static void *look_up_all(void *arg)
{
	int fd = *(const int *)arg;
	struct resolver_question q;

	while (recv(fd, &q, sizeof(q), 0) == (ssize_t)sizeof(q)) {
		struct resolver_answer a = {.id = q.id};

		resolver_look_up(q.name, &a);
		send(fd, &a, sizeof(a), MSG_NOSIGNAL);
	}
	return NULL;
}

static bool start_threads(int *fd)
{
	bool any = false;
	pthread_t thread;

	for (int i = 0; i < RESOLVER_THREADS; i++) {
		if (pthread_create(&thread, NULL, look_up_all, fd) != 0)
			continue;
		pthread_detach(thread);
		any = true;
	}
	return any;
}

/* Ask while the socket takes it, so that neither side waits for the other for ever. */
static void ask(struct lookups *l, const char **asked, uint64_t *n, int fd)
{
	const char *name;

	while (*n < lookups_count(l) && (name = lookups_next(l, UINT64_MAX))) {
		struct resolver_question q = {.id = *n + 1};

		name_copy(q.name, sizeof(q.name), name);
		if (send(fd, &q, sizeof(q), MSG_NOSIGNAL) < 0)
			return;
		asked[(*n)++] = name;
		if (*n % (2 * RESOLVER_THREADS) == 0)
			return;
	}
}

static void take_answers(struct lookups *l, int fd,
			 void (*failed)(void *arg, const char *name, const char *why), void *arg)
{
	const char **asked = calloc(lookups_count(l), sizeof(*asked));
	uint64_t n_asked = 0, n_answered = 0, end_ns = clock_now_ns() + RESOLVE_NS, now_ns;

	while (asked && n_answered < lookups_count(l) && (now_ns = clock_now_ns()) < end_ns) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		struct resolver_answer a;

		if (n_asked == n_answered)
			ask(l, asked, &n_asked, fd);
		if (poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) <= 0 ||
		    recv(fd, &a, sizeof(a), 0) != (ssize_t)sizeof(a) || a.id == 0 || a.id > n_asked)
			continue;
		n_answered++;
		if (a.n == 0)
			failed(arg, asked[a.id - 1], a.error);
		lookups_answer(l, asked[a.id - 1], &a, 0, now_ns, 0);
	}
	free(asked);
}

int resolve_once(struct lookups *l, void (*failed)(void *arg, const char *name, const char *why),
		 void *arg)
{
	static int fds[2]; /* threads that are held up use theirs until the end of the process */

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (!start_threads(&fds[1]))
		return -EAGAIN;
	take_answers(l, fds[0], failed, arg);
	return 0;
}
