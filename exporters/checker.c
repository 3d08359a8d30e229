#include "exporters/checker.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"

#define REST_FACTOR                                                                                \
	3 /* after a wrong password, times the check's own CPU time: a guesser gets a              \
	   * quarter of one CPU */
#define REST_MAX_NS (500 * NSEC_PER_MSEC)

struct result {
	unsigned tag;
	bool matches;
};

/* What both threads use, under the lock. */
struct shared {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* something is pending, or stop, or ended */
	struct check pending[CHECKER_MAX];
	struct result done[CHECKER_MAX];
	unsigned n_pending, n_done, in_it;
	bool stop, ended;
	int event_fd; /* readable: there are results */
};

struct checker {
	struct shared *shared;
	pthread_t thread;
	bool running;
	struct loop_source *io;
	checker_done_fn done;
	void *arg;
};

/* --- the thread --- */

static bool matches(const struct check *check, struct crypt_data *data)
{
	const char *hash = crypt_r(check->password, check->hash, data);
	size_t len = strlen(check->hash);

	/* What crypt() cannot compute begins with a star. */
	return hash && hash[0] != '*' && strlen(hash) == len &&
	       gnutls_memcmp(hash, check->hash, len) == 0;
}

/* The oldest pending check; false: stop. */
static bool take_pending(struct shared *s, struct check *ret)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && s->n_pending == 0)
		pthread_cond_wait(&s->wake, &s->lock);
	stop = s->stop;
	if (!stop) {
		*ret = s->pending[0];
		s->n_pending--;
		memmove(&s->pending[0], &s->pending[1], s->n_pending * sizeof(s->pending[0]));
		explicit_bzero(&s->pending[s->n_pending], sizeof(s->pending[0]));
	}
	pthread_mutex_unlock(&s->lock);
	return !stop;
}

static void put_done(struct shared *s, const struct result *result)
{
	uint64_t one = 1;

	pthread_mutex_lock(&s->lock);
	s->done[s->n_done++] = *result;
	pthread_mutex_unlock(&s->lock);
	/* Fails only when it is readable already. */
	while (write(s->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static struct timespec instant(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
}

static void rest(struct shared *s, uint64_t ns)
{
	struct timespec at = instant(clock_now_ns() + (ns < REST_MAX_NS ? ns : REST_MAX_NS));

	pthread_mutex_lock(&s->lock);
	while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &at) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
	struct shared *s = arg;
	struct crypt_data *data = calloc(1, sizeof(*data));
	struct check check;

	while (take_pending(s, &check)) {
		uint64_t begin = clock_thread_cpu_ns();
		struct result result = {check.tag, data && matches(&check, data)};

		explicit_bzero(&check, sizeof(check));
		put_done(s, &result);
		if (!result.matches)
			rest(s, REST_FACTOR * (clock_thread_cpu_ns() - begin));
	}
	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* --- the loop's side --- */

static void on_done(void *arg, int fd, uint32_t events)
{
	struct checker *c = arg;
	struct shared *s = c->shared;
	struct result done[CHECKER_MAX];
	unsigned n;
	uint64_t count;

	(void)events;
	if (read(fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&s->lock);
	n = s->n_done;
	memcpy(done, s->done, n * sizeof(done[0]));
	s->n_done = 0;
	s->in_it -= n;
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < n; i++)
		c->done(c->arg, done[i].tag, done[i].matches);
}

bool checker_submit(struct checker *c, const struct check *check)
{
	struct shared *s = c->shared;
	bool room;

	pthread_mutex_lock(&s->lock);
	room = s->in_it < CHECKER_MAX;
	if (room) {
		s->pending[s->n_pending++] = *check;
		s->in_it++;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
	return room;
}

static struct shared *shared_new(void)
{
	struct shared *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

static void shared_free(struct shared *s)
{
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	close(s->event_fd);
	explicit_bzero(s, sizeof(*s));
	free(s);
}

/* Signals are main's. */
static int start_thread(struct checker *c)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&c->thread, NULL, run, c->shared);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	c->running = r == 0;
	return -r;
}

struct checker *checker_new(struct loop *loop, checker_done_fn done, void *arg)
{
	struct checker *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (!c)
		return NULL;
	c->done = done;
	c->arg = arg;
	c->shared = shared_new();
	if (c->shared)
		c->io = loop_add_io(loop, c->shared->event_fd, EPOLLIN, on_done, c);
	if (c->io)
		r = start_thread(c);
	if (r == 0)
		return c;
	checker_free(c);
	errno = -r;
	return NULL;
}

/* False: it still computes. */
static bool stop_thread(struct checker *c)
{
	struct shared *s = c->shared;
	struct timespec at = instant(clock_now_ns() + CHECKER_LEAVE_NS);
	bool ended;

	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	while (!s->ended && pthread_cond_timedwait(&s->wake, &s->lock, &at) != ETIMEDOUT)
		;
	ended = s->ended;
	pthread_mutex_unlock(&s->lock);
	return ended && pthread_join(c->thread, NULL) == 0;
}

void checker_free(struct checker *c)
{
	if (!c)
		return;
	loop_source_free(c->io);
	/* A hash may have been made to take a minute. A stop does not wait for it, and what the
	 * thread uses stays until the process ends. */
	if (c->running && !stop_thread(c))
		pthread_detach(c->thread);
	else if (c->shared)
		shared_free(c->shared);
	free(c);
}
