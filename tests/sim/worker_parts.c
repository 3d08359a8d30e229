#include "worker_parts.h"

#include "kernel.h"
#include "probes/control_priv.h"
#include "probes/rail_priv.h"
#include "probes/spsc.h"
#include "probes/worker.h"

#define QUEUE_LENGTH 8192	      /* as probes/worker.c */
#define BEAT_NS (250 * NSEC_PER_MSEC) /* as both threads have it */

static uint64_t next_random(void)
{
	return simulation_random();
}

void worker_parts_make(struct process *p)
{
	struct rail_params rp = {
		.table = p->table,
		.max_conns = p->cfg.qps_per_device + 64,
		.max_sessions = table_get_layout(p->table)->sessions,
		.max_receives = control_max_receives(&p->cfg),
		.now_ns = clock_now_ns,
		.wall_ns = clock_wall_ns,
	};
	struct control_params cp = {
		.socket_fd = p->socket_fd,
		.table = p->table,
		.now_ns = clock_now_ns,
		.wall_ns = clock_wall_ns,
		.random = next_random,
	};

	p->commands = rp.commands = cp.commands = spsc_new(sizeof(struct rail_cmd), QUEUE_LENGTH);
	p->notes = rp.notes = cp.notes = spsc_new(sizeof(struct rail_note), QUEUE_LENGTH);
	p->rail = rail_new(&rp);
	p->control = control_new(&cp, &p->cfg);
	simulation_check(p->rail && p->control, "no memory for a worker");
	control_begin(p->control);
}

void worker_parts_free(struct process *p)
{
	control_free(p->control);
	rail_free(p->rail);
	spsc_free(p->commands);
	spsc_free(p->notes);
}

bool worker_rail_readable(const struct process *p)
{
	return kernel_readable(spsc_fd(p->commands)) ||
	       (p->rail->channel && kernel_readable(p->rail->channel->fd));
}

bool worker_control_readable(const struct process *p)
{
	const struct control *c = p->control;
	struct ibv_context *own = endpoint_own(c->endpoint), *verbs = endpoint_verbs(c->endpoint);

	return kernel_readable(spsc_fd(p->notes)) ||
	       (!c->main_gone && kernel_readable(p->socket_fd)) ||
	       (c->channel && kernel_readable(c->channel->fd)) ||
	       (own && (kernel_readable(own->async_fd) || fabric_hangs_up(own))) ||
	       (verbs && kernel_readable(verbs->async_fd));
}

/* What rail_wait() does when it wakes. */
static void rail_wakes(struct process *p)
{
	const struct thread *t = &p->rail_thread;
	uint64_t slept = simulation_now_ns() - t->since_ns;
	uint64_t meant = t->wake_ns > t->since_ns ? t->wake_ns - t->since_ns : 0;

	if (p->rail->channel && kernel_readable(p->rail->channel->fd))
		p->rail->woken = true;
	if (kernel_readable(spsc_fd(p->commands)))
		spsc_drain_fd(p->commands);
	p->rail->asleep_ns += slept < meant ? slept : meant;
}

static uint64_t at_most_a_beat(uint64_t wake_ns)
{
	uint64_t beat = simulation_now_ns() + BEAT_NS;

	return wake_ns < beat ? wake_ns : beat;
}

uint64_t worker_rail_step(struct process *p)
{
	uint64_t wake;

	rail_wakes(p);
	do
		wake = rail_step(p->rail);
	while (rail_arm(p->rail));
	return at_most_a_beat(wake);
}

/* After a removal the asynchronous descriptors report an error for ever. */
static void control_wakes(struct process *p)
{
	struct control *c = p->control;

	if (kernel_readable(spsc_fd(p->notes)))
		spsc_drain_fd(p->notes);
	if (endpoint_own(c->endpoint) && fabric_hangs_up(endpoint_own(c->endpoint)))
		c->device_gone = true;
}

uint64_t worker_control_step(struct process *p, int *ret_code)
{
	uint64_t wake;

	control_wakes(p);
	table_beat(p->table, WORKER_COUNTER, clock_now_ns(), clock_wall_ns());
	wake = control_step(p->control);
	*ret_code = p->control->exit_code;
	return at_most_a_beat(wake);
}
