#include "host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "daemon/inbox.h"
#include "daemon/looker.h"
#include "daemon/pace.h"
#include "daemon/notify.h"
#include "daemon/namer.h"
#include "daemon/peer_reload.h"
#include "daemon/file_reader.h"
#include "daemon/protection.h"
#include "daemon/planner.h"
#include "daemon/proc_usage.h"
#include "daemon/reload.h"
#include "daemon/stopper.h"
#include "daemon/tick.h"
#include "exporters/http.h"
#include "kernel.h"
#include "oracle.h"

#define REAP_LATE_NS (20 * NSEC_PER_MSEC)

/* Who looks for devices and who looks at all: parts of struct daemon of which main here has but
 * these. */
struct scan {
	struct host *host;
};
struct looker {
	struct host *host;
};

struct host hosts[HOSTS_MAX];
unsigned n_hosts;
static struct scan scans[HOSTS_MAX];
static struct looker lookers[HOSTS_MAX];

/* --- what stands in place of daemon/scan.c, looker.c, namer.c and so on --- */

void scan_now(struct scan *s)
{
	s->host->scan_ns = simulation_now_ns();
}

void looker_soon(struct looker *l)
{
	uint64_t at = simulation_now_ns() + PACE_SOON_NS;

	if (at < l->host->look_ns)
		l->host->look_ns = at;
}

void looker_read_device(struct looker *l, struct device *dev)
{
	struct daemon *d = &l->host->d;

	if (!dev->proc)
		return;
	device_read_beat(dev);
	sessions_read(d->sessions, dev, dev->beat.mono_ns[WORKER_RAIL]);
	rails_read(d->rails, dev->name, worker_proc_table(dev->proc), &dev->classes);
}

static void begin_rails(struct daemon *d)
{
	for (size_t i = 0; i < rails_count(d->rails); i++)
		rail_books_begin(rails_get(d->rails, i)->books);
}

void looker_look(struct looker *l)
{
	struct daemon *d = &l->host->d;
	struct sessions_context ctx;

	for (size_t i = 0; i < supervisor_count(d->supervisor); i++)
		looker_read_device(l, supervisor_get(d->supervisor, i));
	ctx = daemon_sessions_context(d);
	sessions_settle(d->sessions, &ctx);
	begin_rails(d);
	for (size_t i = 0; i < sessions_count(d->sessions); i++) {
		struct session *s = sessions_get(d->sessions, i);
		struct rail *rail = rails_find(d->rails, s->key.rail);

		if (rail)
			rail_books_add(rail->books, s->key.class_name, s->total);
	}
	l->host->look_ns = UINT64_MAX;
	l->host->looked_ns = ctx.now_ns;
	oracle_after_look(l->host);
}

/* Nobody here has a host name to be looked up, and the peers stand in the configuration. */
struct file_reader *file_reader_new(struct loop *loop, void (*changed)(void *arg), void *arg)
{
	(void)changed;
	(void)arg;
	return (struct file_reader *)loop;
}

void file_reader_follow(struct file_reader *r, const char *path)
{
	(void)r;
	(void)path;
}

ssize_t file_reader_read(struct file_reader *r, const char *path, uint64_t wait_ns, char **ret,
			 char *err, size_t errlen)
{
	(void)r;
	(void)path;
	(void)wait_ns;
	(void)ret;
	(void)err;
	(void)errlen;
	return -ENOENT;
}

uint64_t file_reader_hangs_since(const struct file_reader *r)
{
	(void)r;
	return 0;
}

int protection_read(const struct config *c, struct http_protection *ret, char *err, size_t errlen)
{
	(void)c;
	(void)err;
	(void)errlen;
	*ret = (struct http_protection){0};
	return 0;
}

void protection_release(struct http_protection *p)
{
	(void)p;
}

int protection_take(struct protection *p, struct http_protection *fresh)
{
	(void)p;
	(void)fresh;
	return 0;
}

int namer_follow(struct namer *n)
{
	(void)n;
	return 0;
}

bool namer_place(struct namer *n)
{
	(void)n;
	return false;
}

void notify_ready(struct notify *n)
{
	(void)n;
}

void notify_reloading(struct notify *n, uint64_t now)
{
	(void)n;
	(void)now;
}

void notify_stopping(struct notify *n)
{
	(void)n;
}

void http_server_allow_reload(struct http_server *s, bool allow)
{
	(void)s;
	(void)allow;
}

int proc_usage_open(struct proc_usage *u, pid_t pid)
{
	u->number = (int)pid;
	return 0;
}

void proc_usage_close(struct proc_usage *u)
{
	u->number = 0;
}

