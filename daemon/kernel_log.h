/* The kernel's log, followed for sentences by which drivers say that their NIC takes no commands
 * any more ([counters] kernel_log). Read by main, a few records a turn; nothing is ever written. */
#pragma once
#include "core/loop.h"
#include "probes/facts.h"

#define KERNEL_LOG_PATH "/dev/kmsg"
/* So long after the last sentence the NIC counts as stuck: those that stay so repeat it sooner. */
#define KERNEL_LOG_STANDS_NS 600000000000ULL

struct kernel_log;

/* From the beginning of what the kernel still has. NULL with errno (EPERM, EACCES: CAP_SYSLOG or
 * kernel.dmesg_restrict=0 is needed). */
struct kernel_log *kernel_log_open(struct loop *loop, const char *path);
void kernel_log_close(struct kernel_log *k); /* NULL is fine */
/* Puts what is known into the facts of a device, by its PCI address: somebody looks, and since when
 * its firmware is stuck unless the facts say so already. k may be NULL: nobody does. */
void kernel_log_tell(const struct kernel_log *k, struct device_fact *f, uint64_t now_ns,
		     uint64_t now_wall_ns);
