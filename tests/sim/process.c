#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/outbox.h"
#include "host.h"
#include "kernel.h"
#include "oracle.h"
#include "worker_parts.h"

#define START_NS (5 * NSEC_PER_MSEC)
#define FACTS_PER_ROUND 256

struct worker_proc {
	struct worker_proc *next;
	struct host *host;
	const struct worker_events *events;
	void *arg;
	struct outbox *outbox;
	struct table *table;
	int fd;
	struct process *process; /* NULL: ended, and to be reaped or reaped */
	bool ended;
	siginfo_t how;
	uint64_t malformed;
};

struct process *processes;
static struct worker_proc *worker_procs;
static uint64_t last_pid;

/* --- the process --- */

static struct process *process_new(struct host *h, struct worker_proc *parent, int fd, int table_fd)
{
	struct process *p = calloc(1, sizeof(*p));

	p->host = h;
	p->pid = ++last_pid;
	p->parent = parent;
	p->socket_fd = fd;
	p->table = table_map(table_fd);
	p->starts_ns = simulation_now_ns() + START_NS;
	p->next = processes;
	processes = p;
	return p;
}

void processes_begin(void)
{
	last_pid = 0;
}

/* What the kernel does when it is over: everything is destroyed, and who is connected hears it. */
static void process_ends(struct process *p, int code, int status)
{
	struct process **at = &processes;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	fabric_use_process(p->host->dev, p->pid);
	worker_parts_free(p);
	fabric_use(NULL);
	fabric_process_ends(p->host->dev, p->pid);
	table_unmap(p->table);
	close(p->socket_fd);
	if (p->parent) {
		p->parent->process = NULL;
		p->parent->ended = true;
		p->parent->how = (siginfo_t){.si_code = code};
		p->parent->how.si_status = status;
	}
	simulation_note("%s: worker %lu ended, %s %d", p->host->name, (unsigned long)p->pid,
			code == CLD_EXITED ? "exit" : "signal", status);
	free(p);
}

void process_kill(struct process *p, uint64_t takes_ns)
{
	uint64_t at = simulation_now_ns() + takes_ns;

	if (!p->ends_ns || at < p->ends_ns)
		p->ends_ns = at;
}

void process_power_off(struct process *p)
{
	struct fake_device *dev = p->host->dev;

	fabric_set_dark(dev, true);
	process_ends(p, CLD_KILLED, SIGKILL);
	fabric_set_dark(dev, false);
}

void process_freeze(struct process *p, bool rail, bool control, uint64_t until_ns)
{
	if (rail)
		thread_freeze(&p->rail_thread, until_ns);
	if (control)
		thread_freeze(&p->control_thread, until_ns);
}

struct process *process_of(const struct host *h)
{
	for (struct process *p = processes; p; p = p->next)
		if (p->host == h && p->parent)
			return p;
	return NULL;
}

/* --- its threads --- */

