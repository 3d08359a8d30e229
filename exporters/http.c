#include "exporters/http.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/edition.h"
#include "exporters/engine.h"
#include "exporters/guests.h"
#include "exporters/listeners.h"
#include "exporters/routes.h"

#define HELD_MAX (128u << 20) /* bytes that answers on their way may hold */
#define SWEEP_NS (1 * NSEC_PER_SEC)

struct http_server {
	struct loop *loop;
	struct http_source source;
	struct editions *editions;
	struct routes routes;
	struct engine *plain;
	struct loop_source *sweep;
	struct listeners *listeners;
	struct guests guests;
	bool sweeping;
};

static void shut(struct guest *g)
{
	/* The library sees the end of the connection and cleans up by itself. */
	shutdown(g->fd, SHUT_RDWR);
	g->leaving = true;
}

/* --- requests --- */

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

static bool answer(void *arg, struct exchange *x, const struct http_request *req,
		   struct http_reply *reply)
{
	struct http_server *s = arg;

	routes_answer(&s->routes, req, reply);
	guest_enter_phase(x->guest, GUEST_WRITING, clock_now_ns());
	x->guest->holds = reply->holds;
	bound_memory(s);
	return true;
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

static struct guest *enter(void *arg, int fd, const struct sockaddr *addr)
{
	struct http_server *s = arg;
	uint64_t now_ns = clock_now_ns();

	start_sweeping(s, now_ns);
	return guests_enter(&s->guests, fd, addr, now_ns);
}

static void leave(void *arg, struct guest *g)
{
	struct http_server *s = arg;

	guests_leave(&s->guests, g);
}

static const struct engine_events engine_events = {enter, leave, answer};

static void client_comes(void *arg, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct http_server *s = arg;
	struct guest *in_the_way = guests_in_the_way(&s->guests, addr);

	if (in_the_way)
		shut(in_the_way);
	engine_add(s->plain, fd, addr, len);
}

static void batch_ends(void *arg, bool fds_left)
{
	struct http_server *s = arg;
	struct guest *longest = fds_left ? NULL : guests_longest(&s->guests);

	if (longest)
		shut(longest);
	engine_run(s->plain);
}

/* --- life --- */

static int start(struct http_server *s)
{
	s->editions = editions_new(&s->source);
	s->routes = (struct routes){&s->source, s->editions};
	s->sweep = loop_add_timer(s->loop, sweep, s);
	s->listeners = listeners_new(s->loop, client_comes, batch_ends, s);
	s->plain = engine_new(s->loop, &engine_events, s);
	return s->editions && s->sweep && s->listeners && s->plain ? 0 : -ENOMEM;
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
	engine_free(s->plain);
	loop_source_free(s->sweep);
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
