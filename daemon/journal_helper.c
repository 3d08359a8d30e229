#include "daemon/journal_helper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/backoff.h"

#define SYNC_NS (5 * NSEC_PER_SEC) /* what a crash of the host may cost */
/* The helper of a daemon that was killed has the files until it has kept everything. */
#define PREDECESSOR_NS NSEC_PER_SEC
#define PREDECESSOR_STEP_MS 20

struct helper {
	int fd;
	const struct journal *journal; /* main's memory */
	struct journal_question where; /* type JOURNAL_OPEN once it came */
	struct journal_head fresh;
	struct journal_files *files; /* NULL: not open */
	bool keeps;		     /* main has said from which number on */
	bool ended;		     /* main is no more */
	uint64_t kept, lost;
	struct backoff backoff;
	uint64_t retry_ns; /* 0: nothing is to be tried again */
	uint64_t sync_ns;  /* 0: nothing is to be synced */
	struct journal_answer answer;
};

size_t journal_answer_size(const struct journal_answer *a)
{
	return offsetof(struct journal_answer, events) + a->n * sizeof(a->events[0]);
}

bool journal_question_check(const struct journal_question *q, size_t len)
{
	return len == sizeof(*q) && q->type <= JOURNAL_READ &&
	       memchr(q->path, '\0', sizeof(q->path));
}

static bool event_check(const struct journal_event *e)
{
	return memchr(e->kind, '\0', sizeof(e->kind)) &&
	       memchr(e->device, '\0', sizeof(e->device)) &&
	       memchr(e->rail, '\0', sizeof(e->rail)) && memchr(e->peer, '\0', sizeof(e->peer)) &&
	       memchr(e->text, '\0', sizeof(e->text));
}

bool journal_answer_check(const struct journal_answer *a, size_t len)
{
	bool good = len >= offsetof(struct journal_answer, events) && a->n <= JOURNAL_PAGE &&
		    len == journal_answer_size(a) && a->type <= JOURNAL_EVENTS && a->error <= 0 &&
		    memchr(a->words, '\0', sizeof(a->words)) &&
		    memchr(a->head.id, '\0', sizeof(a->head.id)) &&
		    memchr(a->head.boot, '\0', sizeof(a->head.boot)) &&
		    memchr(a->numbering, '\0', sizeof(a->numbering));

	for (uint32_t i = 0; good && i < a->n; i++)
		good = event_check(&a->events[i]);
	return good;
}

/* --- answers --- */

static struct journal_answer *begin(struct helper *h, enum journal_answer_type type)
{
	struct journal_answer *a = &h->answer;

	memset(a, 0, offsetof(struct journal_answer, events));
	a->type = type;
	a->lost = h->lost;
	if (h->files) {
		a->first = journal_files_first(h->files);
		a->last = journal_files_last(h->files);
	}
	return a;
}

static void send_answer(const struct helper *h)
{
	if (!h->ended)
		send(h->fd, &h->answer, journal_answer_size(&h->answer), MSG_NOSIGNAL);
}

/* --- opening --- */

static void try_later(struct helper *h)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0; /* the jitter is a nicety */
	h->retry_ns = clock_now_ns() + backoff_next(&h->backoff, random);
}

bool journal_helper_boot(char ret[JOURNAL_BOOT])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	ret[0] = '\0';
	if (f && fscanf(f, "%36[0-9a-f-]", ret) != 1)
		ret[0] = '\0';
	if (f)
		fclose(f);
	return ret[0] != '\0';
}

static int open_files(struct helper *h)
{
	struct journal_answer *a = &h->answer;
	uint64_t until = clock_now_ns() + PREDECESSOR_NS;
	int r;

	name_copy(h->fresh.id, sizeof(h->fresh.id), journal_id(h->journal));
	journal_helper_boot(h->fresh.boot);
	do {
		r = journal_files_open(&h->files, h->where.path, h->where.size, &h->fresh, a->words,
				       sizeof(a->words));
	} while (r == -EWOULDBLOCK && clock_now_ns() < until &&
		 poll(NULL, 0, PREDECESSOR_STEP_MS) == 0);
	return r;
}

static void open_now(struct helper *h)
{
	struct journal_answer *a = begin(h, JOURNAL_OPENED);
	int r = open_files(h);

	a->error = r;
	h->keeps = false;
	h->retry_ns = 0;
	if (r < 0) {
		h->files = NULL;
		try_later(h);
	} else {
		a->first = journal_files_first(h->files);
		a->last = journal_files_last(h->files);
		a->whole = journal_files_whole(h->files);
		a->head = *journal_files_head(h->files);
		name_copy(a->numbering, sizeof(a->numbering), journal_files_id(h->files));
	}
	send_answer(h);
}

