#include "core/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <systemd/sd-event.h>

#include "core/clock.h"

/* sd-event's default of 250 ms would make every probe late. */
#define TIMER_ACCURACY_USEC 1000

struct loop {
	sd_event *event;
};

struct loop_source {
	sd_event_source *source;
	void *arg;
	union {
		loop_io_fn io;
		loop_timer_fn timer;
		loop_signal_fn signal;
		loop_child_fn child;
	} fn;
};

/* In each dispatcher the callback comes last and its source is not touched after it: the
 * callback may have freed it. Zero is returned always, else sd-event would drop the source. */
static int dispatch_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct loop_source *s = userdata;

	(void)source;
	s->fn.io(s->arg, fd, events);
	return 0;
}

static int dispatch_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct loop_source *s = userdata;

	(void)source;
	(void)usec;
	s->fn.timer(s->arg, clock_now_ns());
	return 0;
}

static int dispatch_signal(sd_event_source *source, const struct signalfd_siginfo *si,
			   void *userdata)
{
	struct loop_source *s = userdata;

	(void)source;
	s->fn.signal(s->arg, (int)si->ssi_signo);
	return 0;
}

static int dispatch_child(sd_event_source *source, const siginfo_t *si, void *userdata)
{
	struct loop_source *s = userdata;

	(void)source;
	s->fn.child(s->arg, si->si_pid, si);
	return 0;
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int r;

	if (!loop)
		return NULL;
	r = sd_event_new(&loop->event);
	if (r < 0) {
		free(loop);
		errno = -r;
		return NULL;
	}
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	sd_event_unref(loop->event);
	free(loop);
}

int loop_run(struct loop *loop)
{
	return sd_event_loop(loop->event);
}

void loop_exit(struct loop *loop, int code)
{
	sd_event_exit(loop->event, code);
}

struct sd_event *loop_sd_event(struct loop *loop)
{
	return loop->event;
}

static struct loop_source *source_new(void *arg)
{
	struct loop_source *s = calloc(1, sizeof(*s));

	if (s)
		s->arg = arg;
	return s;
}

/* Result of an add function: r is sd-event's. */
static struct loop_source *source_added(struct loop_source *s, int r)
{
	if (r >= 0)
		return s;
	loop_source_free(s);
	errno = -r;
	return NULL;
}

struct loop_source *loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn fn,
				void *arg)
{
	struct loop_source *s = source_new(arg);

	if (!s)
		return NULL;
	s->fn.io = fn;
	return source_added(s,
			    sd_event_add_io(loop->event, &s->source, fd, events, dispatch_io, s));
}

int loop_io_set_events(struct loop_source *s, uint32_t events)
{
	int r = sd_event_source_set_io_events(s->source, events);

	return r < 0 ? r : 0;
}

struct loop_source *loop_add_timer(struct loop *loop, loop_timer_fn fn, void *arg)
{
	struct loop_source *s = source_new(arg);
	int r;

	if (!s)
		return NULL;
	s->fn.timer = fn;
	r = sd_event_add_time(loop->event, &s->source, CLOCK_MONOTONIC, UINT64_MAX,
			      TIMER_ACCURACY_USEC, dispatch_timer, s);
	if (r >= 0)
		r = sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
	return source_added(s, r);
}

int loop_timer_arm(struct loop_source *s, uint64_t at_ns)
{
	/* Rounded up, so that it never fires before its time. */
	uint64_t usec = at_ns / NSEC_PER_USEC + (at_ns % NSEC_PER_USEC != 0);
	int r = sd_event_source_set_time(s->source, usec);

	if (r >= 0)
		r = sd_event_source_set_enabled(s->source, SD_EVENT_ONESHOT);
	return r < 0 ? r : 0;
}

void loop_timer_disarm(struct loop_source *s)
{
	sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
}

static int block_signal(int signo)
{
	sigset_t set;

	if (sigemptyset(&set) < 0 || sigaddset(&set, signo) < 0)
		return -errno;
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

struct loop_source *loop_add_signal(struct loop *loop, int signo, loop_signal_fn fn, void *arg)
{
	struct loop_source *s = source_new(arg);
	int r;

	if (!s)
		return NULL;
	s->fn.signal = fn;
	r = block_signal(signo);
	if (r == 0)
		r = sd_event_add_signal(loop->event, &s->source, signo, dispatch_signal, s);
	return source_added(s, r);
}

struct loop_source *loop_add_child(struct loop *loop, pid_t pid, loop_child_fn fn, void *arg)
{
	struct loop_source *s = source_new(arg);
	int r;

	if (!s)
		return NULL;
	s->fn.child = fn;
	/* sd-event insists on it even where it uses a pidfd. */
	r = block_signal(SIGCHLD);
	if (r == 0)
		r = sd_event_add_child(loop->event, &s->source, pid, WEXITED, dispatch_child, s);
	return source_added(s, r);
}

void loop_source_free(struct loop_source *s)
{
	if (!s)
		return;
	sd_event_source_disable_unref(s->source);
	free(s);
}
