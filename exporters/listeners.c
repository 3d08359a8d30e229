#include "exporters/listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"

#define LISTENERS_MAX 16
#define BACKLOG 512
#define BATCH 32	   /* clients taken before other work has its turn */
#define SEND_BUFFER 131072 /* bytes that the kernel holds for a client, which doubles it */
#define RETRY_NS (1 * NSEC_PER_SEC)
#define PAUSE_NS (100 * NSEC_PER_MSEC)
#define ADDRESS_TEXT 80

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct listener {
	struct listeners *all;
	union address address;
	socklen_t len;
	int fd;	   /* -1: the address is not there yet */
	bool both; /* serves IPv4 as well */
	struct loop_source *source;
};

struct listeners {
	struct loop *loop;
	listeners_client_fn client;
	listeners_batch_fn batch;
	void *arg;
	struct listener listener[LISTENERS_MAX];
	size_t n;
	struct loop_source *retry, *resume;
};

static uint16_t port_of(const union address *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

static bool is_any6(const union address *a)
{
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

static void describe(const union address *a, char ret[ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
		snprintf(ret, ADDRESS_TEXT, "[%s]:%u", host, port_of(a));
	} else {
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
		snprintf(ret, ADDRESS_TEXT, "%s:%u", host, port_of(a));
	}
}

static void explain(const union address *a, int error, char *err, size_t errlen)
{
	char text[ADDRESS_TEXT];

	describe(a, text);
	switch (error) {
	case EADDRINUSE:
		snprintf(err, errlen,
			 "cannot listen on %s: the port is in use by another program; "
			 "stop it or choose another [http] listen",
			 text);
		break;
	case EADDRNOTAVAIL:
		snprintf(err, errlen,
			 "cannot listen on %s yet: no interface of this host has the "
			 "address; trying again every second",
			 text);
		break;
	case EACCES:
		snprintf(err, errlen,
			 "cannot listen on %s: ports below 1024 need privileges; "
			 "choose another [http] listen",
			 text);
		break;
	case EAFNOSUPPORT:
		snprintf(err, errlen,
			 "cannot listen on %s: this host has no such address family; "
			 "use 0.0.0.0 in [http] listen",
			 text);
		break;
	default:
		snprintf(err, errlen, "cannot listen on %s: %s", text, strerror(error));
	}
}

/* A listening socket, or -errno. only6 is stated always: the system's default differs. */
static int open_socket(const union address *a, socklen_t len, bool only6)
{
	int fd = socket(a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, v6only = only6, buffer = SEND_BUFFER, r = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (a->sa.sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0) ||
	    /* Accepted sockets inherit it; without it a client that never reads gets megabytes. */
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer)) < 0 ||
	    bind(fd, &a->sa, len) < 0 || listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static bool is_fd_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Stop looking at the sockets for a moment: without a descriptor they stay readable, and the loop
 * would do nothing but fail. */
static void pause_accepting(struct listeners *all)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->listener[i].source)
			loop_io_set_events(all->listener[i].source, 0);
	}
	loop_timer_arm(all->resume, clock_now_ns() + PAUSE_NS);
}

static void resume_accepting(void *arg, uint64_t now_ns)
{
	struct listeners *all = arg;

	(void)now_ns;
	for (size_t i = 0; i < all->n; i++) {
		if (all->listener[i].source)
			loop_io_set_events(all->listener[i].source, EPOLLIN);
	}
}

static void accept_clients(void *arg, int fd, uint32_t events)
{
	struct listener *l = arg;
	struct listeners *all = l->all;
	union address from;
	socklen_t len;
	int client;

	(void)events;
	for (int i = 0; i < BATCH; i++) {
		len = sizeof(from);
		client = accept4(fd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0) {
			all->client(all->arg, client, &from.sa, len);
			continue;
		}
		if (is_fd_shortage(errno)) {
			pause_accepting(all);
			all->batch(all->arg, false);
			return;
		}
		/* A client that left before it was let in is no reason to stop. */
		if (errno != ECONNABORTED && errno != EINTR)
			break;
	}
	all->batch(all->arg, true);
}

static int start(struct listener *l, int fd)
{
	socklen_t len = sizeof(l->address);

	l->source = loop_add_io(l->all->loop, fd, EPOLLIN, accept_clients, l);
	if (!l->source)
		return -errno;
	l->fd = fd;
	/* The port that the kernel chose. */
	if (getsockname(fd, &l->address.sa, &len) == 0)
		l->len = len;
	return 0;
}

/* Do we serve that address already by a socket for both families? */
static bool served_by_both(const struct listeners *all, const union address *a)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct listener *l = &all->listener[i];

		if (l->fd >= 0 && l->both && a->sa.sa_family == AF_INET &&
		    port_of(&l->address) == port_of(a))
			return true;
	}
	return false;
}

static bool have_ipv4(const struct listeners *all, uint16_t port)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct listener *l = &all->listener[i];

		if (l->fd >= 0 && l->address.sa.sa_family == AF_INET &&
		    port_of(&l->address) == port)
			return true;
	}
	return false;
}

