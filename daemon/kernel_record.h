/* Records of /dev/kmsg, and which of them say that a NIC takes no commands any more. Whoever may
 * write to that device can write records too, but never as the kernel. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "probes/facts.h"

#define KERNEL_RECORD_MAX 8192 /* CONSOLE_EXT_LOG_MAX of the kernel */

struct kernel_alarm {
	char pci_address[32];
	uint64_t boot_ns;     /* when it was written, by the kernel's clock of the log */
	char text[FACT_TEXT]; /* the sentence, printable */
};

/* record: what one read() gave. False: it says no such thing, or is no record; ret is nothing then.
 */
bool kernel_record_alarm(const char *record, size_t len, struct kernel_alarm *ret);
