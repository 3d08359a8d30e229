#include "daemon/journal_keeper.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/helper_proc.h"

#define LEAVE_MS 500 /* at a stop the helper has so long to write what is left */

struct journal_read {
	uint64_t id; /* 0: free */
	journal_read_fn done;
	void *arg;
};

struct journal_keeper {
	struct journal *journal;
	int memory; /* descriptor */
	char dir[CONFIG_PATH_MAX];
	uint64_t size;

	struct helper_proc *helper;

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
	return helper_proc_fd(k->helper) >= 0 &&
	       send(helper_proc_fd(k->helper), &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
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
static bool receive(void *arg)
{
	struct journal_keeper *k = arg;
	ssize_t n = recv(helper_proc_fd(k->helper), &k->answer, sizeof(k->answer), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n > 0 && journal_answer_check(&k->answer, (size_t)n))
		take(k, &k->answer);
	return n > 0;
}

/* --- the helper's life --- */

static void forget_helper(struct journal_keeper *k)
{
	k->kept = k->looked = k->opening = false;
	k->lost_then += k->lost;
	k->lost = 0;
	fail_reads(k);
}

static void on_ended(void *arg, const siginfo_t *info)
{
	struct journal_keeper *k = arg;

	(void)info;
	forget_helper(k);
	begin_failing(k, "the helper that writes them ended");
}

static const struct helper_events helper_events = {
	.readable = receive,
	.ended = on_ended,
};

static void start(struct journal_keeper *k)
{
	int r = helper_proc_start(k->helper, clock_now_ns());

	k->ticks = 0;
	k->opening = r == 0 && ask(k, JOURNAL_OPEN, 0, 0);
	if (k->opening)
		return;
	helper_proc_end(k->helper);
	forget_helper(k);
	begin_failing(k, strerror(r < 0 ? -r : EPIPE));
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
		struct pollfd p = {.fd = helper_proc_fd(k->helper), .events = POLLIN};

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
	if (k->dir[0] && helper_proc_fd(k->helper) < 0 && helper_proc_may_start(k->helper, now_ns))
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
	k->size = size;
	name_copy(k->dir, sizeof(k->dir), dir);
	k->helper = helper_proc_new(loop, "--journal-helper", &helper_events, k);
	k->memory = memfd_create("journal", MFD_CLOEXEC);
	if (k->memory >= 0 && ftruncate(k->memory, (off_t)journal_size()) == 0)
		k->journal = mmap(NULL, journal_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				  k->memory, 0);
	if (k->journal == MAP_FAILED)
		k->journal = NULL;
	if (k->journal && k->helper) {
		helper_proc_lend(k->helper, k->memory);
		journal_limit(k->journal);
		return k;
	}
	journal_keeper_free(k);
	errno = ENOMEM;
	return NULL;
}

/* It closes its end when all is written. */
static void let_finish(struct journal_keeper *k)
{
	int fd = helper_proc_fd(k->helper);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t until = clock_now_ns() + LEAVE_MS * NSEC_PER_MSEC;

	shutdown(fd, SHUT_WR);
	for (uint64_t now = clock_now_ns(); now < until; now = clock_now_ns())
		if (poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) > 0 &&
		    recv(fd, &k->answer, sizeof(k->answer), MSG_DONTWAIT) <= 0)
			return;
}

void journal_keeper_free(struct journal_keeper *k)
{
	if (!k)
		return;
	if (k->journal)
		journal_listen(k->journal, NULL, NULL);
	if (k->helper && helper_proc_fd(k->helper) >= 0)
		let_finish(k);
	/* It may have more to write than it had time for. */
	helper_proc_free_unharmed(k->helper);
	fail_reads(k);
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
