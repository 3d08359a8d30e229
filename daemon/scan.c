#include "daemon/scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/names.h"
#include "daemon/uevents.h"

#define SCAN_PATH_MAX 512

struct scan {
	char root[SCAN_PATH_MAX];
	const struct scan_events *events;
	void *arg;
	struct loop_source *timer;
	struct uevents *uevents;
	int uevents_error;
};

static int name_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Our own want says nothing about devices: whoever is there must not be taken for gone. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

void scan_directory(const char *sysfs_root, struct scan_result *ret)
{
	char path[SCAN_PATH_MAX + 32];
	struct dirent *entry;
	DIR *dir;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/class/infiniband", sysfs_root);
	dir = opendir(path);
	if (!dir) {
		ret->error = errno;
		return;
	}
	ret->readable = true;
	while ((entry = readdir(dir))) {
		/* Names become labels: an odd one is not a device of ours. */
		if (entry->d_name[0] == '.' || !name_valid(entry->d_name))
			continue;
		if (ret->n == SCAN_MAX)
			ret->beyond++;
		else
			name_copy(ret->name[ret->n++], FACT_NAME, entry->d_name);
	}
	closedir(dir);
	qsort(ret->name, ret->n, sizeof(ret->name[0]), name_cmp);
}

void scan_now(struct scan *s)
{
	struct scan_result result;

	loop_timer_arm(s->timer, clock_now_ns() + SCAN_INTERVAL_NS);
	scan_directory(s->root, &result);
	if (is_shortage(result.error))
		return;
	if (s->uevents)
		uevents_refresh(s->uevents);
	s->events->found(s->arg, &result);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	scan_now(arg);
}

static void on_changed(void *arg)
{
	scan_now(arg);
}

static void on_leaving(void *arg, const char *device)
{
	struct scan *s = arg;

	s->events->leaving(s->arg, device);
}

static const struct uevents_callbacks uevents_callbacks = {
	.changed = on_changed,
	.leaving = on_leaving,
};

struct scan *scan_new(struct loop *loop, const char *sysfs_root, const struct scan_events *events,
		      void *arg)
{
	struct scan *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->events = events;
	s->arg = arg;
	if (!name_copy(s->root, sizeof(s->root), sysfs_root)) {
		free(s);
		errno = ENAMETOOLONG;
		return NULL;
	}
	s->timer = loop_add_timer(loop, on_timer, s);
	if (!s->timer) {
		free(s);
		return NULL;
	}
	if (strcmp(sysfs_root, "/sys") == 0) {
		s->uevents = uevents_new(loop, &uevents_callbacks, s);
		s->uevents_error = s->uevents ? 0 : errno;
	}
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	uevents_free(s->uevents);
	loop_source_free(s->timer);
	free(s);
}

const char *scan_uevents_error(const struct scan *s)
{
	return s->uevents_error ? strerror(s->uevents_error) : NULL;
}
