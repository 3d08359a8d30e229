/* The counter thread's work: what a device tells of itself in sysfs, as one round of facts.
 * Reads only; never writes, never resets. Each file and port fails alone. */
#pragma once
#include "probes/facts.h"

/* A file that answered an error is asked again this many rounds later. */
#define COUNTER_RETRY_ROUNDS 12

struct counter_reader;

/* sysfs_root is "/sys" or the tree of --sysfs-root; device a name under class/infiniband.
 * Nothing is opened yet. NULL with errno. */
struct counter_reader *counter_reader_new(const char *sysfs_root, const char *device);
void counter_reader_free(struct counter_reader *r);
/* Read everything once into round (whatever is in it is overwritten, but for interval_ns, which
 * is the caller's). 0, or -ENODEV when the device's directory is gone: the round then is one
 * without ports, GIDs and values. May block as long as the driver likes. now_ns and wall_ns stamp
 * the round; state and rate are read when they are 5 s old (30 s where changes are told and the
 * last was a minute ago), GIDs and names when a minute. */
int counter_reader_run(struct counter_reader *r, struct counter_round *round, uint64_t now_ns,
		       uint64_t wall_ns);
/* Also read at most max statistics of each port's netdev, by asking the kernel for the netdev of
 * that name: for the /sys of this host alone. 0, as at first: none. Of the thread that runs the
 * rounds. */
void counter_reader_set_netdev_stats(struct counter_reader *r, uint32_t max);
/* Also ask netlink for optional counters and for devlink's view of the device's health: for the
 * /sys of this host alone, where names are those of the kernel that answers. Of the thread that
 * runs the rounds. */
void counter_reader_set_netlink(struct counter_reader *r, bool ask);
/* Changes of links are told by counter_reader_link(). Of the thread that runs the rounds. */
void counter_reader_set_told(struct counter_reader *r, bool told);
/* A netdev changed, or any may have (NULL): if it is one of a port, the next round reads state and
 * rate anew and looks which files there are; if one of a port is no more, its name is looked for.
 * true: the next round is worth being soon. Of the thread that runs the rounds. */
bool counter_reader_link(struct counter_reader *r, const char *netdev);
/* Something changed (an asynchronous event): the next round reads everything anew, also what
 * failed before. Of the thread that runs the rounds. */
void counter_reader_poke(struct counter_reader *r);
