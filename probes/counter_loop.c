#include "probes/counter_loop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "probes/counter.h"
#include "probes/link_watch.h"
#include "probes/table.h"

#define INTERVAL_MIN_NS (100 * NSEC_PER_MSEC)
/* With a long interval the thread still wakes to beat: silence must mean that it is stuck. */
#define BEAT_NS (5 * NSEC_PER_SEC)
/* Least distance of rounds on request: events come in bursts (a hundred addresses at once). */
#define POKE_NS (1 * NSEC_PER_SEC)

struct counter_loop {
	struct table *table;
	struct counter_reader *reader;
	int wake_fd, done_fd;
	pthread_t thread;
	bool of_host; /* the tree is this host's own /sys */
	bool watching;
	bool soon; /* a port's link changed */
	struct link_watch links;
	_Atomic uint64_t interval_ns;
	_Atomic uint32_t netdev_stats;
	atomic_bool stop, poked, gone;
	atomic_bool left; /* the thread is through, or its owner gave up: the second one frees */
};

static void notify(int event_fd)
{
	uint64_t one = 1;

	/* Fails only when the number is full, and then whoever waits is awake anyway. */
	if (write(event_fd, &one, sizeof(one)) < 0)
		return;
}

/* Waits for the eventfd, or for the other one if it is not -1, at most max_ns; false when nothing
 * came by the eventfd. */
static bool await(int event_fd, int other_fd, uint64_t max_ns)
{
	struct pollfd p[] = {{.fd = event_fd, .events = POLLIN},
			     {.fd = other_fd, .events = POLLIN}};
	struct timespec timeout = {
		.tv_sec = (time_t)(max_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(max_ns % NSEC_PER_SEC),
	};
	uint64_t number;

	/* What is read says nothing, the flags say all. */
	return ppoll(p, 2, &timeout, NULL) > 0 && p[0].revents &&
	       read(event_fd, &number, sizeof(number)) > 0;
}

static void beat(struct counter_loop *l)
{
	table_beat(l->table, WORKER_COUNTER, clock_now_ns(), clock_wall_ns());
}

static void run_round(struct counter_loop *l, uint64_t now_ns)
{
	struct counter_round *round = table_counter_slot(l->table);
	int r;

	if (atomic_exchange(&l->poked, false))
		counter_reader_poke(l->reader);
	counter_reader_set_netdev_stats(l->reader, atomic_load(&l->netdev_stats));
	round->interval_ns = atomic_load(&l->interval_ns);
	r = counter_reader_run(l->reader, round, now_ns, clock_wall_ns());
	if (atomic_load(&l->stop))
		return; /* who gave up on us may have given up the table too */
	atomic_store(&l->gone, r == -ENODEV);
	/* A slow device's round is as old as its end: it is not stale the moment it is there. */
	round->mono_ns = clock_now_ns();
	round->wall_ns = clock_wall_ns();
	table_publish_counters(l->table);
}

static void wait_until(struct counter_loop *l, uint64_t due_ns)
{
	uint64_t now = clock_now_ns(), left = due_ns > now ? due_ns - now : 0;

	await(l->wake_fd, l->watching ? l->links.netlink.fd : -1, left < BEAT_NS ? left : BEAT_NS);
}

static void link_changed(void *arg, const char *netdev)
{
	struct counter_loop *l = arg;

	l->soon |= counter_reader_link(l->reader, netdev);
}

static void ask_host(struct counter_loop *l)
{
	if (!l->of_host)
		return;
	counter_reader_set_netlink(l->reader, true);
	l->watching = link_watch_open(&l->links) == 0;
	counter_reader_set_told(l->reader, l->watching);
}

/* When the round after the one from began to ended is due. */
static uint64_t next_due(struct counter_loop *l, uint64_t began_ns, uint64_t ended_ns)
{
	uint64_t interval = atomic_load(&l->interval_ns), due = began_ns + interval;

	/* A device that takes long has its rest between rounds, or it is asked all the time. */
	if (ended_ns - began_ns > interval / 2)
		due = ended_ns + interval;
	if ((l->soon || atomic_load(&l->poked)) && ended_ns + POKE_NS < due)
		due = ended_ns + POKE_NS;
	return due;
}

static void loop_run(struct counter_loop *l)
{
	uint64_t began = 0, ended = 0;

	ask_host(l);
	while (!atomic_load(&l->stop)) {
		uint64_t now = clock_now_ns();

		beat(l);
		if (l->watching)
			link_watch_read(&l->links, link_changed, l);
		if (ended == 0 || now >= next_due(l, began, ended)) {
			began = now;
			l->soon = false;
			run_round(l, now);
			ended = clock_now_ns();
			continue;
		}
		wait_until(l, next_due(l, began, ended));
	}
}

static uint64_t interval_of(uint64_t interval_ns)
{
	return interval_ns < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : interval_ns;
}

static void loop_free(struct counter_loop *l)
{
	if (l->wake_fd >= 0)
		close(l->wake_fd);
	if (l->done_fd >= 0)
		close(l->done_fd);
	counter_reader_free(l->reader);
	if (l->watching)
		link_watch_close(&l->links);
	free(l);
}

static void *loop_main(void *arg)
{
	struct counter_loop *l = arg;

	pthread_setname_np(pthread_self(), "counter");
	loop_run(l);
	if (atomic_exchange(&l->left, true))
		loop_free(l);
	else
		notify(l->done_fd);
	return NULL;
}

/* Signals are for the thread that has the signalfd. */
static int thread_start(struct counter_loop *l)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	r = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r != 0)
		return r;
	r = pthread_create(&l->thread, NULL, loop_main, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

struct counter_loop *counter_loop_start(struct table *t, const char *sysfs_root, const char *device,
					uint64_t interval_ns, uint32_t netdev_stats)
{
	struct counter_loop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return NULL;
	l->table = t;
	l->of_host = strcmp(sysfs_root, "/sys") == 0;
	l->interval_ns = interval_of(interval_ns);
	l->netdev_stats = netdev_stats;
	l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->wake_fd >= 0 && l->done_fd >= 0)
		l->reader = counter_reader_new(sysfs_root, device);
	r = l->reader ? thread_start(l) : errno;
	if (r != 0) {
		loop_free(l);
		errno = r;
		return NULL;
	}
	return l;
}

void counter_loop_set(struct counter_loop *l, uint64_t interval_ns, uint32_t netdev_stats)
{
	atomic_store(&l->netdev_stats, netdev_stats);
	atomic_store(&l->interval_ns, interval_of(interval_ns));
	notify(l->wake_fd);
}

void counter_loop_poke(struct counter_loop *l)
{
	atomic_store(&l->poked, true);
	notify(l->wake_fd);
}

bool counter_loop_device_gone(const struct counter_loop *l)
{
	return atomic_load(&l->gone);
}

bool counter_loop_stop(struct counter_loop *l, uint64_t max_ns)
{
	pthread_t thread;

	if (!l)
		return true;
	thread = l->thread;
	atomic_store(&l->stop, true);
	notify(l->wake_fd);
	/* Either it says that it is done, or it turns out to have left just as we gave up. */
	if (!await(l->done_fd, -1, max_ns) && !atomic_exchange(&l->left, true)) {
		pthread_detach(thread); /* l may be freed by now */
		return false;
	}
	pthread_join(thread, NULL);
	loop_free(l);
	return true;
}
