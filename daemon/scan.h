/* Which RDMA devices there are: the names under class/infiniband, looked up every few seconds and
 * whenever the kernel tells of a change. Only names are read: an attribute may hang with its
 * device. */
#pragma once
#include "core/loop.h"
#include "probes/facts.h"

#define SCAN_INTERVAL_NS 5000000000ULL
#define SCAN_MAX 64 /* devices of a host; more are not looked at */

struct scan;

struct scan_result {
	size_t n;
	size_t beyond;			/* devices past SCAN_MAX */
	bool readable;			/* false: no such directory, or no permission; n is 0 */
	int error;			/* errno of that */
	char name[SCAN_MAX][FACT_NAME]; /* sorted */
};

struct scan_events {
	/* After each look. */
	void (*found)(void *arg, const struct scan_result *result);
	/* The kernel is taking this device away: who holds it open has to let go. */
	void (*leaving)(void *arg, const char *device);
};

/* sysfs_root is "/sys" or a tree that takes its place; only the former is watched for uevents.
 * NULL with errno. Looks first when told to. */
struct scan *scan_new(struct loop *loop, const char *sysfs_root, const struct scan_events *events,
		      void *arg);
void scan_free(struct scan *s);
void scan_now(struct scan *s);
/* Why uevents cannot be had, for one line in the log; NULL when they can or are not wanted. */
const char *scan_uevents_error(const struct scan *s);

/* One look; for tests. */
void scan_directory(const char *sysfs_root, struct scan_result *ret);
