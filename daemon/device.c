#include "daemon/device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/names.h"
#include "probes/worker.h"

#define TROUBLE_OVER_NS (5 * NSEC_PER_SEC)

static const struct worker_events worker_events;

__attribute__((format(printf, 4, 5))) static void enter_state_since(struct device *d,
								    enum worker_state state,
								    uint64_t since_ns,
								    const char *fmt, ...)
{
	uint64_t now_ns = clock_now_ns();
	char text[FACT_TEXT];
	va_list ap;

	if (d->state == state)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d->state = state;
	d->since_ns = since_ns;
	d->since_wall_ns = clock_wall_ns() - (now_ns > since_ns ? now_ns - since_ns : 0);
	d->ctx->events->state(d->ctx->arg, d, text);
}

#define enter_state(d, state, ...) enter_state_since(d, state, clock_now_ns(), __VA_ARGS__)

struct device *device_new(const struct device_context *ctx, const char *name)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->ctx = ctx;
	name_copy(d->name, sizeof(d->name), name);
	d->state = WORKER_EXITED;
	d->since_ns = clock_now_ns();
	d->since_wall_ns = clock_wall_ns();
	return d;
}

void device_free(struct device *d)
{
	if (!d)
		return;
	proc_usage_close(&d->usage);
	worker_proc_free(d->proc);
	device_rules_free(d->rules);
	device_round_free(&d->round);
	free(d);
}

static uint64_t random_bits(void)
{
	uint64_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) < 0)
		bits = clock_now_ns();
	return bits;
}

static void schedule_restart(struct device *d, uint64_t now_ns, const char *why)
{
	uint64_t delay = backoff_next(&d->backoff, random_bits());

	d->start_at_ns = now_ns + delay;
	enter_state(d, WORKER_BACKOFF, "%s; starting again in %.1f s", why,
		    (double)delay / (double)NSEC_PER_SEC);
}

static void start_worker(struct device *d, uint64_t now_ns)
{
	struct worker_start how = {
		.path = d->ctx->worker_path,
		.device = d->name,
		.layout = d->ctx->layout,
	};
	char why[FACT_TEXT];

	if (d->generation > 0)
		d->restarts++;
	d->generation++;
	d->stopping = d->renewing = d->killed = d->ready = false;
	d->counters_stuck_wall_ns = d->cm_stalled_wall_ns = 0;
	memset(&d->beat, 0, sizeof(d->beat));
	d->trouble[0] = '\0';
	d->rail_ns = 0;
	d->started_ns = now_ns;
	d->proc = worker_proc_start(d->ctx->loop, &how, &worker_events, d);
	if (!d->proc) {
		snprintf(why, sizeof(why), "cannot start the worker: %s", strerror(errno));
		schedule_restart(d, now_ns, why);
		return;
	}
	/* Without it the worker's use is not told, and it works all the same. */
	proc_usage_open(&d->usage, worker_proc_pid(d->proc));
	enter_state(d, WORKER_STARTING, "worker started, pid %d", (int)worker_proc_pid(d->proc));
	d->ctx->events->started(d->ctx->arg, d);
}

/* Goodbye: drain and exit. Who does not in time is killed by device_tick(). */
static void send_off(struct device *d, uint64_t now_ns)
{
	struct wish stop = {.type = WISH_STOP};

	if (!d->proc || d->stopping)
		return;
	d->stopping = true;
	d->stop_by_ns = now_ns + DEVICE_STOP_GRACE_NS;
	worker_proc_send(d->proc, &stop);
}

static bool usable(const struct device *d)
{
	return d->present && !d->excluded && !d->released;
}

static const char *idle_reason(const struct device *d)
{
	if (d->released)
		return "no worker ran";
	return d->present ? "excluded by the configuration" : "device is gone";
}

/* No process, and none is wanted. */
static void rest(struct device *d, const char *why)
{
	enter_state(d, d->released ? WORKER_RELEASED : WORKER_EXITED, "%s%s",
		    d->released ? "released: " : "", why);
}

