#include "daemon/control_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"

#define BACKLOG 8
#define REST_NS NSEC_PER_SEC /* without descriptors, accept would be tried without end */

struct control_client {
	struct control_socket *socket; /* NULL: the slot is free */
	struct loop_source *io, *timer;
	int fd;
	uid_t uid;
	uint64_t since_ns;
	bool asked;
};

struct control_socket {
	struct loop *loop;
	struct loop_source *io, *rest;
	const struct control_socket_events *events;
	void *arg;
	int fd;
	bool bound;
	struct sockaddr_un address;
	struct control_client clients[CONTROL_SOCKET_CLIENTS];
};

/* --- clients --- */

static void close_client(struct control_client *c)
{
	loop_source_free(c->io);
	loop_source_free(c->timer);
	close(c->fd);
	memset(c, 0, sizeof(*c));
}

static void client_left(struct control_client *c)
{
	struct control_socket *s = c->socket;

	if (c->asked)
		s->events->gone(s->arg, c);
	close_client(c);
}

static bool is_text(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] < 0x20 || data[i] > 0x7e)
			return false;
	return true;
}

static void on_client(void *arg, int fd, uint32_t events)
{
	struct control_client *c = arg;
	char text[CONTROL_REQUEST_MAX + 1];
	ssize_t n;

	(void)events;
	if (c->asked) {
		client_left(c);
		return;
	}
	n = recv(fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_left(c);
		return;
	}
	if ((size_t)n < sizeof(text) && text[n - 1] == '\n')
		n--;
	if ((size_t)n >= sizeof(text) || !is_text(text, (size_t)n))
		n = 0;
	text[n] = '\0';
	c->asked = true;
	loop_timer_disarm(c->timer);
	/* From here on nothing but its leaving is of interest. */
	loop_io_set_events(c->io, 0);
	c->socket->events->request(c->socket->arg, c, text);
}

static void on_impatience(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	client_left(arg);
}

void control_client_answer(struct control_client *c, const char *text, size_t len)
{
	/* An empty packet would look like an end; one that does not fit is the client's loss. */
	if (len > 0)
		(void)!send(c->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close_client(c);
}

uid_t control_client_uid(const struct control_client *c)
{
	return c->uid;
}

/* A free slot; that of the longest silent client if there is none; NULL: all have asked. */
static struct control_client *find_slot(struct control_socket *s)
{
	struct control_client *oldest = NULL;

	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_client *c = &s->clients[i];

		if (!c->socket)
			return c;
		if (!c->asked && (!oldest || c->since_ns < oldest->since_ns))
			oldest = c;
	}
	if (oldest)
		client_left(oldest);
	return oldest;
}

static bool may_ask(int fd, uid_t *ret_uid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return false;
	*ret_uid = who.uid;
	return who.uid == 0 || who.uid == geteuid();
}

static void take_client(struct control_socket *s, int fd)
{
	struct control_client *c;
	uid_t uid;

	if (!may_ask(fd, &uid) || !(c = find_slot(s))) {
		close(fd);
		return;
	}
	c->socket = s;
	c->fd = fd;
	c->uid = uid;
	c->since_ns = clock_now_ns();
	c->io = loop_add_io(s->loop, fd, EPOLLIN, on_client, c);
	c->timer = loop_add_timer(s->loop, on_impatience, c);
	if (!c->io || !c->timer || loop_timer_arm(c->timer, c->since_ns + CONTROL_PATIENCE_NS) < 0)
		close_client(c);
}

/* --- listening --- */

static void on_rested(void *arg, uint64_t now_ns)
{
	struct control_socket *s = arg;

	(void)now_ns;
	loop_io_set_events(s->io, EPOLLIN);
}

static void on_connect(void *arg, int fd, uint32_t events)
{
	struct control_socket *s = arg;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (client >= 0) {
		take_client(s, client);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	loop_io_set_events(s->io, 0);
	loop_timer_arm(s->rest, clock_now_ns() + REST_NS);
}

/* Somebody answers there? Then it is not ours to take. */
static int remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int fd, r;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	close(fd);
	if (r != -ECONNREFUSED)
		return r == -EACCES ? r : -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

static int bind_path(struct control_socket *s)
{
	mode_t before;
	int r = remove_stale(&s->address);

	if (r < 0)
		return r;
	/* Nobody else may connect, not even before a chmod. */
	before = umask(0177);
	r = bind(s->fd, (const struct sockaddr *)&s->address, sizeof(s->address)) < 0 ? -errno : 0;
	umask(before);
	s->bound = r == 0;
	return r;
}

static int open_socket(struct control_socket *s)
{
	int r;

	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	r = bind_path(s);
	if (r < 0)
		return r;
	if (listen(s->fd, BACKLOG) < 0)
		return -errno;
	s->io = loop_add_io(s->loop, s->fd, EPOLLIN, on_connect, s);
	s->rest = loop_add_timer(s->loop, on_rested, s);
	return s->io && s->rest ? 0 : -errno;
}

struct control_socket *control_socket_new(struct loop *loop, const char *path,
					  const struct control_socket_events *events, void *arg)
{
	struct control_socket *s;
	int r;

	if (!path[0] || strlen(path) >= sizeof(s->address.sun_path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->loop = loop;
	s->events = events;
	s->arg = arg;
	s->address.sun_family = AF_UNIX;
	strcpy(s->address.sun_path, path);
	r = open_socket(s);
	if (r == 0)
		return s;
	control_socket_free(s);
	errno = -r;
	return NULL;
}

void control_socket_free(struct control_socket *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		if (s->clients[i].socket)
			client_left(&s->clients[i]);
	loop_source_free(s->io);
	loop_source_free(s->rest);
	if (s->fd >= 0)
		close(s->fd);
	if (s->bound)
		unlink(s->address.sun_path);
	free(s);
}
