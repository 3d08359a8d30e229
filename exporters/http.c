#include "exporters/http.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/edition.h"
#include "exporters/engine.h"
#include "exporters/gate.h"
#include "exporters/guests.h"
#include "exporters/listeners.h"
#include "exporters/lobby.h"
#include "exporters/routes.h"
#include "exporters/tls.h"
#include "exporters/users.h"

#define HELD_MAX (128u << 20) /* bytes that answers on their way may hold */
#define LEAVING_MAX 16	      /* engines of former certificates with connections left */
#define LEAVING_KEPT 4	      /* of them after a sweep: connections of older ones are closed */
#define SWEEP_NS (1 * NSEC_PER_SEC)

struct http_server {
	struct loop *loop;
	struct http_source source;
	struct editions *editions;
	struct routes routes;
	struct engine *plain, *secure; /* secure NULL: no TLS */
	struct tls *tls;	       /* of secure */
	bool plain_loopback;
	struct engine *leaving[LEAVING_MAX]; /* oldest first */
	size_t n_leaving;
	struct loop_source *sweep;
	struct listeners *listeners;
	struct lobby *lobby;
	struct gate *gate;
	struct users *users; /* of gate */
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

static void told(void *arg, void *who, enum gate_answer answer)
{
	(void)arg;
	engine_resume(who, answer);
}

static enum gate_answer admit(struct http_server *s, struct exchange *x,
			      const struct http_request *req)
{
	if (routes_is_public(req->path))
		return GATE_OPEN;
	if (x->word != GATE_ASK)
		return (enum gate_answer)x->word;
	return gate_ask(s->gate, req->authorization, x->guest->address, x, clock_now_ns());
}

static bool answer(void *arg, struct exchange *x, const struct http_request *req,
		   struct http_reply *reply)
{
	struct http_server *s = arg;

	switch (admit(s, x, req)) {
	case GATE_ASK:
		return false;
	case GATE_OPEN:
		routes_answer(&s->routes, req, reply);
		break;
	case GATE_DENIED:
		routes_refuse_user(reply);
		break;
	case GATE_BUSY:
		routes_refuse_for_now(reply);
		break;
	}
	guest_enter_phase(x->guest, GUEST_WRITING, clock_now_ns());
	x->guest->holds = reply->holds;
	bound_memory(s);
	return true;
}

/* --- connections --- */

/* Only here are engines freed: never while one of them is in the middle of a request, and not while
 * the gate is going to name one of its exchanges. */
static bool may_go(const struct http_server *s, size_t i)
{
	const struct engine *e = s->leaving[i];

	return engine_empty(e) || (s->n_leaving - i > LEAVING_KEPT && !engine_waits(e));
}

static void free_leaving(struct http_server *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_leaving; i++) {
		if (may_go(s, i))
			engine_free(s->leaving[i]);
		else
			s->leaving[kept++] = s->leaving[i];
	}
	s->n_leaving = kept;
}

static void sweep(void *arg, uint64_t now_ns)
{
	struct http_server *s = arg;
	struct guest *g;

	while ((g = guests_overdue(&s->guests, now_ns)))
		shut(g);
	free_leaving(s);
	s->sweeping = guests_any(&s->guests) || s->n_leaving > 0;
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

static bool is_loopback(const struct sockaddr *addr)
{
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)addr;

	if (addr->sa_family == AF_INET)
		return (ntohl(in->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
	if (addr->sa_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(in6) ||
	       (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
}

static struct engine *engine_for(struct http_server *s, const struct sockaddr *addr)
{
	if (!s->secure || (s->plain_loopback && is_loopback(addr)))
		return s->plain;
	return s->secure;
}

static void wait_in_lobby(struct http_server *s, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct guest *g = enter(s, fd, addr);

	if (!g)
		close(fd);
	else if (lobby_add(s->lobby, g, fd, addr, len) < 0)
		leave(s, g);
}

static void client_comes(void *arg, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct http_server *s = arg;
	struct guest *in_the_way = guests_in_the_way(&s->guests, addr);
	struct engine *e = engine_for(s, addr);

	if (in_the_way)
		shut(in_the_way);
	if (e == s->plain)
		engine_add(e, fd, addr, len);
	else
		wait_in_lobby(s, fd, addr, len);
}

/* It comes in as a new guest: the library may not want it. */
static void admit_tls(void *arg, struct guest *g, int fd, const struct sockaddr *addr,
		      socklen_t len)
{
	struct http_server *s = arg;
	struct engine *e = engine_for(s, addr);

	leave(s, g);
	engine_add(e, fd, addr, len);
	engine_run(e);
}

static const struct lobby_events lobby_events = {admit_tls, leave};

static void batch_ends(void *arg, bool fds_left)
{
	struct http_server *s = arg;
	struct guest *longest = fds_left ? NULL : guests_longest(&s->guests);

	if (longest)
		shut(longest);
	engine_run(s->plain);
	if (s->secure)
		engine_run(s->secure);
}

/* --- protection --- */

static void retire(struct http_server *s, struct engine *e)
{
	if (!e)
		return;
	engine_retire(e);
	s->leaving[s->n_leaving++] = e;
}

/* A certificate belongs to an engine for good: for another one there is another engine, and what
 * the old one has begun goes on undisturbed. */
static int renew_engines(struct http_server *s, struct tls *tls)
{
	struct engine *plain, *secure = NULL;

	if (s->n_leaving + 2 > LEAVING_MAX)
		return -EBUSY;
	plain = engine_new(s->loop, NULL, &engine_events, s);
	if (!plain)
		return -errno;
	if (tls)
		secure = engine_new(s->loop, tls, &engine_events, s);
	if (tls && !secure) {
		int r = -errno;

		engine_free(plain);
		return r;
	}
	retire(s, s->plain);
	retire(s, s->secure);
	s->plain = plain;
	s->secure = secure;
	return 0;
}

int http_server_protect(struct http_server *s, const struct http_protection *p)
{
	int r = gate_set_users(s->gate, p->users);

	if (r < 0)
		return r;
	if (!tls_equal(s->tls, p->tls) || s->plain_loopback != p->plain_loopback)
		r = renew_engines(s, p->tls);
	if (r < 0) {
		gate_set_users(s->gate, s->users);
		return r;
	}
	users_unref(s->users);
	s->users = users_ref(p->users);
	tls_unref(s->tls);
	s->tls = tls_ref(p->tls);
	s->plain_loopback = p->plain_loopback;
	start_sweeping(s, clock_now_ns());
	return 0;
}

/* --- life --- */

static int start(struct http_server *s)
{
	s->editions = editions_new(&s->source);
	s->routes = (struct routes){&s->source, s->editions};
	s->sweep = loop_add_timer(s->loop, sweep, s);
	s->lobby = lobby_new(s->loop, &lobby_events, s);
	s->listeners = listeners_new(s->loop, client_comes, batch_ends, s);
	s->gate = gate_new(s->loop, told, s);
	s->plain = engine_new(s->loop, NULL, &engine_events, s);
	return s->editions && s->sweep && s->lobby && s->listeners && s->gate && s->plain ? 0
											  : -ENOMEM;
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
	lobby_free(s->lobby);
	engine_free(s->plain);
	engine_free(s->secure);
	for (size_t i = 0; i < s->n_leaving; i++)
		engine_free(s->leaving[i]);
	tls_unref(s->tls);
	gate_free(s->gate);
	users_unref(s->users);
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
