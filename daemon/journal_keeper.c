#include "daemon/journal_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/backoff.h"
#include "daemon/child.h"

#define LEAVE_MS 500 /* at a stop the helper has so long to write what is left */

struct journal_read {
	uint64_t id; /* 0: free */
	journal_read_fn done;
	void *arg;
};

struct journal_keeper {
	struct loop *loop;
	struct journal *journal;
	int memory; /* descriptor */
	char dir[CONFIG_PATH_MAX];
	uint64_t size;

	int fd;	   /* -1: no helper */
	pid_t pid; /* 0: none, or reaped */
	struct loop_source *io, *child;
	struct backoff backoff;
	uint64_t started_ns, retry_ns;

	bool kept;	/* the helper has the files open, and writes this journal's events */
	bool started;	/* the event of the start is added */
	bool looked;	/* the helper was told of an event, and has not answered since */
	bool opening;	/* it was told to open, likewise */
	unsigned ticks; /* seconds since it was asked and has not answered */
	char words[JOURNAL_FILES_ERROR];
	uint64_t failing_wall_ns;
	uint64_t first, last;	  /* numbers in the files */
	uint64_t lost, lost_then; /* by this helper; by those before it */
	uint64_t lost_told;
	struct journal_read reads[JOURNAL_READS_MAX];
	uint64_t n_reads;
	struct journal_answer answer;
};

/* --- telling --- */

static void add_event(struct journal_keeper *k, const char *text)
{
	journal_add(k->journal, clock_wall_ns(), "journal", NULL, NULL, NULL, "%s", text);
}

static void begin_failing(struct journal_keeper *k, const char *words)
{
	bool news = strcmp(k->words, words) != 0 || !k->failing_wall_ns;

	name_copy(k->words, sizeof(k->words), words);
	if (!k->failing_wall_ns)
		k->failing_wall_ns = clock_wall_ns();
	if (!news)
		return;
	log_warn("events are not kept in %s (%s); the last %d stay in memory, and it is tried "
		 "again",
		 k->dir, words, JOURNAL_MAX);
	journal_add(k->journal, clock_wall_ns(), "journal", NULL, NULL, NULL,
		    "events are not kept: %s", words);
}

static void end_failing(struct journal_keeper *k)
{
	uint64_t lost = k->lost_then + k->lost;

	k->words[0] = '\0';
	if (k->failing_wall_ns) {
		log_info("events are kept in %s again", k->dir);
		add_event(k, "events are kept again");
	}
	k->failing_wall_ns = 0;
	if (lost > k->lost_told)
		journal_add(k->journal, clock_wall_ns(), "journal", NULL, NULL, NULL,
			    "%llu events were not kept", (unsigned long long)(lost - k->lost_told));
	k->lost_told = lost;
}

/* --- asking --- */

