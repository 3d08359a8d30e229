#include "daemon/journal_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"

#define CHUNK 65536
#define MARK_BYTES 65536	  /* so far apart at least stand the marks of a file */
#define SEQ_STEP_MAX (1ULL << 32) /* a number further above the last is damage */
#define FILE_MODE 0640

/* Where in a file an event stands. */
struct mark {
	uint64_t seq;
	off_t at;
};

struct generation {
	int fd;	    /* -1: there is none */
	off_t size; /* bytes */
	uint64_t first, last;
	struct mark *marks;
	size_t n_marks;
};

struct journal_files {
	int dir;
	uint64_t size; /* bytes of one generation */
	char id[JOURNAL_ID];
	struct journal_head fresh, found;
	struct generation generations[JOURNAL_FILES]; /* [0]: the present one */
	uint64_t last;				      /* never given again */
	bool torn; /* the present file does not end with a newline */
	struct strbuf line;
};

/* --- lines of a file --- */

struct lines {
	int fd;
	off_t at;	  /* of data[from] in the file */
	size_t from, len; /* unread: data[from..len) */
	int error;	  /* -errno that ended it; 0: its end did */
	char data[CHUNK];
};

/* False: nothing more can be read. */
static bool refill(struct lines *l)
{
	ssize_t n;

	memmove(l->data, l->data + l->from, l->len - l->from);
	l->len -= l->from;
	l->from = 0;
	do
		n = pread(l->fd, l->data + l->len, sizeof(l->data) - l->len, l->at + (off_t)l->len);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		l->len += (size_t)n;
	l->error = n < 0 ? -errno : 0;
	return n > 0;
}

/* The next line without its newline; of one that is longer than the buffer, piece by piece. The
 * last may lack its newline: *ret_torn. */
static const char *next_line(struct lines *l, size_t *ret_len, off_t *ret_at, bool *ret_torn)
{
	const char *newline = memchr(l->data + l->from, '\n', l->len - l->from);
	const char *line;

	if (!newline && l->len - l->from < JOURNAL_LINE_MAX * 2 && refill(l))
		newline = memchr(l->data + l->from, '\n', l->len - l->from);
	line = l->data + l->from;
	*ret_at = l->at;
	*ret_len = newline ? (size_t)(newline - line) : l->len - l->from;
	if (!newline && *ret_len == 0)
		return NULL;
	*ret_torn = !newline;
	l->from += *ret_len + (newline != NULL);
	l->at += (off_t)(*ret_len + (newline != NULL));
	return line;
}

/* --- what is in a file --- */

static void mark(struct generation *g, uint64_t seq, off_t at)
{
	struct mark *marks;

	if (g->n_marks && at - g->marks[g->n_marks - 1].at < MARK_BYTES)
		return;
	marks = reallocarray(g->marks, g->n_marks + 1, sizeof(*marks));
	/* Without it reading begins further up. */
	if (!marks)
		return;
	g->marks = marks;
	g->marks[g->n_marks++] = (struct mark){seq, at};
}

static bool seq_plausible(uint64_t seq, uint64_t last)
{
	return seq > last && (!last || seq - last < SEQ_STEP_MAX);
}

static void note(struct generation *g, uint64_t seq, off_t at)
{
	if (!g->first)
		g->first = seq;
	g->last = seq;
	mark(g, seq, at);
}

/* Oldest file first. A torn line's number was given to an event that somebody may have seen. */
static int scan(struct journal_files *f, struct generation *g)
{
	struct lines *l = calloc(1, sizeof(*l));
	struct journal_head head;
	const char *line;
	bool torn = false;
	size_t len;
	off_t at;
	int r;

	if (!l)
		return -ENOMEM;
	l->fd = g->fd;
	while ((line = next_line(l, &len, &at, &torn))) {
		uint64_t seq = journal_line_seq(line, len);

		if (seq && seq_plausible(seq, f->last)) {
			f->last = seq;
			if (!torn)
				note(g, seq, at);
		} else if (journal_line_parse_head(line, len, &head)) {
			f->found = head;
		}
	}
	f->torn = torn;
	g->size = l->at;
	r = l->error;
	free(l);
	return r;
}

/* --- opening --- */

static void file_name(unsigned generation, char ret[32])
{
	if (generation == 0)
		snprintf(ret, 32, "events.jsonl");
	else
		snprintf(ret, 32, "events.%u.jsonl", generation);
}

