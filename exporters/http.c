#include "exporters/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <microhttpd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/edition.h"
#include "exporters/guests.h"
#include "exporters/listeners.h"
#include "exporters/routes.h"

#define CONNECTION_MEMORY 16384u /* bytes: bounds header and answer header */
#define BODY_MAX 65536		 /* bytes of a request's body that are read and thrown away */
#define STREAM_BLOCK 32768	 /* bytes produced at a time */
#define STALL_TIMEOUT_S 10u	 /* without a byte either way */
#define HELD_MAX (128u << 20)	 /* bytes that answers on their way may hold */
#define SWEEP_NS (1 * NSEC_PER_SEC)

#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "            \
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Connections come by accept(), not by the library's own listening: so one daemon serves every
 * socket, and we decide who leaves when there are too many. */
struct http_server {
	struct loop *loop;
	struct http_source source;
	struct editions *editions;
	struct routes routes;
	struct MHD_Daemon *daemon;
	struct loop_source *io, *timer, *sweep;
	struct listeners *listeners;
	struct guests guests;
	bool sweeping;
};

/* A request between its header and its answer. */
struct exchange {
	struct guest *guest;
	size_t body;
};

/* The body of an answer, owned by the library's response. */
struct body {
	ssize_t (*read)(void *arg, char *buf, size_t max);
	void (*done)(void *arg);
	void *arg;
};

static void shut(struct guest *g)
{
	/* The library sees the end of the connection and cleans up by itself. */
	shutdown(g->fd, SHUT_RDWR);
	g->leaving = true;
}

/* --- answers --- */

static ssize_t body_read(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct body *body = cls;
	ssize_t n = body->read(body->arg, buf, max);

	(void)pos;
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void body_free(void *cls)
{
	struct body *body = cls;

	if (body->done)
		body->done(body->arg);
	free(body);
}

/* Takes over the reply's body, also on failure. */
static struct MHD_Response *make_response(const struct http_reply *reply)
{
	struct body *body = calloc(1, sizeof(*body));
	struct MHD_Response *response;

	if (!body) {
		if (reply->done)
			reply->done(reply->arg);
		return NULL;
	}
	*body = (struct body){reply->read, reply->done, reply->arg};
	if (reply->read)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
							     body_read, body, body_free);
	else
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			reply->size, (void *)(uintptr_t)reply->data, body_free, body);
	if (!response)
		body_free(body);
	return response;
}

static bool add_headers(struct MHD_Response *response, const struct http_reply *reply)
{
	const char *headers[][2] = {
		{"Content-Type", reply->content_type},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Allow", reply->allow},
		{"Content-Encoding", reply->gzip ? "gzip" : NULL},
		{"Content-Security-Policy", reply->is_page ? PAGE_POLICY : NULL},
		{"Referrer-Policy", reply->is_page ? "no-referrer" : NULL},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (headers[i][1] &&
		    MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES)
			return false;
	}
	return true;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct http_reply *reply)
{
	struct MHD_Response *response = make_response(reply);
	enum MHD_Result r = MHD_NO;

	if (!response)
		return MHD_NO;
	if (add_headers(response, reply))
		r = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return r;
}

/* While answers hold too much, those who read an old one slowly are closed. */
static void bound_memory(struct http_server *s)
{
	const struct edition *oldest = editions_oldest(s->editions);
	struct guest *g;

	if (!oldest || editions_bytes(s->editions) <= HELD_MAX)
		return;
	while ((g = guests_holding(&s->guests, oldest)))
		shut(g);
}

/* --- requests --- */

static enum MHD_Result add_param(void *cls, enum MHD_ValueKind kind, const char *key,
				 size_t key_size, const char *value, size_t value_size)
{
	struct http_request *req = cls;

	(void)kind;
	if (req->n_params == HTTP_PARAMS_MAX || strlen(key) != key_size ||
	    (value && strlen(value) != value_size)) {
		req->params_bad = true;
		return MHD_NO;
	}
	req->param[req->n_params++] = (struct http_param){key, value ? value : ""};
	return MHD_YES;
}

static enum http_method method_of(const char *method)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0)
		return HTTP_GET;
	if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
		return HTTP_HEAD;
	if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
		return HTTP_POST;
	return HTTP_OTHER;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result answer(struct http_server *s, struct MHD_Connection *connection,
			      struct guest *guest, const char *path, const char *method)
{
	struct http_request req = {
		.method = method_of(method),
		.path = path,
		.accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.host = header_of(connection, MHD_HTTP_HEADER_HOST),
		.origin = header_of(connection, "Origin"),
	};
	struct http_reply reply;

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_param, &req);
	routes_answer(&s->routes, &req, &reply);
	guest_enter_phase(guest, GUEST_WRITING, clock_now_ns());
	guest->holds = reply.holds;
	bound_memory(s);
	return send_reply(connection, &reply);
}

