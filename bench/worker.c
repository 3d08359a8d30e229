#include "bench/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "probes/control.h"
#include "probes/spsc.h"
#include "probes/table.h"

#define QUEUE_LENGTH 8192

struct bench_worker {
	struct bench_worker_params p;
	int main_fd, worker_fd;
	struct table *table;
	struct spsc *commands, *notes;
	struct rail *rail;
	struct control *control;
	pthread_t rail_thread, control_thread;
	int code;
};

static uint64_t random64(void)
{
	uint64_t v = 0;

	while (getrandom(&v, sizeof(v), 0) < 0 && errno == EINTR)
		;
	return v;
}

static void *rail_thread(void *arg)
{
	struct bench_worker *w = arg;

	w->p.rail_loop(w->rail, w->p.arg);
	return NULL;
}

static void *control_thread(void *arg)
{
	struct bench_worker *w = arg;

	w->code = control_run(w->control);
	spsc_push(w->commands, &(struct rail_cmd){.type = RAIL_STOP});
	return NULL;
}

static void free_worker(struct bench_worker *w)
{
	control_free(w->control);
	rail_free(w->rail);
	spsc_free(w->commands);
	spsc_free(w->notes);
	table_unmap(w->table);
	if (w->main_fd >= 0)
		close(w->main_fd);
	if (w->worker_fd >= 0)
		close(w->worker_fd);
	free(w);
}

static int make_channels(struct bench_worker *w)
{
	struct table_layout layout = {.sessions = 1, .samples_per_stream = w->p.samples_per_stream};
	int fds[2], table_fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -errno;
	w->main_fd = fds[0];
	w->worker_fd = fds[1];
	w->table = table_create(&layout, &table_fd);
	if (!w->table)
		return -errno;
	close(table_fd);
	w->commands = spsc_new(sizeof(struct rail_cmd), QUEUE_LENGTH);
	w->notes = spsc_new(sizeof(struct rail_note), QUEUE_LENGTH);
	return w->commands && w->notes ? 0 : -ENOMEM;
}

static int make_loops(struct bench_worker *w)
{
	const struct worker_config *cfg = &w->p.config;
	struct rail_params rail = {
		.table = w->table,
		.commands = w->commands,
		.notes = w->notes,
		.max_conns = cfg->qps_per_device + 64,
		.max_sessions = 1,
		.max_receives = control_max_receives(cfg),
		.now_ns = w->p.rail_now_ns,
		.wall_ns = clock_wall_ns,
	};
	struct control_params control = {
		.socket_fd = w->worker_fd,
		.table = w->table,
		.commands = w->commands,
		.notes = w->notes,
		.now_ns = clock_now_ns,
		.wall_ns = clock_wall_ns,
		.random = random64,
	};

	w->rail = rail_new(&rail);
	if (!w->rail)
		return -errno;
	w->control = control_new(&control, cfg);
	return w->control ? 0 : -errno;
}

static int start_threads(struct bench_worker *w)
{
	int err = pthread_create(&w->rail_thread, NULL, rail_thread, w);

	if (err)
		return -err;
	err = pthread_create(&w->control_thread, NULL, control_thread, w);
	if (!err)
		return 0;
	spsc_push(w->commands, &(struct rail_cmd){.type = RAIL_STOP});
	pthread_join(w->rail_thread, NULL);
	return -err;
}

struct bench_worker *bench_worker_start(const struct bench_worker_params *p)
{
	struct bench_worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return NULL;
	w->p = *p;
	w->main_fd = w->worker_fd = -1;
	r = make_channels(w);
	if (r == 0)
		r = make_loops(w);
	if (r == 0)
		r = start_threads(w);
	if (r == 0)
		return w;
	free_worker(w);
	errno = -r;
	return NULL;
}

int bench_worker_fd(const struct bench_worker *w)
{
	return w->main_fd;
}

struct table *bench_worker_table(struct bench_worker *w)
{
	return w->table;
}

int bench_worker_stop(struct bench_worker *w)
{
	int code;

	wish_send(w->main_fd, &(struct wish){.type = WISH_STOP});
	pthread_join(w->control_thread, NULL);
	pthread_join(w->rail_thread, NULL);
	code = w->code;
	free_worker(w);
	return code;
}