static int refuse(int error, char *err, size_t errlen, const char *what)
{
	snprintf(err, errlen, "%s: %s", what, strerror(-error));
	return error;
}

static void forget(struct generation *g)
{
	if (g->fd >= 0)
		close(g->fd);
	free(g->marks);
	*g = (struct generation){.fd = -1};
}

/* Whatever stands there under that name: what is no plain file is not touched, and cannot hold us
 * up. */
static int open_plain(int dir, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			FILE_MODE);
	int error = 0;

	if (fd < 0)
		return errno == ELOOP ? -EISNAM : -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EISNAM;
	if (error)
		close(fd);
	return error ? error : fd;
}

static int open_present(struct journal_files *f, char *err, size_t errlen)
{
	char name[32];
	int fd;

	file_name(0, name);
	fd = open_plain(f->dir, name, O_RDWR | O_APPEND | O_CREAT);
	if (fd == -EISNAM || fd == -EISDIR) {
		snprintf(err, errlen, "%s is no plain file: move it away", name);
		return -EISNAM;
	}
	if (fd < 0)
		return refuse(fd, err, errlen, name);
	f->generations[0].fd = fd;
	return 0;
}

/* An older one that cannot be read is missed when somebody asks for it, no more. */
static void open_older(struct journal_files *f)
{
	for (unsigned i = JOURNAL_FILES - 1; i > 0; i--) {
		char name[32];
		int fd;

		file_name(i, name);
		fd = open_plain(f->dir, name, O_RDONLY);
		if (fd < 0)
			continue;
		f->generations[i].fd = fd;
		scan(f, &f->generations[i]);
	}
}

static int open_dir(struct journal_files *f, const char *dir, char *err, size_t errlen)
{
	f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return refuse(-errno, err, errlen, dir);
	if (flock(f->dir, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return refuse(-errno, err, errlen, "cannot lock the directory");
	snprintf(err, errlen, "another daemon keeps its events there");
	return -EWOULDBLOCK;
}

/* All of it, or -errno; what was written of it before a failure stays and is torn. */
static int write_line(struct journal_files *f)
{
	struct generation *g = &f->generations[0];
	ssize_t n;

	if (strbuf_failed(&f->line))
		return -ENOMEM;
	do
		n = write(g->fd, f->line.data, f->line.len);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		g->size += n;
		f->torn = f->line.data[n - 1] != '\n';
	}
	if (n < 0)
		return -errno;
	return (size_t)n == f->line.len ? 0 : -ENOSPC;
}

static void begin_line(struct journal_files *f)
{
	strbuf_reset(&f->line);
	if (f->torn)
		strbuf_putc(&f->line, '\n');
}

static int write_head(struct journal_files *f)
{
	struct journal_head head = f->fresh;

	name_copy(head.id, sizeof(head.id), f->id);
	begin_line(f);
	journal_line_put_head(&f->line, &head, clock_wall_ns());
	return write_line(f);
}

static int open_all(struct journal_files *f, const char *dir, char *err, size_t errlen)
{
	int r = open_dir(f, dir, err, errlen);

	if (r < 0)
		return r;
	open_older(f);
	r = open_present(f, err, errlen);
	if (r < 0)
		return r;
	/* Of one that cannot be read to its end, the last number is not known. */
	r = scan(f, &f->generations[0]);
	if (r < 0)
		return refuse(r, err, errlen, "events.jsonl");
	name_copy(f->id, sizeof(f->id), f->found.id[0] ? f->found.id : f->fresh.id);
	r = write_head(f);
	return r < 0 ? refuse(r, err, errlen, "events.jsonl") : 0;
}

int journal_files_open(struct journal_files **ret, const char *dir, uint64_t size,
		       const struct journal_head *fresh, char *err, size_t errlen)
{
	struct journal_files *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return refuse(-ENOMEM, err, errlen, dir);
	f->dir = -1;
	f->size = size / JOURNAL_FILES;
	f->fresh = *fresh;
	for (unsigned i = 0; i < JOURNAL_FILES; i++)
		f->generations[i].fd = -1;
	r = open_all(f, dir, err, errlen);
	if (r < 0)
		journal_files_close(f);
	else
		*ret = f;
	return r;
}

void journal_files_close(struct journal_files *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < JOURNAL_FILES; i++)
		forget(&f->generations[i]);
	if (f->dir >= 0)
		close(f->dir);
	strbuf_free(&f->line);
	free(f);
}