static struct guest *guest_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* First call: the header is complete. Then one for each piece of the body, and a last one. */
static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct http_server *s = cls;
	struct exchange *x = *request;

	(void)version;
	(void)upload;
	if (!x) {
		x = calloc(1, sizeof(*x));
		if (!x)
			return MHD_NO;
		x->guest = guest_of(connection);
		*request = x;
		if (!x->guest)
			return MHD_NO;
		guest_enter_phase(x->guest, GUEST_READING, clock_now_ns());
		return MHD_YES;
	}
	if (*upload_size > 0) {
		x->body += *upload_size;
		*upload_size = 0;
		return x->body <= BODY_MAX ? MHD_YES : MHD_NO;
	}
	return answer(s, connection, x->guest, url, method);
}

static void completed(void *cls, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *request;

	(void)cls;
	(void)connection;
	(void)code;
	if (!x)
		return;
	if (x->guest)
		guest_enter_phase(x->guest, GUEST_WAITING, clock_now_ns());
	free(x);
	*request = NULL;
}

/* --- connections --- */

static void sweep(void *arg, uint64_t now_ns)
{
	struct http_server *s = arg;
	struct guest *g;

	while ((g = guests_overdue(&s->guests, now_ns)))
		shut(g);
	s->sweeping = guests_any(&s->guests);
	if (s->sweeping)
		loop_timer_arm(s->sweep, now_ns + SWEEP_NS);
}

static void start_sweeping(struct http_server *s, uint64_t now_ns)
{
	if (s->sweeping)
		return;
	s->sweeping = true;
	loop_timer_arm(s->sweep, now_ns + SWEEP_NS);
}

static void guest_comes(struct http_server *s, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *addr =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	uint64_t now_ns = clock_now_ns();

	*context = guests_enter(&s->guests, fd->connect_fd, addr->client_addr, now_ns);
	start_sweeping(s, now_ns);
}

static void connection_changes(void *cls, struct MHD_Connection *connection, void **context,
			       enum MHD_ConnectionNotificationCode what)
{
	struct http_server *s = cls;

	switch (what) {
	case MHD_CONNECTION_NOTIFY_STARTED:
		guest_comes(s, connection, context);
		break;
	case MHD_CONNECTION_NOTIFY_CLOSED:
		if (*context)
			guests_leave(&s->guests, *context);
		*context = NULL;
		break;
	}
}

static void run(struct http_server *s)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	MHD_run(s->daemon);
	if (MHD_get_timeout(s->daemon, &wait_ms) == MHD_YES)
		loop_timer_arm(s->timer, clock_now_ns() + wait_ms * NSEC_PER_MSEC);
	else
		loop_timer_disarm(s->timer);
}

static void client_comes(void *arg, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct http_server *s = arg;
	struct guest *in_the_way = guests_in_the_way(&s->guests, addr);

	if (in_the_way)
		shut(in_the_way);
	/* Closes fd itself when it fails. */
	MHD_add_connection(s->daemon, fd, addr, len);
}

static void batch_ends(void *arg, bool fds_left)
{
	struct http_server *s = arg;
	struct guest *longest = fds_left ? NULL : guests_longest(&s->guests);

	if (longest)
		shut(longest);
	run(s);
}

static void on_io(void *arg, int fd, uint32_t events)
{
	(void)fd;
	(void)events;
	run(arg);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	run(arg);
}

/* --- life --- */

static int start_daemon(struct http_server *s)
{
	const union MHD_DaemonInfo *info;

	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)(GUESTS_MAX + GUESTS_SLACK),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, STALL_TIMEOUT_S, MHD_OPTION_NOTIFY_COMPLETED,
		completed, s, MHD_OPTION_NOTIFY_CONNECTION, connection_changes, s, MHD_OPTION_END);
	if (!s->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	s->io = loop_add_io(s->loop, info->epoll_fd, EPOLLIN, on_io, s);
	return s->io ? 0 : -errno;
}

static int start(struct http_server *s)
{
	s->editions = editions_new(&s->source);
	s->routes = (struct routes){&s->source, s->editions};
	s->timer = loop_add_timer(s->loop, on_timer, s);
	s->sweep = loop_add_timer(s->loop, sweep, s);
	s->listeners = listeners_new(s->loop, client_comes, batch_ends, s);
	if (!s->editions || !s->timer || !s->sweep || !s->listeners)
		return -ENOMEM;
	return start_daemon(s);
}

struct http_server *http_server_new(struct loop *loop, const struct http_source *src)
{
	struct http_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return NULL;
	s->loop = loop;
	s->source = *src;
	guests_init(&s->guests);
	r = start(s);
	if (r < 0) {
		http_server_free(s);
		errno = -r;
		return NULL;
	}
	return s;
}

void http_server_free(struct http_server *s)
{
	if (!s)
		return;
	listeners_free(s->listeners);
	loop_source_free(s->io);
	loop_source_free(s->timer);
	loop_source_free(s->sweep);
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	editions_free(s->editions);
	free(s);
}

void http_server_allow_reload(struct http_server *s, bool allow)
{
	s->source.allow_reload = allow;
}

int http_server_listen(struct http_server *s, const struct sockaddr *addr, socklen_t len, char *err,
		       size_t errlen)
{
	return listeners_add(s->listeners, addr, len, err, errlen);
}

int http_server_listen_fd(struct http_server *s, int fd, char *err, size_t errlen)
{
	return listeners_add_fd(s->listeners, fd, err, errlen);
}

uint16_t http_server_port(const struct http_server *s, size_t i)
{
	return listeners_port(s->listeners, i);
}
