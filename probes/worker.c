#include "probes/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "probes/control.h"
#include "probes/counter_loop.h"
#include "probes/rail.h"
#include "probes/spsc.h"
#include "probes/table.h"
#include "probes/wish.h"

#define FIRST_WISH_MS 10000
#define RAIL_JOIN_MS 500
/* Where there is neither rail nor control, main judges the counter loop alone. */
#define COUNTING_BEAT_MS 5000
#define QUEUE_LENGTH 8192 /* more than all connections can have outstanding */

struct worker {
	int socket_fd;
	struct table *table;
	struct worker_config cfg;
	struct counter_loop *counters;
	struct spsc *commands, *notes;
	struct rail *rail;
	pthread_t rail_thread;
};

static uint64_t random64(void)
{
	uint64_t v = 0;

	while (getrandom(&v, sizeof(v), 0) < 0 && errno == EINTR)
		;
	return v;
}

/* Signals are main's business: it says WISH_STOP, and kills when that is not heard. Those of a
 * fault end the process also when another one sent them. */
static void settle_process(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* So that destroying objects of a disassociated device succeeds (libibverbs/init.c). */
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
}

static int first_wish(struct worker *w)
{
	struct pollfd p = {.fd = w->socket_fd, .events = POLLIN};
	struct wish wish;
	int r;

	if (poll(&p, 1, FIRST_WISH_MS) <= 0)
		return -ETIMEDOUT;
	r = wish_recv(w->socket_fd, &wish);
	if (r < 1)
		return r < 0 ? r : -EAGAIN;
	if (wish.type != WISH_CONFIG)
		return -EPROTO;
	w->cfg = wish.config;
	return 0;
}

static void *rail_thread(void *arg)
{
	prctl(PR_SET_NAME, "rail"); /* the first thread carries the device's name */
	rail_run(arg);
	return NULL;
}

static int start_rail(struct worker *w)
{
	struct rail_params p = {
		.table = w->table,
		.max_conns = w->cfg.qps_per_device + 64,
		.max_sessions = table_get_layout(w->table)->sessions,
		.max_receives = control_max_receives(&w->cfg),
		.now_ns = clock_now_ns,
		.wall_ns = clock_wall_ns,
	};

	w->commands = spsc_new(sizeof(struct rail_cmd), QUEUE_LENGTH);
	w->notes = spsc_new(sizeof(struct rail_note), QUEUE_LENGTH);
	if (!w->commands || !w->notes)
		return -ENOMEM;
	p.commands = w->commands;
	p.notes = w->notes;
	w->rail = rail_new(&p);
	if (!w->rail)
		return -ENOMEM;
	return -pthread_create(&w->rail_thread, NULL, rail_thread, w->rail);
}

/* Of another root than /sys, a netdev's name would mean one of this host. */
static uint32_t netdev_stats(const struct worker_config *cfg)
{
	return cfg->counters_only ? 0 : cfg->netdev_stats;
}

static void set_counters(void *arg, const struct worker_config *cfg)
{
	if (arg)
		counter_loop_set(arg, cfg->counters_interval_ns, netdev_stats(cfg));
}

static void poke_counters(void *arg)
{
	if (arg)
		counter_loop_poke(arg);
}

static int run_control(struct worker *w)
{
	struct control_params p = {
		.socket_fd = w->socket_fd,
		.table = w->table,
		.commands = w->commands,
		.notes = w->notes,
		.now_ns = clock_now_ns,
		.wall_ns = clock_wall_ns,
		.random = random64,
		.poke_counters = poke_counters,
		.set_counters = set_counters,
		.counters_arg = w->counters,
	};
	struct control *c = control_new(&p, &w->cfg);
	struct rail_cmd stop = {.type = RAIL_STOP};
	int code;

	if (!c)
		return WORKER_EXIT_SETUP;
	code = control_run(c);
	spsc_push(w->commands, &stop);
	/* What is left is the kernel's to free: librdmacm would keep its context open anyway. */
	return code;
}

/* --sysfs-root: nothing but the counter thread; wait for the end. */
static int run_counters_only(struct worker *w)
{
	struct fact ready = {.type = FACT_READY};
	struct wish wish;

	fact_send(w->socket_fd, &ready);
	for (;;) {
		struct pollfd p = {.fd = w->socket_fd, .events = POLLIN};
		int r;

		table_beat(w->table, WORKER_CONTROL, clock_now_ns(), clock_wall_ns());
		table_beat(w->table, WORKER_RAIL, clock_now_ns(), clock_wall_ns());
		poll(&p, 1, COUNTING_BEAT_MS);
		r = wish_recv(w->socket_fd, &wish);
		if (r < 0)
			return 0;
		if (r == 1 && wish.type == WISH_STOP)
			break;
		if (r == 1 && wish.type == WISH_CONFIG)
			set_counters(w->counters, &wish.config);
	}
	fact_send(w->socket_fd, &(struct fact){.type = FACT_BYE});
	return 0;
}

int worker_main(int socket_fd, int table_fd)
{
	struct worker w = {.socket_fd = socket_fd};
	int r, code = WORKER_EXIT_SETUP;

	settle_process();
	w.table = table_map(table_fd);
	if (!w.table) {
		log_error("worker: the table cannot be mapped: %s", strerror(errno));
		return WORKER_EXIT_SETUP;
	}
	close(table_fd);
	r = first_wish(&w);
	if (r < 0) {
		log_error("worker: no configuration from main: %s", strerror(-r));
		return WORKER_EXIT_SETUP;
	}
	prctl(PR_SET_NAME, w.cfg.device);
	w.counters = counter_loop_start(w.table, w.cfg.sysfs_root, w.cfg.device,
					w.cfg.counters_interval_ns, netdev_stats(&w.cfg));
	if (w.cfg.counters_only)
		code = run_counters_only(&w);
	else if (start_rail(&w) == 0)
		code = run_control(&w);
	/* Not exit(): a thread may sit in the kernel, and atexit handlers would wait for it. */
	_exit(code);
}
