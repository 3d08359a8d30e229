#include "daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/check.h"
#include "daemon/commander.h"
#include "daemon/file_reader.h"
#include "daemon/inbox.h"
#include "daemon/journal_keeper.h"
#include "daemon/kernel_log.h"
#include "daemon/listeners.h"
#include "daemon/looker.h"
#include "daemon/namer.h"
#include "daemon/peer_reload.h"
#include "daemon/planner.h"
#include "daemon/protection.h"
#include "daemon/reload.h"
#include "daemon/stopper.h"
#include "daemon/tick.h"
#include "exporters/http.h"
#include "health/snapshot.h"

struct sessions_context daemon_sessions_context(const struct daemon *d)
{
	return (struct sessions_context){
		.supervisor = d->supervisor,
		.rails = d->rails,
		.config = &d->config,
		.settled = d->rails_known,
		.now_ns = clock_now_ns(),
		.wall_ns = clock_wall_ns(),
	};
}

/* --- the tick --- */

static void on_tick(void *arg, uint64_t now_ns)
{
	struct daemon *d = arg;
	bool paused;

	paused = tick_devices(d, now_ns);
	loop_timer_arm(d->tick, d->tick_at_ns);
	journal_keeper_tick(d->journal_keeper, now_ns);
	namer_tick(d->namer, now_ns, paused);
	commander_check(d->commander, now_ns);
	looker_tick(d->looker, clock_now_ns());
	notify_progress(d->notify, now_ns);
}

/* --- scan --- */

static void on_found(void *arg, const struct scan_result *found)
{
	struct daemon *d = arg;

	supervisor_found(d->supervisor, found, clock_now_ns());
	if (found->beyond > d->beyond)
		log_warn("%zu RDMA devices are more than the %d that are followed",
			 found->n + found->beyond, SCAN_MAX);
	d->beyond = found->beyond;
	if (found->n == 0 && !d->no_device_told)
		log_warn("no RDMA device on this host (%s/class/infiniband: %s); serving, and "
			 "waiting for one to come",
			 d->options->sysfs_root,
			 found->readable ? "empty" : strerror(found->error));
	d->no_device_told = found->n == 0;
	/* A route may have come that was missing. */
	if (d->unmatched > 0)
		planner_run(d);
	d->scanned = true;
}

static void on_leaving(void *arg, const char *device)
{
	struct daemon *d = arg;

	log_info("%s: the kernel removes it; its worker lets go", device);
	supervisor_leaving(d->supervisor, device, clock_now_ns());
}

static const struct scan_events scan_events = {
	.found = on_found,
	.leaving = on_leaving,
};

/* --- signals --- */

static void on_terminate(void *arg, int signo)
{
	stopper_begin(arg, signo == SIGTERM ? "SIGTERM" : "SIGINT");
}

static void on_hangup(void *arg, int signo)
{
	struct daemon *d = arg;
	char err[CONF_MAX_ERROR + 512];

	(void)signo;
	if (!d->stopper)
		reload(d, NULL, err, sizeof(err));
}

/* --- what HTTP asks for --- */

static struct snapshot *http_snapshot(void *arg)
{
	struct daemon *d = arg;

	return looker_snapshot(d->looker);
}

static const struct journal *http_journal(void *arg)
{
	const struct daemon *d = arg;

	return d->journal;
}

static uint64_t http_past_first(void *arg)
{
	const struct daemon *d = arg;

	return journal_keeper_first(d->journal_keeper);
}

static uint64_t http_past_read(void *arg, uint64_t after, journal_read_fn done, void *list)
{
	struct daemon *d = arg;

	return journal_keeper_read(d->journal_keeper, after, done, list);
}

static void http_past_cancel(void *arg, uint64_t id)
{
	struct daemon *d = arg;

	journal_keeper_cancel(d->journal_keeper, id);
}

static bool http_ready(void *arg)
{
	const struct daemon *d = arg;

	return d->scanned && d->serving;
}

