/* What a worker gives up before it opens a device: it never starts a program or a process, never
 * waits for connections of its own (rdma_cm listens by its own device file), makes, changes or
 * removes no file, signals nobody. The kernel answers EPERM then.
 *
 * A list of what is refused, not of what is allowed: providers of NICs nobody here has seen may
 * call what ours do not. The unit's own list of allowed calls holds besides. */
#pragma once

/* For the process and all threads that it starts from now on. 0 or -errno: nothing is given up. */
int sandbox_enter(void);
