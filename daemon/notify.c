#include "daemon/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-daemon.h>

#include "core/clock.h"
#include "core/names.h"

#define STATUS_MAX 256
#define WATCHDOG_PERIOD_MIN_NS (10 * NSEC_PER_MSEC)

struct notify {
	struct loop_source *timer; /* NULL: no watchdog, or not ours */
	uint64_t period_ns;
	uint64_t progress_ns, fed_ns;
	char status[STATUS_MAX];
};

uint64_t notify_watchdog_period_ns(uint64_t usec)
{
	/* A third leaves room for one late turn of the loop. */
	uint64_t period = usec * NSEC_PER_USEC / 3;

	if (usec == 0 || usec > UINT64_MAX / NSEC_PER_USEC)
		return 0;
	return period < WATCHDOG_PERIOD_MIN_NS ? WATCHDOG_PERIOD_MIN_NS : period;
}

static void feed(struct notify *n, uint64_t now_ns)
{
	n->fed_ns = now_ns;
	sd_notify(0, "WATCHDOG=1");
}

/* This timer proves that the loop turns; the tick's age proves that it does its work. */
static void on_watchdog(void *arg, uint64_t now_ns)
{
	struct notify *n = arg;

	if (now_ns - n->progress_ns <= NOTIFY_STALL_NS)
		feed(n, now_ns);
	loop_timer_arm(n->timer, now_ns + n->period_ns);
}

static int start_watchdog(struct notify *n, struct loop *loop)
{
	uint64_t usec = 0;

	/* Zero when it is unset or meant for another process. */
	if (sd_watchdog_enabled(0, &usec) <= 0)
		return 0;
	n->period_ns = notify_watchdog_period_ns(usec);
	if (n->period_ns == 0)
		return 0;
	n->timer = loop_add_timer(loop, on_watchdog, n);
	if (!n->timer)
		return -errno;
	return loop_timer_arm(n->timer, n->progress_ns + n->period_ns);
}

struct notify *notify_new(struct loop *loop)
{
	struct notify *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return NULL;
	n->progress_ns = n->fed_ns = clock_now_ns();
	r = start_watchdog(n, loop);
	if (r == 0)
		return n;
	notify_free(n);
	errno = -r;
	return NULL;
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	loop_source_free(n->timer);
	free(n);
}

void notify_ready(struct notify *n)
{
	(void)n;
	sd_notify(0, "READY=1");
}

void notify_reloading(struct notify *n, uint64_t now_ns)
{
	(void)n;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)(now_ns / NSEC_PER_USEC));
}

void notify_stopping(struct notify *n)
{
	/* A watchdog that is fed while stopping would only hide a stop that hangs. */
	loop_source_free(n->timer);
	n->timer = NULL;
	sd_notify(0, "STOPPING=1");
}

void notify_status(struct notify *n, const char *text)
{
	char cut[STATUS_MAX];

	name_copy(cut, sizeof(cut), text);
	if (strcmp(cut, n->status) == 0)
		return;
	memcpy(n->status, cut, sizeof(cut));
	sd_notifyf(0, "STATUS=%s", n->status);
}

void notify_progress(struct notify *n, uint64_t now_ns)
{
	n->progress_ns = now_ns;
	/* After a pause of the whole host the timer comes before the tick and finds no progress:
	 * food a whole period later would be too late. */
	if (n->timer && now_ns - n->fed_ns > n->period_ns)
		feed(n, now_ns);
}
