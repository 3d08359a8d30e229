/* What stands in probes/control_priv.h and rail_priv.h of a process: its threads' bodies. */
#pragma once
#include "process.h"

void worker_parts_make(struct process *p);
void worker_parts_free(struct process *p);
bool worker_rail_readable(const struct process *p);
bool worker_control_readable(const struct process *p);
/* One round each as rail_run() and control_run() have them; when it wants to run again. */
uint64_t worker_rail_step(struct process *p);
uint64_t worker_control_step(struct process *p, int *ret_code); /* code < 0: goes on */
