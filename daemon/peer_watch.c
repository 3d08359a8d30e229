#include "daemon/peer_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/names.h"

#define EVENTS                                                                                     \
	(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF)

/* The directory of the name, and that of the file behind its links. */
enum { OF_NAME, OF_FILE, DIRS };

struct peer_watch {
	void (*changed)(void *arg);
	void *arg;
	char path[PATH_MAX];
	int fd; /* -1: no inotify */
	int wd[DIRS];
	struct stat known; /* zeroed: not there */
	bool touched;	   /* an event named the file itself */
	bool settling;
	struct loop_source *io, *timer;
};

static void look(struct peer_watch *w, struct stat *ret)
{
	if (stat(w->path, ret) < 0)
		memset(ret, 0, sizeof(*ret));
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(&a->st_mtim, &b->st_mtim) && same_time(&a->st_ctim, &b->st_ctim);
}

/* --- which directories --- */

/* The kernel gives a directory that is watched already the number it has. */
static void watch_dir(struct peer_watch *w, int which, const char *file)
{
	char dir[PATH_MAX];
	const char *slash = file ? strrchr(file, '/') : NULL;
	int wd = -1;

	if (slash && name_copy(dir, sizeof(dir), file)) {
		dir[slash == file ? 1 : slash - file] = '\0';
		wd = inotify_add_watch(w->fd, dir, EVENTS | IN_ONLYDIR);
	}
	if (w->wd[which] >= 0 && w->wd[which] != wd && w->wd[!which] != w->wd[which])
		inotify_rm_watch(w->fd, w->wd[which]);
	w->wd[which] = wd;
}

/* Directories come and go too, and links lead elsewhere. */
static void watch(struct peer_watch *w)
{
	char *file;

	if (w->fd < 0)
		return;
	file = w->path[0] ? realpath(w->path, NULL) : NULL;
	watch_dir(w, OF_NAME, w->path[0] ? w->path : NULL);
	watch_dir(w, OF_FILE, file);
	free(file);
}

/* --- events --- */

static void check(struct peer_watch *w)
{
	struct stat now;
	bool touched = w->touched;

	w->touched = false;
	look(w, &now);
	if (same(&now, &w->known) && !touched)
		return;
	w->known = now;
	w->changed(w->arg);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	struct peer_watch *w = arg;

	w->settling = false;
	if (!w->path[0])
		return;
	loop_timer_arm(w->timer, now_ns + PEER_WATCH_LOOK_NS);
	watch(w);
	check(w);
}

/* Two writes of one size within a tick of the file system's clock look the same to stat(). */
static void note_events(struct peer_watch *w, const char *buffer, size_t len)
{
	const char *base = strrchr(w->path, '/');

	for (size_t at = 0; at + sizeof(struct inotify_event) <= len;) {
		const struct inotify_event *e = (const void *)(buffer + at);

		if (base && e->len && (e->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) &&
		    strcmp(e->name, base + 1) == 0)
			w->touched = true;
		at += sizeof(*e) + e->len;
	}
}

static void on_event(void *arg, int fd, uint32_t events)
{
	struct peer_watch *w = arg;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(fd, buffer, sizeof(buffer));

	(void)events;
	if (n > 0)
		note_events(w, buffer, (size_t)n);
	if (w->settling || !w->path[0])
		return;
	w->settling = true;
	loop_timer_arm(w->timer, clock_now_ns() + PEER_WATCH_SETTLE_NS);
}

/* --- life --- */

struct peer_watch *peer_watch_new(struct loop *loop, void (*changed)(void *arg), void *arg)
{
	struct peer_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->changed = changed;
	w->arg = arg;
	w->wd[OF_NAME] = w->wd[OF_FILE] = -1;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd >= 0)
		w->io = loop_add_io(loop, w->fd, EPOLLIN, on_event, w);
	w->timer = loop_add_timer(loop, on_timer, w);
	if (w->timer && (w->fd < 0 || w->io))
		return w;
	peer_watch_free(w);
	errno = ENOMEM;
	return NULL;
}

void peer_watch_free(struct peer_watch *w)
{
	if (!w)
		return;
	loop_source_free(w->io);
	loop_source_free(w->timer);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

void peer_watch_follow(struct peer_watch *w, const char *path)
{
	if (strcmp(w->path, path) == 0)
		return;
	name_copy(w->path, sizeof(w->path), path);
	/* Known as not there: what it is by the first look is news, for who reads it now may come a
	 * moment too early. */
	memset(&w->known, 0, sizeof(w->known));
	w->touched = w->settling = false;
	watch(w);
	if (path[0])
		loop_timer_arm(w->timer, clock_now_ns() + PEER_WATCH_LOOK_NS);
	else
		loop_timer_disarm(w->timer);
}