/* --- writing --- */

static int rename_all(const struct journal_files *f)
{
	char from[32], to[32];

	for (unsigned i = JOURNAL_FILES - 1; i > 0; i--) {
		file_name(i - 1, from);
		file_name(i, to);
		if (renameat(f->dir, from, f->dir, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

static int rotate(struct journal_files *f, char *err, size_t errlen)
{
	int r = rename_all(f);

	if (r < 0)
		return refuse(r, err, errlen, "cannot rename its files");
	forget(&f->generations[JOURNAL_FILES - 1]);
	memmove(&f->generations[1], &f->generations[0],
		(JOURNAL_FILES - 1) * sizeof(f->generations[0]));
	f->generations[0] = (struct generation){.fd = -1};
	f->torn = false;
	r = open_present(f, err, errlen);
	if (r < 0)
		return r;
	r = write_head(f);
	return r < 0 ? refuse(r, err, errlen, "events.jsonl") : 0;
}

/* Somebody removed it: what we wrote would go with it. */
static bool is_removed(const struct generation *g)
{
	struct stat st;

	return fstat(g->fd, &st) < 0 || st.st_nlink == 0;
}

int journal_files_append(struct journal_files *f, const struct journal_event *e, char *err,
			 size_t errlen)
{
	struct generation *g = &f->generations[0];
	bool torn;
	off_t at;
	int r = 0;

	if (is_removed(g)) {
		snprintf(err, errlen, "events.jsonl was removed");
		return -ENOENT;
	}
	if (g->first && (uint64_t)g->size >= f->size)
		r = rotate(f, err, errlen);
	if (r < 0)
		return r;
	torn = f->torn;
	at = g->size + torn;
	begin_line(f);
	journal_line_put(&f->line, e);
	r = write_line(f);
	if (r < 0)
		return refuse(r, err, errlen, "events.jsonl");
	f->last = e->seq;
	note(g, e->seq, at);
	return 0;
}

int journal_files_sync(struct journal_files *f)
{
	return fdatasync(f->generations[0].fd) < 0 ? -errno : 0;
}

/* --- reading --- */

static off_t begin_at(const struct generation *g, uint64_t after)
{
	off_t at = 0;

	for (size_t i = 0; i < g->n_marks && g->marks[i].seq <= after; i++)
		at = g->marks[i].at;
	return at;
}

static size_t read_page(const struct generation *g, struct lines *l, uint64_t after,
			struct journal_event *ret, size_t max)
{
	const char *line;
	size_t n = 0, len;
	bool torn;
	off_t at;

	l->fd = g->fd;
	l->at = begin_at(g, after);
	l->from = l->len = 0;
	while (n < max && after < g->last && (line = next_line(l, &len, &at, &torn))) {
		if (!journal_line_parse(line, len, &ret[n]) || ret[n].seq <= after ||
		    ret[n].seq > g->last)
			continue;
		after = ret[n++].seq;
	}
	return n;
}

size_t journal_files_page(struct journal_files *f, uint64_t after, struct journal_event *ret,
			  size_t max)
{
	struct lines *l = calloc(1, sizeof(*l));
	size_t n = 0;

	for (unsigned i = JOURNAL_FILES; l && n < max && i-- > 0;) {
		const struct generation *g = &f->generations[i];

		if (g->fd < 0 || g->last <= after)
			continue;
		n += read_page(g, l, after, ret + n, max - n);
		if (n)
			after = ret[n - 1].seq;
	}
	free(l);
	return n;
}

const struct journal_head *journal_files_head(const struct journal_files *f)
{
	return &f->found;
}

const char *journal_files_id(const struct journal_files *f)
{
	return f->id;
}

uint64_t journal_files_first(const struct journal_files *f)
{
	for (unsigned i = JOURNAL_FILES; i-- > 0;)
		if (f->generations[i].first)
			return f->generations[i].first;
	return 0;
}

uint64_t journal_files_last(const struct journal_files *f)
{
	return f->last;
}

uint64_t journal_files_whole(const struct journal_files *f)
{
	for (unsigned i = 0; i < JOURNAL_FILES; i++)
		if (f->generations[i].first)
			return f->generations[i].last;
	return 0;
}