static int http_reload(void *arg, char *err, size_t errlen)
{
	struct daemon *d = arg;

	if (!d->stopper)
		return reload(d, NULL, err, errlen);
	snprintf(err, errlen, "stopping");
	return -ESHUTDOWN;
}

/* --- start --- */

static int open_sources(struct daemon *d)
{
	signal(SIGPIPE, SIG_IGN);
	d->terminate = loop_add_signal(d->loop, SIGTERM, on_terminate, d);
	d->interrupt = loop_add_signal(d->loop, SIGINT, on_terminate, d);
	d->hangup = loop_add_signal(d->loop, SIGHUP, on_hangup, d);
	d->tick = loop_add_timer(d->loop, on_tick, d);
	return d->terminate && d->interrupt && d->hangup && d->tick ? 0 : -errno;
}

/* The rest follows from the configuration. */
static struct device_context device_context(struct daemon *d)
{
	return (struct device_context){
		.loop = d->loop,
		.events = &inbox_events,
		.arg = d,
		.worker_path = d->worker.path,
		.counters_only = d->options->sysfs_only,
	};
}

static int open_parts(struct daemon *d)
{
	struct device_context ctx = device_context(d);
	struct http_source source = {
		.snapshot = http_snapshot,
		.journal = http_journal,
		.ready = http_ready,
		.reload = http_reload,
		.allow_reload = d->config.allow_reload,
		.arg = d,
		.past_first = http_past_first,
		.past_read = http_past_read,
		.past_cancel = http_past_cancel,
	};

	d->journal_keeper = journal_keeper_new(d->loop, d->options->state, d->config.journal_size);
	d->journal = d->journal_keeper ? journal_keeper_journal(d->journal_keeper) : NULL;
	d->peers = peers_new();
	d->namer = namer_new(d);
	d->rails = rails_new();
	d->sessions = sessions_new();
	d->supervisor = supervisor_new(&ctx);
	if (!d->journal || !d->peers || !d->namer || !d->rails || !d->sessions || !d->supervisor)
		return -ENOMEM;
	d->notify = notify_new(d->loop);
	d->looker = d->notify ? looker_new(d) : NULL;
	d->scan = d->looker ? scan_new(d->loop, d->options->sysfs_root, &scan_events, d) : NULL;
	d->http = d->scan ? http_server_new(d->loop, &source) : NULL;
	d->protection = d->http ? protection_new(d) : NULL;
	return d->protection ? 0 : -errno;
}

static bool no_device_yet(void *arg, const char *device)
{
	(void)arg;
	(void)device;
	return false;
}

static void open_journal(struct daemon *d)
{
	char id[JOURNAL_ID];

	snprintf(id, sizeof(id), "%016" PRIx64, d->instance);
	journal_keeper_open(d->journal_keeper, id);
}

static int configure(struct daemon *d, struct http_protection *protection)
{
	int r;

	open_journal(d);
	r = protection_take(d->protection, protection);
	if (r < 0)
		return r;
	rails_configure(d->rails, &d->config, no_device_yet, NULL);
	supervisor_configure(d->supervisor, &d->config, clock_now_ns());
	return peer_reload_start(d);
}

/* Without it all else works. The directory is made by the service manager: who starts the daemon by
 * hand may not have it. */
static void open_control(struct daemon *d)
{
	d->commander = commander_new(d, d->options->control);
	if (!d->commander)
		log_msg(errno == ENOENT ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
			"no control socket at %s (%s): the commands reload, release and acquire "
			"will not reach this daemon",
			d->options->control,
			errno == EADDRINUSE ? "another daemon has it" : strerror(errno));
}

/* Nothing of ours depends on it. */
static void open_kernel_log(struct daemon *d)
{
	if (!d->config.kernel_log || d->options->sysfs_only)
		return;
	d->kernel_log = kernel_log_open(d->loop, KERNEL_LOG_PATH);
	if (!d->kernel_log)
		log_warn("the kernel log is not followed, although [counters] kernel_log says so: "
			 "%s: %s (docs/OPERATIONS.md has the drop-in that the service needs)",
			 KERNEL_LOG_PATH, strerror(errno));
}

