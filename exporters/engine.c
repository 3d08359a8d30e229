#include "exporters/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <microhttpd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/tls.h"

#define CONNECTION_MEMORY 32768u /* bytes: bounds header and answer header */
#define BODY_MAX 65536		 /* bytes of a request's body that are read and thrown away */
#define STREAM_BLOCK 32768	 /* bytes produced at a time */
#define STALL_TIMEOUT_S 10u	 /* without a byte either way */

#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "            \
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct engine {
	struct loop *loop;
	const struct engine_events *events;
	void *arg;
	struct tls *tls; /* NULL: plain */
	struct MHD_Daemon *daemon;
	struct loop_source *io, *timer;
	struct exchange *waiting;
	struct body *waiting_bodies;
	bool retired, closing;
};

/* The body of an answer, owned by the library's response. */
struct body {
	struct engine *engine;
	struct MHD_Connection *connection;
	bool waits;
	struct body *prev, *next; /* of those that wait */
	ssize_t (*read)(void *arg, char *buf, size_t max);
	void (*done)(void *arg);
	void *arg;
};

/* --- answers --- */

static void body_leave(struct body *b)
{
	if (!b->waits)
		return;
	b->waits = false;
	if (b->prev)
		b->prev->next = b->next;
	else
		b->engine->waiting_bodies = b->next;
	if (b->next)
		b->next->prev = b->prev;
}

static void body_woken(void *waiter)
{
	struct body *b = waiter;

	if (!b->waits)
		return;
	body_leave(b);
	MHD_resume_connection(b->connection);
	loop_timer_arm(b->engine->timer, 0);
}

/* 0 tells the library that it has to ask again, once the connection is resumed. */
static ssize_t body_wait(struct body *b)
{
	struct engine *e = b->engine;

	if (e->closing)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	b->waits = true;
	b->prev = NULL;
	b->next = e->waiting_bodies;
	if (b->next)
		b->next->prev = b;
	e->waiting_bodies = b;
	MHD_suspend_connection(b->connection);
	return 0;
}

static ssize_t body_read(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct body *body = cls;
	ssize_t n = body->read(body->arg, buf, max);

	(void)pos;
	if (n == -EAGAIN)
		return body_wait(body);
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void body_free(void *cls)
{
	struct body *body = cls;

	body_leave(body);
	if (body->done)
		body->done(body->arg);
	free(body);
}

/* Takes over the reply's body, also on failure. */
static struct MHD_Response *make_response(struct engine *e, struct MHD_Connection *connection,
					  const struct http_reply *reply)
{
	struct body *body = calloc(1, sizeof(*body));
	struct MHD_Response *response;

	if (!body) {
		if (reply->done)
			reply->done(reply->arg);
		return NULL;
	}
	*body = (struct body){.engine = e,
			      .connection = connection,
			      .read = reply->read,
			      .done = reply->done,
			      .arg = reply->arg};
	if (reply->on_wake)
		reply->on_wake(reply->arg, body_woken, body);
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

static bool add_headers(const struct engine *e, struct MHD_Response *response,
			const struct http_reply *reply)
{
	const char *headers[][2] = {
		{"Content-Type", reply->content_type},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Allow", reply->allow},
		{"WWW-Authenticate", reply->challenge},
		{"Retry-After", reply->retry_after},
		{"Content-Encoding", reply->gzip ? "gzip" : NULL},
		{"Content-Security-Policy", reply->is_page ? PAGE_POLICY : NULL},
		{"Referrer-Policy", reply->is_page ? "no-referrer" : NULL},
		{"Connection", e->retired ? "close" : NULL},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (headers[i][1] &&
		    MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES)
			return false;
	}
	return true;
}

static enum MHD_Result send_reply(struct engine *e, struct MHD_Connection *connection,
				  const struct http_reply *reply)
{
	struct MHD_Response *response = make_response(e, connection, reply);
	enum MHD_Result r = MHD_NO;

	if (!response)
		return MHD_NO;
	if (add_headers(e, response, reply))
		r = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return r;
}

/* --- requests --- */

/* Decodes %XX in place. What is decoded to a NUL would end a path early, and /metrics%00.html be
 * /metrics: it becomes a byte that is in no path and no name. */
static size_t unescape(void *cls, struct MHD_Connection *connection, char *text)
{
	size_t len = MHD_http_unescape(text);

	(void)cls;
	(void)connection;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = '\xff';
	return len;
}

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

static struct guest *guest_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static size_t header_size(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info ? info->header_size : 0;
}

static void suspend(struct exchange *x)
{
	struct engine *e = x->engine;

	x->waits = true;
	x->prev = NULL;
	x->next = e->waiting;
	if (x->next)
		x->next->prev = x;
	e->waiting = x;
	MHD_suspend_connection(x->connection);
}

static enum MHD_Result answer(struct exchange *x, const char *path, const char *method)
{
	struct MHD_Connection *connection = x->connection;
	struct engine *e = x->engine;
	struct http_request req = {
		.method = method_of(method),
		.path = path,
		.header_size = header_size(connection),
		.accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.host = header_of(connection, MHD_HTTP_HEADER_HOST),
		.origin = header_of(connection, "Origin"),
		.authorization = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION),
	};
	struct http_reply reply = {0};

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_param, &req);
	if (e->events->answer(e->arg, x, &req, &reply))
		return send_reply(e, connection, &reply);
	suspend(x);
	return MHD_YES;
}