/* Open l's address, falling back as the header says. */
static int open_listener(struct listener *l)
{
	bool both = is_any6(&l->address) && !have_ipv4(l->all, port_of(&l->address));
	int fd = open_socket(&l->address, l->len, !both);

	if (fd == -EAFNOSUPPORT && is_any6(&l->address)) {
		union address any = {
			.in = {.sin_family = AF_INET, .sin_port = l->address.in6.sin6_port}};

		l->address = any;
		l->len = sizeof(any.in);
		both = false;
		fd = open_socket(&l->address, l->len, true);
	}
	l->both = both;
	return fd;
}

static void retry_missing(void *arg, uint64_t now_ns)
{
	struct listeners *all = arg;
	bool missing = false;
	int fd;

	for (size_t i = 0; i < all->n; i++) {
		struct listener *l = &all->listener[i];

		if (l->fd >= 0)
			continue;
		fd = open_listener(l);
		if (fd >= 0 && start(l, fd) < 0)
			close(fd);
		missing |= l->fd < 0;
	}
	if (missing)
		loop_timer_arm(all->retry, now_ns + RETRY_NS);
}

struct listeners *listeners_new(struct loop *loop, listeners_client_fn client,
				listeners_batch_fn batch, void *arg)
{
	struct listeners *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	*all = (struct listeners){.loop = loop, .client = client, .batch = batch, .arg = arg};
	all->retry = loop_add_timer(loop, retry_missing, all);
	all->resume = loop_add_timer(loop, resume_accepting, all);
	if (!all->retry || !all->resume) {
		listeners_free(all);
		return NULL;
	}
	return all;
}

void listeners_free(struct listeners *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++) {
		loop_source_free(all->listener[i].source);
		if (all->listener[i].fd >= 0)
			close(all->listener[i].fd);
	}
	loop_source_free(all->retry);
	loop_source_free(all->resume);
	free(all);
}

static int refuse(int error, char *err, size_t errlen, const char *why)
{
	snprintf(err, errlen, "%s", why);
	return -error;
}

static struct listener *take_slot(struct listeners *all)
{
	struct listener *l = &all->listener[all->n];

	*l = (struct listener){.all = all, .fd = -1};
	return l;
}

int listeners_add(struct listeners *all, const struct sockaddr *addr, socklen_t len, char *err,
		  size_t errlen)
{
	struct listener *l;
	int fd, r;

	if (all->n == LISTENERS_MAX)
		return refuse(E2BIG, err, errlen, "too many [http] listen: at most 16 are served");
	if ((addr->sa_family != AF_INET || len < sizeof(struct sockaddr_in)) &&
	    (addr->sa_family != AF_INET6 || len < sizeof(struct sockaddr_in6)))
		return refuse(EINVAL, err, errlen, "only IPv4 and IPv6 addresses can be served");
	l = take_slot(all);
	l->len = addr->sa_family == AF_INET ? sizeof(l->address.in) : sizeof(l->address.in6);
	memcpy(&l->address, addr, l->len);
	if (served_by_both(all, &l->address))
		return 0;
	fd = open_listener(l);
	if (fd == -EADDRNOTAVAIL) {
		explain(&l->address, EADDRNOTAVAIL, err, errlen);
		all->n++;
		loop_timer_arm(all->retry, clock_now_ns() + RETRY_NS);
		return 1;
	}
	r = fd < 0 ? fd : start(l, fd);
	if (r < 0) {
		explain(&l->address, -r, err, errlen);
		if (fd >= 0)
			close(fd);
		return r;
	}
	all->n++;
	return 0;
}

/* As our own sockets are. */
static int prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL), buffer = SEND_BUFFER;

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
			       fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
			       setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer)) < 0
		       ? -errno
		       : 0;
}

static bool is_option(int fd, int option, int wanted)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 && value == wanted;
}

static bool listens_for_tcp(int fd)
{
	return is_option(fd, SO_ACCEPTCONN, 1) && is_option(fd, SO_PROTOCOL, IPPROTO_TCP);
}

int listeners_add_fd(struct listeners *all, int fd, char *err, size_t errlen)
{
	int r;

	if (all->n == LISTENERS_MAX) {
		close(fd);
		return refuse(E2BIG, err, errlen, "too many sockets to listen on: at most 16");
	}
	if (!listens_for_tcp(fd)) {
		close(fd);
		return refuse(ENOTSOCK, err, errlen,
			      "a socket that was passed does not listen for TCP: see ListenStream= "
			      "and Accept=no in the socket unit");
	}
	r = prepare(fd);
	if (r == 0)
		r = start(take_slot(all), fd);
	if (r < 0) {
		close(fd);
		return refuse(-r, err, errlen, "a socket that was passed cannot be watched");
	}
	all->n++;
	return 0;
}

uint16_t listeners_port(const struct listeners *all, size_t i)
{
	return i < all->n && all->listener[i].fd >= 0 ? port_of(&all->listener[i].address) : 0;
}