int proc_usage_read(const struct proc_usage *u, uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	*ret_cpu_ns = (uint64_t)u->number;
	*ret_rss_bytes = 0;
	return 0;
}

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

/* --- the configuration file --- */

int __wrap_config_load(struct config *c, const char *path, const char *const *sets, size_t n_sets,
		       struct conf_report *report);

static void copy_config(struct config *to, const struct config *from)
{
	*to = *from;
	memset(&to->peers, 0, sizeof(to->peers));
	simulation_check(!peer_list_copy(&to->peers, &from->peers), "no memory for peers");
}

/* The path is the host's name: there is no file. */
int __wrap_config_load(struct config *c, const char *path, const char *const *sets, size_t n_sets,
		       struct conf_report *report)
{
	(void)sets;
	(void)n_sets;
	(void)report;
	for (unsigned i = 0; i < n_hosts; i++)
		if (!strcmp(path, hosts[i].name))
			copy_config(c, &hosts[i].file);
	return 0;
}

void host_list_peers(struct host *h, unsigned mask)
{
	char err[256];

	peer_list_free(&h->file.peers);
	for (unsigned i = 0; i < n_hosts; i++) {
		struct peer_entry p = {.address.in.sin_family = AF_INET};

		if (i != h->index && !(mask & 1u << i))
			continue;
		name_copy(p.host, sizeof(p.host), hosts[i].name);
		inet_pton(AF_INET, hosts[i].address, &p.address.in.sin_addr);
		simulation_check(!peer_list_add(&h->file.peers, &p, err, sizeof(err)), "%s", err);
	}
}

static void draw_ops(struct config *f, struct chance *c)
{
	static const uint64_t intervals[] = {100, 200, 500, 1000};

	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (op != OP_SEND && chance_below(c, 3) < (op == OP_READ ? 1u : 2u))
			continue;
		f->op[op] = (struct op_config){
			.interval_ns = intervals[chance_below(c, 4)] * NSEC_PER_MSEC,
			.deadline_ns = (20 + chance_below(c, 400)) * NSEC_PER_MSEC,
			.size = op == OP_ATOMIC ? 8 : 64u << chance_below(c, 4),
		};
	}
}

static void draw_file(struct host *h, struct chance *c)
{
	struct config *f = &h->file;
	uint32_t own;

	*f = (struct config){
		.accept_any = chance_below(c, 2),
		.ack_timeout = 12 + chance_below(c, 6),
		.retry_count = 2 + chance_below(c, 5),
		.connects = 1 + chance_below(c, 4),
		.keepalive_ns = (500 + chance_below(c, 10000)) * NSEC_PER_MSEC,
		.probes_per_second = chance_below(c, 12) ? 0 : 8 + chance_below(c, 50),
		.counters_interval_ns = 5 * NSEC_PER_SEC,
		.n_classes = 1 + !chance_below(c, 5),
	};
	for (unsigned i = 0; i < f->n_classes; i++) {
		snprintf(f->classes[i].name, FACT_NAME, "class%u", i);
		f->classes[i].tos = f->classes[i].sl = -1;
	}
	own = (n_hosts - 1) * (uint32_t)f->n_classes;
	f->qps_per_device = 2 * own + 4 + chance_below(c, 8);
	if (chance_below(c, 2))
		name_copy(f->name, sizeof(f->name), h->name);
	draw_ops(f, c);
	host_list_peers(h, ~0u);
}

void hosts_make(struct chance *c)
{
	n_hosts = 2 + !chance_below(c, 3);
	for (unsigned i = 0; i < n_hosts; i++) {
		struct host *h = &hosts[i];

		memset(h, 0, sizeof(*h));
		h->index = i;
		snprintf(h->name, sizeof(h->name), "host%u", i + 1);
		snprintf(h->address, sizeof(h->address), "10.0.0.%u", i + 1);
		h->options.config = h->name;
		strcpy(h->options.sysfs_root, "/sys");
		h->present = true;
		h->socket_packets = chance_below(c, 4) ? 400 : 3 + chance_below(c, 10);
		h->late_ns = 1000 + chance_below(c, chance_below(c, 3) ? 60000 : 3000000);
		scans[i].host = lookers[i].host = h;
	}
	for (unsigned i = 0; i < n_hosts; i++) {
		snprintf(hosts[i].device, sizeof(hosts[i].device), "fake%u", i);
		hosts[i].dev = fabric_add_device(hosts[i].device, hosts[i].address);
		hosts[i].nature.no_srq = !chance_below(c, 4);
		hosts[i].nature.hardware = chance_below(c, 2);
		fabric_set_knobs(hosts[i].dev, &hosts[i].nature);
		draw_file(&hosts[i], c);
	}
}

void hosts_free(void)
{
	for (unsigned i = 0; i < n_hosts; i++)
		peer_list_free(&hosts[i].file.peers);
}