static bool ask(struct journal_keeper *k, enum journal_question_type type, uint64_t seq,
		uint64_t id)
{
	struct journal_question q = {.type = type, .id = id, .seq = seq, .size = k->size};

	name_copy(q.path, sizeof(q.path), k->dir);
	return k->fd >= 0 && send(k->fd, &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* One look covers all that was added before the helper looks. */
static void on_added(void *arg)
{
	struct journal_keeper *k = arg;

	if (k->kept && !k->looked)
		k->looked = ask(k, JOURNAL_LOOK, 0, 0);
}

static void finish_read(struct journal_keeper *k, uint64_t id, const struct journal_event *events,
			size_t n)
{
	for (size_t i = 0; i < JOURNAL_READS_MAX; i++) {
		struct journal_read read = k->reads[i];

		if (read.id != id)
			continue;
		k->reads[i].id = 0;
		read.done(read.arg, events, n);
		return;
	}
}

static void fail_reads(struct journal_keeper *k)
{
	for (size_t i = 0; i < JOURNAL_READS_MAX; i++)
		if (k->reads[i].id)
			finish_read(k, k->reads[i].id, NULL, 0);
}

/* --- answers --- */

static void add_start(struct journal_keeper *k, const struct journal_head *before)
{
	char boot[JOURNAL_BOOT] = "";
	const char *what = "";

	if (k->started)
		return;
	k->started = true;
	if (before && before->boot[0] && journal_helper_boot(boot) &&
	    strcmp(boot, before->boot) != 0)
		what = ", the first time since the host booted";
	journal_add(k->journal, clock_wall_ns(), "daemon", NULL, NULL, NULL,
		    "started: version " RPM_VERSION "%s", what);
}

/* The files go on with the numbers in memory, or memory with those of the files. */
static void on_opened(struct journal_keeper *k, const struct journal_answer *a)
{
	bool same = strcmp(a->numbering, journal_id(k->journal)) == 0;
	uint64_t from = a->last;

	k->opening = false;
	k->kept = false;
	if (a->error < 0) {
		begin_failing(k, a->words);
		return;
	}
	/* What a full disk tore is in memory still, under its number, and is written again. */
	if (same && a->last <= journal_last_seq(k->journal))
		from = a->whole;
	else
		journal_rebase(k->journal, a->numbering, a->last);
	k->kept = ask(k, JOURNAL_KEEP, from, 0);
	if (!k->kept)
		return;
	add_start(k, &a->head);
	end_failing(k);
	on_added(k);
}

static void on_state(struct journal_keeper *k, const struct journal_answer *a)
{
	k->looked = false;
	k->kept &= a->error == 0;
	if (k->kept)
		end_failing(k);
	else if (a->error < 0)
		begin_failing(k, a->words);
	if (journal_last_seq(k->journal) > a->last)
		on_added(k);
}

static void take(struct journal_keeper *k, const struct journal_answer *a)
{
	k->ticks = 0;
	k->lost = a->lost;
	k->first = a->first;
	k->last = a->last;
	switch ((enum journal_answer_type)a->type) {
	case JOURNAL_OPENED:
		on_opened(k, a);
		break;
	case JOURNAL_STATE:
		on_state(k, a);
		break;
	case JOURNAL_EVENTS:
		finish_read(k, a->id, a->events, a->n);
		break;
	}
}

/* One packet. False: the helper is no more. */
static bool receive(struct journal_keeper *k)
{
	ssize_t n = recv(k->fd, &k->answer, sizeof(k->answer), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n > 0 && journal_answer_check(&k->answer, (size_t)n))
		take(k, &k->answer);
	return n > 0;
}

static void on_io(void *arg, int fd, uint32_t events)
{
	struct journal_keeper *k = arg;

	(void)fd;
	(void)events;
	/* Its end is told by on_child(). */
	if (!receive(k)) {
		loop_source_free(k->io);
		k->io = NULL;
	}
}

/* --- the helper's life --- */

static void close_helper(struct journal_keeper *k)
{
	loop_source_free(k->io);
	loop_source_free(k->child);
	k->io = k->child = NULL;
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	k->kept = k->looked = k->opening = false;
	k->lost_then += k->lost;
	k->lost = 0;
	fail_reads(k);
}

static void start_later(struct journal_keeper *k)
{
	uint64_t random = 0, now = clock_now_ns();

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0; /* the jitter is a nicety */
	backoff_lived(&k->backoff, now - k->started_ns);
	k->retry_ns = now + backoff_next(&k->backoff, random);
}

static void on_child(void *arg, pid_t pid, const siginfo_t *info)
{
	struct journal_keeper *k = arg;

	(void)pid;
	(void)info;
	k->pid = 0;
	close_helper(k);
	begin_failing(k, "the helper that writes them ended");
	start_later(k);
}

static int spawn(struct journal_keeper *k, int socket_fd, int memory)
{
	char name[] = "rdma-pingmeshd", flag[] = "--journal-helper", fd3[] = "3";
	char *argv[] = {name, flag, fd3, NULL};
	int fds[] = {socket_fd, memory};

	return child_spawn(NULL, argv, fds, 2, &k->pid);
}

static int make_pair(struct journal_keeper *k, int *ret_socket)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	k->fd = fds[0];
	*ret_socket = child_lift_fd(fds[1]);
	return *ret_socket < 0 ? -errno : 0;
}

static int start_helper(struct journal_keeper *k)
{
	int memory = fcntl(k->memory, F_DUPFD_CLOEXEC, CHILD_FIRST_SAFE_FD);
	int theirs = -1;
	int r = memory < 0 ? -errno : make_pair(k, &theirs);

	if (r == 0)
		r = spawn(k, theirs, memory);
	if (memory >= 0)
		close(memory);
	if (theirs >= 0)
		close(theirs);
	if (r < 0)
		return r;
	k->child = loop_add_child(k->loop, k->pid, on_child, k);
	k->io = loop_add_io(k->loop, k->fd, EPOLLIN, on_io, k);
	k->opening = ask(k, JOURNAL_OPEN, 0, 0);
	return k->child && k->io && k->opening ? 0 : -ENOMEM;
}

static void start(struct journal_keeper *k)
{
	int r;

	k->started_ns = clock_now_ns();
	k->retry_ns = 0;
	k->ticks = 0;
	r = start_helper(k);
	if (r == 0)
		return;
	/* Without its socket it ends by itself; on_child() may not be there to tell. */
	close_helper(k);
	begin_failing(k, strerror(-r));
	start_later(k);
}

void journal_keeper_open(struct journal_keeper *k, const char *id)
{
	uint64_t until = clock_now_ns() + JOURNAL_OPEN_WAIT_NS;

	journal_rebase(k->journal, id, 0);
	journal_listen(k->journal, on_added, k);
	if (k->dir[0])
		start(k);
	else
		log_info("events are kept in memory alone: neither --state nor the service "
			 "manager names a directory for them");
	for (uint64_t now = clock_now_ns(); k->opening && now < until; now = clock_now_ns()) {
		struct pollfd p = {.fd = k->fd, .events = POLLIN};

		if (poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) > 0 && !receive(k))
			break;
	}
	add_start(k, NULL);
}

