#include "exporters/lobby.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/hello.h"

#define TURN_NS                                                                                    \
	(20 * NSEC_PER_MSEC) /* of letting in, then the rest of the program has its turn           \
			      */

struct waiter {
	struct lobby *lobby;
	struct waiter *prev, *next; /* in the list of those who are ready, or who are not */
	struct guest *guest;
	int fd;
	struct loop_source *io;
	bool ready;
	socklen_t len;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr;
};

struct waiters { /* oldest first */
	struct waiter *first, *last;
};

struct lobby {
	struct loop *loop;
	const struct lobby_events *events;
	void *arg;
	struct waiters waiting, ready;
	struct loop_source *turn;
};

static struct waiters *list_of(struct waiter *w)
{
	return w->ready ? &w->lobby->ready : &w->lobby->waiting;
}

static void enlist(struct waiter *w)
{
	struct waiters *list = list_of(w);

	w->next = NULL;
	w->prev = list->last;
	if (w->prev)
		w->prev->next = w;
	else
		list->first = w;
	list->last = w;
}

static void delist(struct waiter *w)
{
	struct waiters *list = list_of(w);

	if (w->prev)
		w->prev->next = w->next;
	else
		list->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		list->last = w->prev;
}

/* The connection is the caller's. */
static void forget(struct waiter *w)
{
	delist(w);
	loop_source_free(w->io);
	free(w);
}

static void drop(struct waiter *w)
{
	struct lobby *l = w->lobby;
	struct guest *g = w->guest;
	int fd = w->fd;

	forget(w);
	close(fd);
	l->events->left(l->arg, g);
}

static void admit(struct waiter *w)
{
	struct lobby *l = w->lobby;
	struct waiter copy = *w;
	int one = 1;

	forget(w);
	setsockopt(copy.fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
	l->events->admit(l->arg, copy.guest, copy.fd, &copy.addr.sa, copy.len);
}

static void on_turn(void *arg, uint64_t now_ns)
{
	struct lobby *l = arg;

	while (l->ready.first) {
		admit(l->ready.first);
		if (clock_now_ns() - now_ns > TURN_NS)
			break;
	}
	if (l->ready.first)
		loop_timer_arm(l->turn, 0);
}

static void become_ready(struct waiter *w)
{
	delist(w);
	w->ready = true;
	enlist(w);
	loop_io_set_events(w->io, 0);
	loop_timer_arm(w->lobby->turn, 0);
}

static void on_io(void *arg, int fd, uint32_t events)
{
	struct waiter *w = arg;
	uint8_t head[HELLO_HEAD];
	int there = 0, need;
	ssize_t n;

	if (events & (EPOLLHUP | EPOLLERR)) {
		drop(w);
		return;
	}
	if (w->ready)
		return;
	n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || ioctl(fd, FIONREAD, &there) < 0) {
		drop(w);
		return;
	}
	need = (int)hello_need(head, (size_t)n);
	if (there >= need) {
		become_ready(w);
		return;
	}
	/* The kernel wakes us when it has as much. It wakes us for good when no more will come. */
	if ((events & EPOLLRDHUP) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &need, sizeof(need)) < 0)
		drop(w);
}

struct lobby *lobby_new(struct loop *loop, const struct lobby_events *events, void *arg)
{
	struct lobby *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct lobby){.loop = loop, .events = events, .arg = arg};
	l->turn = loop_add_timer(loop, on_turn, l);
	if (l->turn)
		return l;
	lobby_free(l);
	errno = ENOMEM;
	return NULL;
}

static void close_all(struct waiters *list)
{
	while (list->first) {
		int fd = list->first->fd;

		forget(list->first);
		close(fd);
	}
}

void lobby_free(struct lobby *l)
{
	if (!l)
		return;
	close_all(&l->waiting);
	close_all(&l->ready);
	loop_source_free(l->turn);
	free(l);
}

int lobby_add(struct lobby *l, struct guest *g, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct waiter *w = len <= sizeof(w->addr) ? calloc(1, sizeof(*w)) : NULL;

	if (w) {
		*w = (struct waiter){.lobby = l, .guest = g, .fd = fd, .len = len};
		memcpy(&w->addr, addr, len);
		w->io = loop_add_io(l->loop, fd, EPOLLIN | EPOLLRDHUP, on_io, w);
	}
	if (!w || !w->io) {
		free(w);
		close(fd);
		return -ENOMEM;
	}
	enlist(w);
	return 0;
}