void device_set_present(struct device *d, bool present, uint64_t now_ns)
{
	if (!present && d->present)
		d->absent_since_ns = now_ns;
	d->present = present;
	if (!usable(d)) {
		if (d->proc)
			send_off(d, now_ns);
		else
			rest(d, idle_reason(d));
		return;
	}
	/* A device that came back need not wait for the back-off of its former life; one that
	 * never left does. */
	if (!d->proc && d->state != WORKER_BACKOFF)
		start_worker(d, now_ns);
}

void device_release(struct device *d, uint64_t now_ns)
{
	d->released = true;
	device_set_present(d, d->present, now_ns);
}

void device_acquire(struct device *d, uint64_t now_ns)
{
	d->released = false;
	d->backoff = (struct backoff){0};
	if (d->proc) {
		d->renewing |= d->stopping && usable(d);
		return;
	}
	if (usable(d))
		start_worker(d, now_ns);
	else
		rest(d, idle_reason(d));
}

void device_set_excluded(struct device *d, bool excluded, uint64_t now_ns)
{
	d->excluded = excluded;
	device_set_present(d, d->present, now_ns);
}

void device_leaving(struct device *d, uint64_t now_ns)
{
	send_off(d, now_ns);
}

void device_renew(struct device *d, uint64_t now_ns)
{
	if (d->proc && !d->stopping)
		d->renewing = true;
	send_off(d, now_ns);
}

void device_stop(struct device *d, uint64_t now_ns)
{
	d->present = false;
	if (d->proc)
		send_off(d, now_ns);
	else
		rest(d, "stopping");
}

bool device_running(const struct device *d)
{
	return d->proc != NULL;
}

uint64_t device_cpu_ns(const struct device *d)
{
	return d->cpu_folded_ns + d->cpu_live_ns;
}

const char *device_trouble(const struct device *d)
{
	return d->ready || d->trouble[0] != '\0' ? d->trouble : d->last_trouble;
}

/* Each worker says it anew; people hear of changes. */
static void tell_trouble(struct device *d, const char *text)
{
	struct fact fact = {.type = FACT_DEVICE};

	if (strcmp(d->last_trouble, text) == 0)
		return;
	name_copy(d->last_trouble, sizeof(d->last_trouble), text);
	name_copy(fact.text, sizeof(fact.text), text);
	d->ctx->events->fact(d->ctx->arg, d, &fact);
}

static void on_fact(void *arg, const struct fact *f)
{
	struct device *d = arg;

	if (f->type == FACT_READY && !d->ready) {
		d->ready = true;
		enter_state(d, WORKER_UP, "worker is up");
	} else if (f->type == FACT_DEVICE) {
		name_copy(d->trouble, sizeof(d->trouble), f->text);
		tell_trouble(d, f->text);
		return;
	}
	d->ctx->events->fact(d->ctx->arg, d, f);
}

static void describe_end(const struct device *d, const siginfo_t *info, char *buf, size_t len)
{
	if (info->si_code != CLD_EXITED)
		snprintf(buf, len, "worker was killed by signal %d (%s)%s", info->si_status,
			 strsignal(info->si_status), d->killed ? ", by us" : "");
	else if (info->si_status == 0)
		snprintf(buf, len, "worker ended%s", d->stopping ? " as told" : "");
	else if (info->si_status == WORKER_EXIT_DEVICE)
		snprintf(buf, len, "worker let go of the device: it is gone or failed");
	else if (info->si_status == WORKER_EXIT_RETRY)
		snprintf(buf, len, "worker cannot use the RDMA stack%s%s",
			 d->trouble[0] ? ": "
				       : " (is /dev/infiniband/rdma_cm there and permitted?)",
			 d->trouble);
	else
		snprintf(buf, len, "worker failed with exit code %d", info->si_status);
}

static void fold_use(struct device *d)
{
	d->cpu_folded_ns += d->cpu_live_ns;
	d->cpu_live_ns = 0;
	d->has_rss = false;
	proc_usage_close(&d->usage);
}

