#include "process_loop.h"

#include <stdlib.h>

#include "simulation.h"

struct loop_source {
	struct loop_source *next;
	struct loop *loop;
	loop_timer_fn fn; /* NULL: nothing that ever happens here */
	void *arg;
	uint64_t at_ns; /* UINT64_MAX: disarmed */
};

struct loop {
	struct host *host;
	struct loop_source *sources;
	bool exited;
};

struct loop *loop_of(struct host *h)
{
	struct loop *l = calloc(1, sizeof(*l));

	l->host = h;
	return l;
}

struct host *loop_host(const struct loop *loop)
{
	return loop->host;
}

bool loop_exited(const struct loop *loop)
{
	return loop->exited;
}

uint64_t loop_when(const struct loop *loop)
{
	uint64_t at = UINT64_MAX;

	for (const struct loop_source *s = loop->sources; s; s = s->next)
		if (s->at_ns < at)
			at = s->at_ns;
	return at;
}

void loop_step(struct loop *loop)
{
	uint64_t now = simulation_now_ns();
	struct loop_source *next;

	for (struct loop_source *s = loop->sources; s; s = next) {
		next = s->next;
		if (s->at_ns > now)
			continue;
		s->at_ns = UINT64_MAX;
		s->fn(s->arg, now);
		return; /* the list may be another now; the rest is due still */
	}
}

void loop_free(struct loop *loop)
{
	free(loop);
}

int loop_run(struct loop *loop)
{
	(void)loop;
	return 0;
}

void loop_exit(struct loop *loop, int code)
{
	(void)code;
	loop->exited = true;
}

struct sd_event *loop_sd_event(struct loop *loop)
{
	(void)loop;
	return NULL;
}

static struct loop_source *add(struct loop *loop, loop_timer_fn fn, void *arg)
{
	struct loop_source *s = calloc(1, sizeof(*s));

	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->at_ns = UINT64_MAX;
	s->next = loop->sources;
	loop->sources = s;
	return s;
}

struct loop_source *loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				void *arg)
{
	(void)fd;
	(void)events;
	(void)fn;
	return add(loop, NULL, arg);
}

int loop_io_set_events(struct loop_source *s, uint32_t events)
{
	(void)s;
	(void)events;
	return 0;
}

struct loop_source *loop_add_timer(struct loop *loop, loop_timer_fn fn, void *arg)
{
	return add(loop, fn, arg);
}

int loop_timer_arm(struct loop_source *s, uint64_t at_ns)
{
	s->at_ns = at_ns;
	return 0;
}

void loop_timer_disarm(struct loop_source *s)
{
	s->at_ns = UINT64_MAX;
}

struct loop_source *loop_add_signal(struct loop *loop, int signo, loop_signal_fn fn, void *arg)
{
	(void)signo;
	(void)fn;
	return add(loop, NULL, arg);
}

struct loop_source *loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn, void *arg)
{
	(void)pid;
	(void)fn;
	return add(loop, NULL, arg);
}

void loop_source_free(struct loop_source *s)
{
	struct loop_source **at;

	if (!s)
		return;
	for (at = &s->loop->sources; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	free(s);
}
