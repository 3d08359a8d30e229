/* The counter thread's work: what a device tells of itself in sysfs, as one round of facts.
 * Reads only; never writes, never resets. Each file and port fails alone. */
#pragma once
#include <stdatomic.h>
#include "probes/facts.h"

struct table;
struct counter_reader;

/* sysfs_root is "/sys" or the tree of --sysfs-root; device a name under class/infiniband.
 * Nothing is opened yet. NULL with errno. */
struct counter_reader *counter_reader_new(const char *sysfs_root, const char *device);
void counter_reader_free(struct counter_reader *r);
/* Read everything once into round (previous content is the last round of the same slot or older
 * and is overwritten). 0, or -ENODEV when the device's directory is gone. May block as long as
 * the driver likes. now_ns and wall_ns stamp the round. */
int counter_reader_run(struct counter_reader *r, struct counter_round *round, uint64_t now_ns,
		       uint64_t wall_ns);