/* Ticks are counted, not time: that this host stood still is not the disk's fault. */
void journal_keeper_tick(struct journal_keeper *k, uint64_t now_ns)
{
	bool waits = k->opening || k->looked;

	journal_settle(k->journal, clock_wall_ns());
	if (k->retry_ns && now_ns >= k->retry_ns)
		start(k);
	for (size_t i = 0; i < JOURNAL_READS_MAX; i++)
		waits |= k->reads[i].id != 0;
	k->ticks = waits ? k->ticks + 1 : 0;
	if (k->ticks < JOURNAL_PATIENCE)
		return;
	fail_reads(k);
	if (k->opening || k->looked)
		begin_failing(k, "the disk does not answer");
}

/* --- interface --- */

struct journal_keeper *journal_keeper_new(struct loop *loop, const char *dir, uint64_t size)
{
	struct journal_keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->loop = loop;
	k->size = size;
	k->fd = -1;
	name_copy(k->dir, sizeof(k->dir), dir);
	k->memory = memfd_create("journal", MFD_CLOEXEC);
	if (k->memory >= 0 && ftruncate(k->memory, (off_t)journal_size()) == 0)
		k->journal = mmap(NULL, journal_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				  k->memory, 0);
	if (k->journal && k->journal != MAP_FAILED) {
		journal_limit(k->journal);
		return k;
	}
	k->journal = NULL;
	journal_keeper_free(k);
	errno = ENOMEM;
	return NULL;
}

/* It closes its end when all is written. */
static void let_finish(struct journal_keeper *k)
{
	struct pollfd p = {.fd = k->fd, .events = POLLIN};
	uint64_t until = clock_now_ns() + LEAVE_MS * NSEC_PER_MSEC;

	shutdown(k->fd, SHUT_WR);
	for (uint64_t now = clock_now_ns(); now < until; now = clock_now_ns())
		if (poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) > 0 &&
		    recv(k->fd, &k->answer, sizeof(k->answer), MSG_DONTWAIT) <= 0)
			return;
}

void journal_keeper_free(struct journal_keeper *k)
{
	if (!k)
		return;
	if (k->journal)
		journal_listen(k->journal, NULL, NULL);
	if (k->fd >= 0)
		let_finish(k);
	close_helper(k);
	if (k->journal)
		munmap(k->journal, journal_size());
	if (k->memory >= 0)
		close(k->memory);
	free(k);
}

struct journal *journal_keeper_journal(struct journal_keeper *k)
{
	return k->journal;
}

struct journal_status journal_keeper_status(const struct journal_keeper *k)
{
	return (struct journal_status){
		.configured = k->dir[0] != '\0',
		.kept = k->kept && !k->failing_wall_ns,
		.words = k->words,
		.failing_wall_ns = k->failing_wall_ns,
		.lost = k->lost_then + k->lost,
	};
}

uint64_t journal_keeper_first(const struct journal_keeper *k)
{
	return k->kept && !k->failing_wall_ns ? k->first : 0;
}

uint64_t journal_keeper_read(struct journal_keeper *k, uint64_t after, journal_read_fn done,
			     void *arg)
{
	for (size_t i = 0; k->kept && !k->failing_wall_ns && i < JOURNAL_READS_MAX; i++) {
		if (k->reads[i].id)
			continue;
		if (!ask(k, JOURNAL_READ, after, k->n_reads + 1))
			return 0;
		k->reads[i] = (struct journal_read){++k->n_reads, done, arg};
		return k->n_reads;
	}
	return 0;
}

void journal_keeper_cancel(struct journal_keeper *k, uint64_t id)
{
	for (size_t i = 0; id && i < JOURNAL_READS_MAX; i++)
		if (k->reads[i].id == id)
			k->reads[i].id = 0;
}