/* --- main's life: as daemon/daemon.c --- */

static bool no_device_yet(void *arg, const char *device)
{
	(void)arg;
	(void)device;
	return false;
}

static void make_parts(struct host *h)
{
	struct daemon *d = &h->d;
	struct device_context ctx = {.loop = h->loop, .events = &inbox_events, .arg = d};

	d->journal = journal_new();
	d->peers = peers_new();
	d->rails = rails_new();
	d->sessions = sessions_new();
	d->supervisor = supervisor_new(&ctx);
	simulation_check(d->journal && d->peers && d->rails && d->sessions && d->supervisor,
			 "no memory for main");
}

void host_boot(struct host *h)
{
	struct daemon *d = &h->d;
	char err[1024];

	if (h->up)
		return;
	simulation_note("%s: main starts", h->name);
	memset(d, 0, sizeof(*d));
	h->loop = loop_of(h);
	d->loop = h->loop;
	d->options = &h->options;
	d->scan = &scans[h->index];
	d->looker = &lookers[h->index];
	d->instance = simulation_random();
	d->start_ns = clock_now_ns();
	d->start_wall_ns = clock_wall_ns();
	reload_load(d, &d->config, NULL, err, sizeof(err));
	make_parts(h);
	rails_configure(d->rails, &d->config, no_device_yet, NULL);
	supervisor_configure(d->supervisor, &d->config, clock_now_ns());
	simulation_check(!peer_reload_start(d), "no memory for peers");
	inbox_name_host(d);
	d->tick_at_ns = d->start_ns + TICK_NS;
	h->scan_ns = d->start_ns;
	h->look_ns = UINT64_MAX;
	h->looked_ns = d->start_ns;
	h->stop_ns = 0;
	h->up = true;
	h->boots = false;
	h->main = (struct thread){.alive = true};
	thread_sleep(&h->main, 0, h->late_ns);
}

static void close_all(struct host *h)
{
	struct daemon *d = &h->d;

	oracle_forget(h);
	supervisor_free(d->supervisor);
	stopper_free(d->stopper);
	peer_source_free(&d->peer_source);
	sessions_free(d->sessions);
	rails_free(d->rails);
	peers_free(d->peers);
	journal_free(d->journal);
	loop_free(d->loop);
	config_free(&d->config);
	h->up = h->main.alive = false;
}

void host_left(struct host *h)
{
	simulation_note("%s: main has ended", h->name);
	close_all(h);
	if (h->boots)
		host_boot(h);
}

void host_crash(struct host *h, bool loud)
{
	struct process *p = process_of(h);

	if (!h->up)
		return;
	if (p && !loud)
		process_power_off(p);
	else if (p) /* PR_SET_PDEATHSIG */
		process_kill(p, simulation_random() % REAP_LATE_NS);
	close_all(h);
}

void host_terminate(struct host *h)
{
	if (!h->up || h->stop_ns)
		return;
	simulation_note("%s: SIGTERM", h->name);
	h->stop_ns = simulation_now_ns();
	h->boots = false;
	stopper_begin(&h->d, "SIGTERM");
}

void host_reload(struct host *h)
{
	char err[1024];

	if (h->up && !h->d.stopper)
		reload(&h->d, NULL, err, sizeof(err));
}

void host_set_present(struct host *h, bool present, bool told)
{
	h->present = present;
	if (!h->up)
		return;
	if (told && !present)
		supervisor_leaving(h->d.supervisor, h->device, clock_now_ns());
	if (told)
		h->scan_ns = simulation_now_ns();
}

void host_release(struct host *h, bool released)
{
	struct device *dev = h->up ? supervisor_find(h->d.supervisor, h->device) : NULL;

	if (!dev)
		return;
	if (released)
		device_release(dev, clock_now_ns());
	else
		device_acquire(dev, clock_now_ns());
}

/* --- its rounds --- */

static void look_for_devices(struct host *h)
{
	struct daemon *d = &h->d;
	struct scan_result found = {.readable = true, .n = h->present};

	h->scan_ns = simulation_now_ns() + SCAN_INTERVAL_NS;
	name_copy(found.name[0], FACT_NAME, h->device);
	supervisor_found(d->supervisor, &found, clock_now_ns());
	d->scanned = true;
}