/* --- keeping --- */

/* What was written may not all be on the disk: what is in memory still is written again from there
 * on, once the files can be opened. */
static void fail(struct helper *h, int error, const char *words)
{
	journal_files_close(h->files);
	h->files = NULL;
	begin(h, JOURNAL_STATE);
	h->answer.error = error;
	name_copy(h->answer.words, sizeof(h->answer.words), words);
	send_answer(h);
	try_later(h);
}

/* Numbers that memory has forgotten before they were kept. */
static void count_lost(struct helper *h, uint64_t seq)
{
	uint64_t base = journal_base(h->journal);
	uint64_t known = h->kept > base ? h->kept : base;

	if (seq > known + 1)
		h->lost += seq - known - 1;
}

static void keep(struct helper *h)
{
	struct journal_event e;
	char words[JOURNAL_FILES_ERROR];
	uint64_t before = h->kept;

	while (h->keeps && h->files && journal_copy_after(h->journal, h->kept, &e)) {
		int r = journal_files_append(h->files, &e, words, sizeof(words));

		if (r < 0) {
			fail(h, r, words);
			return;
		}
		count_lost(h, e.seq);
		h->kept = e.seq;
	}
	if (h->kept == before)
		return;
	backoff_lived(&h->backoff, BACKOFF_RESET_NS);
	if (!h->sync_ns)
		h->sync_ns = clock_now_ns() + SYNC_NS;
	begin(h, JOURNAL_STATE);
	send_answer(h);
}

static void sync_now(struct helper *h)
{
	int r = h->files ? journal_files_sync(h->files) : 0;

	h->sync_ns = 0;
	if (r < 0)
		fail(h, r, strerror(-r));
}

/* --- questions --- */

static void read_events(struct helper *h, const struct journal_question *q)
{
	struct journal_answer *a = begin(h, JOURNAL_EVENTS);

	a->id = q->id;
	if (h->files)
		a->n = (uint32_t)journal_files_page(h->files, q->seq, a->events, JOURNAL_PAGE);
	else
		a->error = -ENOENT;
	send_answer(h);
}

static void serve(struct helper *h, const struct journal_question *q)
{
	switch ((enum journal_question_type)q->type) {
	case JOURNAL_OPEN:
		h->where = *q;
		open_now(h);
		break;
	case JOURNAL_KEEP:
		h->kept = q->seq;
		h->keeps = true;
		break;
	case JOURNAL_LOOK:
		break;
	case JOURNAL_READ:
		read_events(h, q);
		break;
	}
}

/* Every packet that is there: looks that piled up are one look. */
static void receive(struct helper *h)
{
	struct journal_question q;
	ssize_t n;

	while ((n = recv(h->fd, &q, sizeof(q), MSG_DONTWAIT)) > 0)
		if (journal_question_check(&q, (size_t)n))
			serve(h, &q);
	h->ended |= n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static int wait_ms(const struct helper *h)
{
	uint64_t at = h->retry_ns, now = clock_now_ns();

	if (h->sync_ns && (!at || h->sync_ns < at))
		at = h->sync_ns;
	if (!at)
		return -1;
	return at <= now ? 0 : (int)((at - now) / NSEC_PER_MSEC) + 1;
}

static void turn(struct helper *h)
{
	struct pollfd p = {.fd = h->fd, .events = POLLIN};
	uint64_t now;

	if (poll(&p, 1, wait_ms(h)) > 0)
		receive(h);
	now = clock_now_ns();
	if (h->retry_ns && now >= h->retry_ns && !h->ended)
		open_now(h);
	keep(h);
	if (h->sync_ns && now >= h->sync_ns)
		sync_now(h);
}

/* It outlives main for the moment that it needs: main may have been killed. */
int journal_helper_main(int fd)
{
	struct helper *h = calloc(1, sizeof(*h));

	prctl(PR_SET_NAME, "pingmesh-events");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* of a terminal, whose main says when it is over */
	if (!h)
		return 1;
	h->fd = fd;
	h->journal = mmap(NULL, journal_size(), PROT_READ, MAP_SHARED, fd + 1, 0);
	if (h->journal == MAP_FAILED)
		return 1;
	while (!h->ended)
		turn(h);
	if (h->files)
		journal_files_sync(h->files);
	journal_files_close(h->files);
	free(h);
	return 0;
}
