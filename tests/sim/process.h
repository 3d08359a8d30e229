/* A worker process: the real control and rail of one device, told by main through a socket and a
 * table as in reality. Takes the place of daemon/worker_proc.c. */
#pragma once
#include "daemon/worker_proc.h"
#include "simulation.h"

#define ROWS_MAX 64

/* Bodies are in probes/control_priv.h, whose struct session is not that of daemon/sessions.h. */
struct control;
struct host;
struct rail;
struct spsc;

struct process {
	struct process *next;
	struct host *host;
	uint64_t pid;
	struct worker_proc *parent; /* NULL: its main is gone */
	int socket_fd;
	struct table *table;
	uint64_t starts_ns; /* it has read its first wish then */
	uint64_t ends_ns;   /* killed: the kernel is done with it then; 0: not killed */
	struct worker_config cfg;
	struct spsc *commands, *notes;
	struct rail *rail;
	struct control *control;
	struct thread rail_thread, control_thread;
	uint32_t connects_most; /* that it was ever allowed: a reload stops no attempt */
	/* what the oracle saw of its rows */
	struct row_seen {
		uint64_t id;
		enum session_state state;
		struct session_books books;
		bool began, changed;
		uint64_t start_ns[OP_COUNT];	/* instants after it are booked; 0: not begun */
		uint64_t patience_ns[OP_COUNT]; /* by the settings that it was made by */
		/* Of its schedule; what a peer lacks has none for as long. */
		uint64_t interval_ns[OP_COUNT], counted[OP_COUNT];
		uint64_t window_ns;
		unsigned attempts; /* in this window */
	} seen[ROWS_MAX];
};

/* All there are, of all hosts. */
extern struct process *processes;

void processes_begin(void);
uint64_t process_when(struct process *p);
void process_step(struct process *p);
/* As by SIGKILL; the kernel takes a while to clean up. Silent: nothing it was connected with hears
 * of it, as when the power fails. */
void process_kill(struct process *p, uint64_t takes_ns);
void process_power_off(struct process *p);
void process_freeze(struct process *p, bool rail, bool control, uint64_t until_ns);
/* The process of a host's main; NULL: none. */
struct process *process_of(const struct host *h);

/* --- main's side --- */

/* What its workers told is waiting, or one has ended. */
bool worker_procs_readable(const struct host *h);
/* Main reads it. */
void worker_procs_step(struct host *h);