/* READY=1 comes last: when it is sent, HTTP listens and the first look is there to be served. */
static int begin(struct daemon *d)
{
	const char *no_uevents = scan_uevents_error(d->scan);
	int r = listeners_open(d->http, &d->config);

	if (r < 0)
		return r;
	d->serving = true;
	if (no_uevents)
		log_warn("no uevents (%s): removed devices are noticed by looking every %d s",
			 no_uevents, (int)(SCAN_INTERVAL_NS / NSEC_PER_SEC));
	open_control(d);
	open_kernel_log(d);
	inbox_name_host(d);
	scan_now(d->scan);
	looker_look(d->looker);
	d->tick_at_ns = clock_now_ns() + TICK_NS;
	r = loop_timer_arm(d->tick, d->tick_at_ns);
	if (r < 0)
		return r;
	notify_ready(d->notify);
	log_info("rdma-pingmeshd " RPM_VERSION " serves as %s, %zu peer addresses listed", d->host,
		 peers_count(d->peers));
	return 0;
}

static void close_all(struct daemon *d)
{
	http_server_free(d->http);
	protection_free(d->protection);
	commander_free(d->commander);
	kernel_log_close(d->kernel_log);
	scan_free(d->scan);
	supervisor_free(d->supervisor);
	stopper_free(d->stopper);
	looker_free(d->looker);
	notify_free(d->notify);
	sessions_free(d->sessions);
	rails_free(d->rails);
	file_reader_free(d->file_reader);
	namer_free(d->namer);
	peers_free(d->peers);
	peer_source_free(&d->peer_source);
	journal_keeper_free(d->journal_keeper);
	loop_source_free(d->tick);
	loop_source_free(d->hangup);
	loop_source_free(d->terminate);
	loop_source_free(d->interrupt);
	loop_free(d->loop);
	config_free(&d->config);
	worker_program_close(&d->worker);
}

static int start(struct daemon *d, struct http_protection *protection)
{
	int r;

	if (getrandom(&d->instance, sizeof(d->instance), 0) != sizeof(d->instance))
		return -errno;
	d->start_ns = clock_now_ns();
	d->start_wall_ns = d->last_reload_success_wall_ns = clock_wall_ns();
	d->last_reload_ok = true;
	d->config_hash = config_hash(&d->config);
	d->loop = loop_new();
	if (!d->loop)
		return -errno;
	r = open_sources(d);
	if (r == 0)
		r = open_parts(d);
	if (r == 0)
		r = configure(d, protection);
	return r == 0 ? begin(d) : r;
}

/* What is wrong is said. */
static int load(struct daemon *d, struct http_protection *protection)
{
	char err[PROTECTION_ERROR];
	int r = reload_load(d, &d->config, NULL, err, sizeof(err));

	if (r < 0)
		return r;
	r = protection_read(&d->config, protection, err, sizeof(err));
	if (r < 0) {
		log_error("%s", err);
		config_free(&d->config);
	}
	return r;
}

static int run_loop(struct daemon *d)
{
	int r = loop_run(d->loop);

	journal_add(d->journal, clock_wall_ns(), "daemon", NULL, NULL, NULL, "stopped");
	return r;
}

int daemon_run(const struct options *options, const char *worker_path)
{
	struct daemon d = {.options = options};
	struct http_protection protection = {0};
	char err[CONF_MAX_ERROR + 512];
	int r;

	if (worker_program_open(&d.worker, worker_path, err, sizeof(err)) < 0) {
		log_error("%s", err);
		return 1;
	}
	if (load(&d, &protection) < 0) {
		worker_program_close(&d.worker);
		return CHECK_EXIT_BAD;
	}
	r = start(&d, &protection);
	if (r < 0)
		log_error("cannot start: %s", strerror(-r));
	else
		r = run_loop(&d);
	protection_release(&protection);
	close_all(&d);
	return r == 0 ? 0 : 1;
}
