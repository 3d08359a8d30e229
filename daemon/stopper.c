#include "daemon/stopper.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/daemon.h"

_Static_assert(STOPPER_GRACE_NS >= DEVICE_STOP_GRACE_NS, "no worker is killed before its time");

struct stopper {
	struct daemon *daemon;
	struct loop_source *timer;
	bool killed;
};

static void leave(struct daemon *d)
{
	size_t left = supervisor_running(d->supervisor);

	if (left > 0)
		log_warn("%zu worker%s held in the kernel; leaving without waiting", left,
			 left == 1 ? " is" : "s are");
	loop_exit(d->loop, 0);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	struct stopper *s = arg;

	if (s->killed) {
		leave(s->daemon);
		return;
	}
	s->killed = true;
	log_warn("%zu workers did not end in time and are killed",
		 supervisor_running(s->daemon->supervisor));
	supervisor_kill(s->daemon->supervisor);
	loop_timer_arm(s->timer, now_ns + STOPPER_REAP_NS);
}

void stopper_begin(struct daemon *d, const char *why)
{
	uint64_t now_ns = clock_now_ns();

	if (d->stopper) {
		loop_timer_arm(d->stopper->timer, 0);
		return;
	}
	log_info("stopping: %s", why);
	journal_add(d->journal, clock_wall_ns(), "daemon", NULL, NULL, NULL, "stopping: %s", why);
	notify_stopping(d->notify);
	d->stopper = calloc(1, sizeof(*d->stopper));
	if (d->stopper)
		d->stopper->timer = loop_add_timer(d->loop, on_timer, d->stopper);
	if (!d->stopper || !d->stopper->timer) {
		supervisor_kill(d->supervisor);
		loop_exit(d->loop, 0);
		return;
	}
	d->stopper->daemon = d;
	loop_timer_arm(d->stopper->timer, now_ns + STOPPER_GRACE_NS);
	supervisor_stop(d->supervisor, now_ns);
	stopper_check(d);
}

void stopper_check(struct daemon *d)
{
	if (d->stopper && supervisor_running(d->supervisor) == 0)
		leave(d);
}

void stopper_free(struct stopper *s)
{
	if (!s)
		return;
	loop_source_free(s->timer);
	free(s);
}
