/* A few hosts on the fake fabric, each with one worker's real control and rail, driven by hand on a
 * virtual clock or by real threads; the test is their main. After every step the books of every
 * session are checked: balanced, and nothing in them went backwards. */
#pragma once
#include <pthread.h>
#include "core/clock.h"
#include "fake_fabric.h"
#include "probes/control.h"
#include "probes/rail.h"
#include "probes/table.h"
#include "probes/wish.h"

#define WORLD_HOSTS 4
#define WORLD_ROWS 8
#define WORLD_INTERVAL_NS (200 * NSEC_PER_MSEC)
#define WORLD_DEADLINE_NS (100 * NSEC_PER_MSEC)
#define WORLD_CHANGES 512

/* A session went from one state to another. */
struct change {
	uint32_t row;
	enum session_state from, to;
	uint64_t at_ns;
	char why[FACT_TEXT];
};

/* What main was told. */
struct told {
	unsigned facts[FACT_BYE + 1];
	unsigned drains[DRAIN_COUNT];
	unsigned async[ASYNC_EVENT_COUNT];
	char device[FACT_TEXT], duplicate[FACT_TEXT], duplicate_host[FACT_NAME];
	char answers_as[FACT_NAME];
	uint64_t duplicate_hash;
	bool stalled;
	enum wire_reject refused; /* the last */
	char refusal[FACT_TEXT];
	char corrupt[FACT_TEXT]; /* the last */
	struct change change[WORLD_CHANGES];
	unsigned n_changes;
};

struct host {
	struct fake_device *dev;
	char address[64];
	struct worker_config cfg;
	struct worker_config counters_cfg; /* as the counter thread was told last */
	int socket[2];			   /* main's end, the worker's end */
	struct table *table;
	struct spsc *commands, *notes;
	struct rail *rail;
	struct control *control;
	bool running, threads, frozen_rail, frozen_control;
	uint64_t rail_wake_ns, control_wake_ns;
	struct told told;
	uint32_t n_rows; /* WORLD_ROWS, until changed before the start */
	struct session_books *last;
	uint32_t next_row; /* whose books are looked at next */
	pthread_t rail_thread, control_thread;
};

struct world {
	struct host host[WORLD_HOSTS];
	unsigned n_hosts;
};

extern struct world world;

/* cmocka's setup and teardown: an empty world; nothing may be left of it. */
int world_setup(void **state);
int world_teardown(void **state);
uint64_t world_now_ns(void);

/* A host with one device at the address; its configuration may be changed before it starts. */
struct host *host_new(const char *name, const char *address);
void host_start(struct host *h);
/* host_new, host_start, and accept everybody. */
struct host *host_up(const char *name, const char *address);
/* The process ends here and now, and nobody hears a last word. */
void host_kill(struct host *h);
/* The process ends, and the kernel closes its connections. */
void host_crash(struct host *h);
/* As main does it; true when the worker ended within its time. */
bool host_stop(struct host *h);
int host_exit_code(const struct host *h); /* -1: runs */
void host_wish(struct host *h, const struct wish *w);
void host_accept(struct host *h, const char *const *addresses, unsigned n);
/* A session in that row to an address. */
void host_session(struct host *h, uint32_t row, const char *peer, const char *address);
void host_remove_session(struct host *h, uint32_t row, enum abort_reason reason);
void host_freeze(struct host *h, bool frozen);

/* Let time pass. */
void world_run(uint64_t ns);
/* Until the session has the state; false when it took longer. */
bool world_until_state(struct host *h, uint32_t row, enum session_state state, uint64_t ns);
bool world_until(bool (*done)(void *arg), void *arg, uint64_t ns);

/* Everything, for who debugs a test. */
void world_dump(const struct host *h);
struct session_conn host_conn(const struct host *h, uint32_t row);
struct op_books host_books(const struct host *h, uint32_t row, enum op op);
struct rail_fact host_rail(const struct host *h);
struct rail_totals host_totals(const struct host *h);
/* How often a session entered the state. */
unsigned host_entered(const struct host *h, uint32_t row, enum session_state state);

/* Of a worker's configuration: an operation that runs at the world's pace, and one that does not.
 */
#define OP_ON(size)                                                                                \
	{                                                                                          \
		WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, size, 0                                      \
	}
#define OP_OFF                                                                                     \
	{                                                                                          \
		0, 0, 64, 0                                                                        \
	}

/* Two hosts, session in row 0 of the first to the second, up. */
struct pair {
	struct host *a, *b;
};
struct pair world_pair(void);
/* The same, with one configuration of both. */
struct pair world_pair_with(const struct op_config ops[OP_COUNT]);
/* The same, on devices as told; the other: before there is a session. */
struct pair world_pair_of(const struct op_config ops[OP_COUNT], const struct fake_knobs *ka,
			  const struct fake_knobs *kb);
struct pair world_hosts_of(const struct op_config ops[OP_COUNT], const struct fake_knobs *ka,
			   const struct fake_knobs *kb);
void assert_up(struct host *h, uint32_t row);
/* Every receive that was handed to the rail is posted or at hand; none got lost. */
void assert_receives_kept(const struct host *h);

/* With real threads and the real clock: begin by world_setup_threads(). */
int world_setup_threads(void **state);
void host_start_threads(struct host *h);
int host_join(struct host *h); /* after a WISH_STOP or host death: the exit code */
void world_take_facts(void);
