/* The control thread's logic: rdma_cm, making and destroying, asynchronous events, rails, the life
 * of sessions. It may block in the kernel; the rail never waits for it. */
#pragma once
#include <stdint.h>
#include "probes/wish.h"

struct control;
struct spsc;
struct table;

struct control_params {
	int socket_fd; /* to main: wishes come, facts go; non-blocking */
	struct table *table;
	struct spsc *commands; /* of struct rail_cmd; control produces */
	struct spsc *notes;    /* of struct rail_note; control consumes */
	uint64_t (*now_ns)(void);
	uint64_t (*wall_ns)(void);
	uint64_t (*random)(void); /* 64 random bits */
	void (*poke_counters)(
		void *arg); /* ports or GIDs changed: read them anew. NULL: nobody cares */
	/* The configuration of another reload. NULL: nobody cares */
	void (*set_counters)(void *arg, const struct worker_config *cfg);
	void *counters_arg;
};

struct control *control_new(const struct control_params *p, const struct worker_config *cfg);
void control_free(struct control *c);
/* Receive buffers that the rail must have room for. */
uint32_t control_max_receives(const struct worker_config *cfg);
/* Before the first round: the rail gets its settings, main hears that we are ready. */
void control_begin(struct control *c);
/* One round over everything that is ready; returns when it wants to run again (now_ns() scale). */
uint64_t control_step(struct control *c);
/* Rounds and waits until there is a reason to end the worker; its exit code. */
int control_run(struct control *c);