/* As worker_main(): the first wish is the configuration. */
static void process_starts(struct process *p)
{
	struct wish w;
	int r = wish_recv(p->socket_fd, &w);

	if (r != 1 || w.type != WISH_CONFIG) {
		process_ends(p, CLD_EXITED, 10);
		return;
	}
	p->cfg = w.config;
	fabric_use_process(p->host->dev, p->pid);
	worker_parts_make(p);
	fabric_use(NULL);
	thread_sleep(&p->rail_thread, 0, p->host->late_ns);
	thread_sleep(&p->control_thread, 0, p->host->late_ns);
	p->rail_thread.alive = p->control_thread.alive = true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t process_when(struct process *p)
{
	uint64_t at = p->ends_ns ? p->ends_ns : UINT64_MAX;

	if (!p->control)
		return earlier(at, p->starts_ns);
	at = earlier(at, thread_when(&p->rail_thread, worker_rail_readable(p), p->host->late_ns));
	return earlier(
		at, thread_when(&p->control_thread, worker_control_readable(p), p->host->late_ns));
}

void process_step(struct process *p)
{
	uint64_t now = simulation_now_ns(), late_ns = p->host->late_ns;
	int code = -1;

	if (p->ends_ns && p->ends_ns <= now) {
		process_ends(p, CLD_KILLED, SIGKILL);
		return;
	}
	if (!p->control) {
		if (p->starts_ns <= now)
			process_starts(p);
		return;
	}
	fabric_use_process(p->host->dev, p->pid);
	if (thread_when(&p->rail_thread, worker_rail_readable(p), late_ns) <= now) {
		oracle_ran(&p->rail_thread, "rail");
		thread_sleep(&p->rail_thread, worker_rail_step(p), late_ns);
		oracle_after_rail(p);
	} else if (thread_when(&p->control_thread, worker_control_readable(p), late_ns) <= now) {
		oracle_ran(&p->control_thread, "control");
		thread_sleep(&p->control_thread, worker_control_step(p, &code), late_ns);
		oracle_after_control(p);
	}
	fabric_use(NULL);
	if (code >= 0)
		process_ends(p, CLD_EXITED, code);
}

/* --- main's side --- */

struct worker_proc *worker_proc_start(struct loop *loop, const struct worker_start *how,
				      const struct worker_events *events, void *arg)
{
	struct worker_proc *w = calloc(1, sizeof(*w));
	struct host *h = loop_host(loop);
	int sockets[2], table_fd;

	w->host = h;
	w->events = events;
	w->arg = arg;
	w->outbox = outbox_new();
	kernel_socketpair(sockets, h->socket_packets);
	w->fd = sockets[0];
	w->table = table_create(&how->layout, &table_fd);
	simulation_check(w->outbox && w->table, "no memory for a worker");
	w->process = process_new(h, w, sockets[1], table_fd);
	close(table_fd);
	w->next = worker_procs;
	worker_procs = w;
	return w;
}

void worker_proc_free(struct worker_proc *w)
{
	struct worker_proc **at = &worker_procs;

	if (!w)
		return;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (w->process) {
		w->process->parent = NULL;
		process_kill(w->process, 0);
	}
	close(w->fd);
	table_unmap(w->table);
	outbox_free(w->outbox);
	free(w);
}

pid_t worker_proc_pid(const struct worker_proc *w)
{
	return w->process ? (pid_t)w->process->pid : 0;
}

const struct table *worker_proc_table(const struct worker_proc *w)
{
	return w->table;
}

void worker_proc_send(struct worker_proc *w, const struct wish *wish)
{
	if (outbox_add(w->outbox, wish) < 0)
		worker_proc_kill(w, SIGKILL);
	else
		outbox_flush(w->outbox, w->fd);
}

void worker_proc_kill(struct worker_proc *w, int signo)
{
	(void)signo;
	if (w->process)
		process_kill(w->process, NSEC_PER_MSEC);
}

uint64_t worker_proc_malformed(const struct worker_proc *w)
{
	return w->malformed;
}

bool worker_procs_readable(const struct host *h)
{
	for (const struct worker_proc *w = worker_procs; w; w = w->next)
		if (w->host == h && (w->ended || kernel_readable(w->fd)))
			return true;
	return false;
}

static void read_facts(struct worker_proc *w, unsigned max)
{
	struct fact f;
	int r;

	for (unsigned i = 0; i < max; i++) {
		r = fact_recv(w->fd, &f);
		if (r == -EBADMSG)
			w->malformed++;
		else if (r != 1)
			return;
		else
			w->events->fact(w->arg, &f);
	}
}

void worker_procs_step(struct host *h)
{
	struct worker_proc *next;

	for (struct worker_proc *w = worker_procs; w; w = next) {
		next = w->next;
		if (w->host != h)
			continue;
		outbox_flush(w->outbox, w->fd);
		if (!w->ended) {
			read_facts(w, FACTS_PER_ROUND);
			continue;
		}
		read_facts(w, UINT16_MAX);
		w->ended = false;
		w->events->ended(w->arg, &w->how); /* frees it */
		return;				   /* and may have made another */
	}
}