/* Reaped, and only now may a successor be thought of: it would fight for port and device. */
static void on_ended(void *arg, const siginfo_t *info)
{
	struct device *d = arg;
	uint64_t now_ns = clock_now_ns();
	char why[FACT_TEXT];

	describe_end(d, info, why, sizeof(why));
	d->ctx->events->ended(d->ctx->arg, d);
	worker_proc_free(d->proc);
	d->proc = NULL;
	d->ready = false;
	device_round_forget(&d->round);
	fold_use(d);
	backoff_lived(&d->backoff, now_ns - d->started_ns);
	if (usable(d) && d->renewing)
		start_worker(d, now_ns);
	else if (usable(d))
		schedule_restart(d, now_ns, why);
	else
		rest(d, why);
}

static const struct worker_events worker_events = {
	.fact = on_fact,
	.ended = on_ended,
};

void device_read_use(struct device *d)
{
	uint64_t cpu_ns, rss;

	if (proc_usage_read(&d->usage, &cpu_ns, &rss) < 0)
		return;
	if (cpu_ns > d->cpu_live_ns)
		d->cpu_live_ns = cpu_ns;
	d->rss_bytes = rss;
	d->has_rss = true;
}

static void judge_counters(struct device *d, uint64_t now_ns, uint64_t since_ns)
{
	const char *text = since_ns ? "its counters cannot be read: sysfs does not answer"
				    : "its counters are read again";

	if ((since_ns != 0) == (d->counters_stuck_wall_ns != 0))
		return;
	d->counters_stuck_wall_ns = since_ns ? clock_wall_ns() - (now_ns - since_ns) : 0;
	d->ctx->events->state(d->ctx->arg, d, text);
}

static void judge_heartbeats(struct device *d, uint64_t now_ns)
{
	struct heartbeat_input in = {
		.now_ns = now_ns,
		.started_ns = d->started_ns,
		.ready = d->ready,
		.counters_only = d->ctx->counters_only,
		.counters_interval_ns = d->ctx->counters_interval_ns,
	};
	uint64_t since;

	in.beat = d->beat;
	judge_counters(d, now_ns, heartbeat_counters_stuck_since(&in));
	since = heartbeat_stuck_since(&in);
	if (since == 0) {
		if (d->state == WORKER_STUCK)
			enter_state(d, d->ready ? WORKER_UP : WORKER_STARTING, "worker runs again");
		return;
	}
	enter_state_since(d, WORKER_STUCK, since, "worker is stuck: no sign of life for %.1f s",
			  (double)(now_ns - since) / (double)NSEC_PER_SEC);
	if (now_ns - since > HEARTBEAT_KILL_NS && !d->killed) {
		d->killed = true;
		worker_proc_kill(d->proc, SIGKILL);
	}
}

void device_read_beat(struct device *d)
{
	const struct table *table = worker_proc_table(d->proc);

	for (unsigned loop = 0; loop < WORKER_LOOPS; loop++)
		table_get_beat(table, loop, &d->beat.mono_ns[loop], &d->beat.wall_ns[loop]);
}

bool device_counters_fresh(const struct device *d, uint64_t now_ns)
{
	return d->proc && device_round_fresh(&d->round, now_ns, d->ctx->counters_interval_ns);
}

static void tick_running(struct device *d, uint64_t now_ns, bool paused)
{
	device_read_beat(d);
	if (d->stopping && now_ns >= d->stop_by_ns && !d->killed) {
		d->killed = true;
		worker_proc_kill(d->proc, SIGKILL);
	}
	if (!paused)
		judge_heartbeats(d, now_ns);
	/* What a worker before had is over when this one does not find it. */
	if (d->ready && d->trouble[0] == '\0' && now_ns - d->started_ns > TROUBLE_OVER_NS)
		tell_trouble(d, "");
}

void device_tick(struct device *d, uint64_t now_ns, bool paused)
{
	if (d->proc)
		tick_running(d, now_ns, paused);
	else if (d->state == WORKER_BACKOFF && now_ns >= d->start_at_ns)
		start_worker(d, now_ns);
}