static struct exchange *begin(struct engine *e, struct MHD_Connection *connection)
{
	struct exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	*x = (struct exchange){
		.guest = guest_of(connection), .engine = e, .connection = connection};
	if (x->guest)
		guest_enter_phase(x->guest, GUEST_READING, clock_now_ns());
	return x;
}

/* First call: the header is complete. Then one for each piece of the body, and a last one; that is
 * repeated when the exchange had to wait. */
static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct exchange *x = *request;

	(void)version;
	(void)upload;
	if (!x) {
		*request = x = begin(cls, connection);
		return x && x->guest ? MHD_YES : MHD_NO;
	}
	if (*upload_size > 0) {
		x->body += *upload_size;
		*upload_size = 0;
		return x->body <= BODY_MAX ? MHD_YES : MHD_NO;
	}
	return x->engine->closing ? MHD_NO : answer(x, url, method);
}

static void stop_waiting(struct exchange *x)
{
	if (!x->waits)
		return;
	if (x->prev)
		x->prev->next = x->next;
	else
		x->engine->waiting = x->next;
	if (x->next)
		x->next->prev = x->prev;
	x->waits = false;
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

static void demand_certificate(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	tls_demand_certificate(info->tls_session);
}

static struct guest *enter(struct engine *e, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *addr =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	/* The library itself would only ask for one. */
	if (e->tls && tls_client_ca(e->tls))
		demand_certificate(connection);
	return e->events->enter(e->arg, fd->connect_fd, addr->client_addr);
}

static void connection_changes(void *cls, struct MHD_Connection *connection, void **context,
			       enum MHD_ConnectionNotificationCode what)
{
	struct engine *e = cls;

	switch (what) {
	case MHD_CONNECTION_NOTIFY_STARTED:
		*context = enter(e, connection);
		break;
	case MHD_CONNECTION_NOTIFY_CLOSED:
		if (*context)
			e->events->leave(e->arg, *context);
		*context = NULL;
		break;
	}
}

void engine_run(struct engine *e)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	MHD_run(e->daemon);
	if (MHD_get_timeout(e->daemon, &wait_ms) == MHD_YES)
		loop_timer_arm(e->timer, clock_now_ns() + wait_ms * NSEC_PER_MSEC);
	else
		loop_timer_disarm(e->timer);
}

void engine_add(struct engine *e, int fd, const struct sockaddr *addr, socklen_t len)
{
	/* Closes fd itself when it fails. */
	MHD_add_connection(e->daemon, fd, addr, len);
}

void engine_retire(struct engine *e)
{
	e->retired = true;
}

bool engine_empty(const struct engine *e)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(e->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return !info || info->num_connections == 0;
}

bool engine_waits(const struct engine *e)
{
	return e->waiting != NULL || e->waiting_bodies != NULL;
}

void engine_resume(struct exchange *x, int word)
{
	if (!x->waits)
		return;
	stop_waiting(x);
	x->word = word;
	MHD_resume_connection(x->connection);
	/* Not at once: who calls may be in the middle of something. */
	loop_timer_arm(x->engine->timer, 0);
}

static void on_io(void *arg, int fd, uint32_t events)
{
	(void)fd;
	(void)events;
	engine_run(arg);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	engine_run(arg);
}

/* --- life --- */

static struct MHD_Daemon *start_library(struct engine *e)
{
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[5] = {{MHD_OPTION_END, 0, NULL}};
	size_t n = 0;

	if (e->tls) {
		flags |= MHD_USE_TLS;
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
						   (void *)(uintptr_t)tls_cert(e->tls)};
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
						   (void *)(uintptr_t)tls_key(e->tls)};
		tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
						   (void *)(uintptr_t)TLS_PRIORITIES};
		if (tls_client_ca(e->tls))
			tls[n++] =
				(struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0,
							(void *)(uintptr_t)tls_client_ca(e->tls)};
		tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	}
	return MHD_start_daemon(
		flags, 0, NULL, NULL, handle, e, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(GUESTS_MAX + GUESTS_SLACK), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, STALL_TIMEOUT_S,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, e, MHD_OPTION_NOTIFY_COMPLETED, completed,
		e, MHD_OPTION_NOTIFY_CONNECTION, connection_changes, e, MHD_OPTION_ARRAY, tls,
		MHD_OPTION_END);
}

static int start(struct engine *e)
{
	const union MHD_DaemonInfo *info;

	e->timer = loop_add_timer(e->loop, on_timer, e);
	if (!e->timer)
		return -errno;
	e->daemon = start_library(e);
	if (!e->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(e->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	e->io = loop_add_io(e->loop, info->epoll_fd, EPOLLIN, on_io, e);
	return e->io ? 0 : -errno;
}

struct engine *engine_new(struct loop *loop, struct tls *tls, const struct engine_events *events,
			  void *arg)
{
	struct engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return NULL;
	*e = (struct engine){.loop = loop, .events = events, .arg = arg, .tls = tls_ref(tls)};
	r = start(e);
	if (r == 0)
		return e;
	engine_free(e);
	errno = -r;
	return NULL;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	loop_source_free(e->io);
	e->closing = true;
	/* The library must not be stopped while it has suspended connections. */
	while (e->waiting)
		engine_resume(e->waiting, 0);
	while (e->waiting_bodies)
		body_woken(e->waiting_bodies);
	loop_source_free(e->timer);
	if (e->daemon)
		MHD_stop_daemon(e->daemon);
	tls_unref(e->tls);
	free(e);
}