static void tick(struct host *h)
{
	struct daemon *d = &h->d;

	tick_devices(d, clock_now_ns());
	looker_look(d->looker);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t due(struct host *h)
{
	uint64_t at = earlier(h->d.tick_at_ns, earlier(h->scan_ns, h->look_ns));

	return earlier(at, loop_when(h->loop));
}

uint64_t host_when(struct host *h)
{
	if (!h->up)
		return UINT64_MAX;
	return thread_when(&h->main, worker_procs_readable(h), h->late_ns);
}

void host_step(struct host *h)
{
	uint64_t now = simulation_now_ns();

	oracle_ran(&h->main, "main");
	worker_procs_step(h);
	if (now >= h->scan_ns)
		look_for_devices(h);
	if (now >= h->d.tick_at_ns)
		tick(h);
	else if (now >= h->look_ns)
		looker_look(h->d.looker);
	loop_step(h->loop);
	if (loop_exited(h->loop))
		host_left(h);
	else
		thread_sleep(&h->main, due(h), h->late_ns);
}

/* --- looking --- */

const struct books *host_books(const struct host *h, uint64_t session_id)
{
	for (size_t i = 0; h->up && i < sessions_count(h->d.sessions); i++)
		if (sessions_get(h->d.sessions, i)->id == session_id)
			return &sessions_get(h->d.sessions, i)->books;
	return NULL;
}

bool host_has_books(const struct host *h, const struct books *b)
{
	for (size_t i = 0; h->up && i < sessions_count(h->d.sessions); i++)
		if (&sessions_get(h->d.sessions, i)->books == b)
			return true;
	return false;
}

static bool session_well(const struct session *s)
{
	if (!s->conn_seen || s->conn.state != SESSION_UP)
		return false;
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (s->total[op].interval_ns && s->total[op].ok_streak < 3)
			return false;
	return true;
}

bool host_well(const struct host *h)
{
	size_t n = 0;

	if (!h->up || h->stop_ns)
		return false;
	for (size_t i = 0; i < sessions_count(h->d.sessions); i++) {
		const struct session *s = sessions_get(h->d.sessions, i);

		if (!s->wanted || !session_well(s))
			return false;
		n++;
	}
	return n == (h->file.peers.n - 1) * h->d.config.n_classes;
}

static void dump_reasons(const struct op_books *b)
{
	for (unsigned i = 0; i < FAIL_COUNT; i++)
		if (b->failed[i])
			fprintf(stderr, " failed %s %llu", fail_reason_name((enum fail_reason)i),
				(unsigned long long)b->failed[i]);
	for (unsigned i = 0; i < ABORT_COUNT; i++)
		if (b->aborted[i])
			fprintf(stderr, " aborted %s %llu", abort_reason_name((enum abort_reason)i),
				(unsigned long long)b->aborted[i]);
	for (unsigned i = 0; i < SKIP_COUNT; i++)
		if (b->not_attempted[i])
			fprintf(stderr, " skipped %s %llu", skip_reason_name((enum skip_reason)i),
				(unsigned long long)b->not_attempted[i]);
}

static void dump_session(const struct session *s)
{
	fprintf(stderr, "  %s %s: %s%s, row %u id %llu, %s, attempts %u, %s%s\n", s->key.peer,
		s->key.class_name,
		s->phase == PHASE_PLACED    ? "placed"
		: s->phase == PHASE_LEAVING ? "leaving"
					    : "unplaced",
		s->wanted ? "" : " unwanted", s->row, (unsigned long long)s->id,
		s->conn_seen ? session_state_name((enum session_state)s->conn.state) : "not seen",
		s->conn.attempts_in_row, s->conn.reason, s->disabled ? " disabled" : "");
	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct op_books *b = &s->total[op];

		if (!b->interval_ns)
			continue;
		fprintf(stderr, "    %s: scheduled %llu sent %llu ok %llu late %llu streak %llu;",
			op_name((enum op)op), (unsigned long long)b->scheduled,
			(unsigned long long)b->sent, (unsigned long long)b->ok,
			(unsigned long long)b->late, (unsigned long long)b->ok_streak);
		dump_reasons(b);
		fprintf(stderr, "\n");
	}
}

void host_dump(const struct host *h)
{
	fprintf(stderr, "%s: %s, %zu devices, %zu rails, %zu of %zu sessions\n", h->name,
		h->up ? "up" : "down", h->up ? supervisor_count(h->d.supervisor) : 0,
		h->up ? rails_count(h->d.rails) : 0, h->up ? sessions_count(h->d.sessions) : 0,
		h->file.peers.n - 1);
	for (size_t i = 0; h->up && i < supervisor_count(h->d.supervisor); i++) {
		const struct device *dev = supervisor_get(h->d.supervisor, i);

		fprintf(stderr, "  %s: state %d, %s, trouble \"%s\"\n", dev->name, dev->state,
			dev->proc ? "a worker" : "no worker", dev->trouble);
	}
	for (size_t i = 0; h->up && i < sessions_count(h->d.sessions); i++)
		dump_session(sessions_get(h->d.sessions, i));
}
