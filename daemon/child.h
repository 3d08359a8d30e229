/* Another process of this program (or of the one that tests put in its place). Nothing is forked by
 * hand: the child begins afresh, with default signals and without the service manager's
 * variables, which are for main alone. */
#pragma once
#include <sys/types.h>

#define CHILD_FIRST_FD 3       /* what the child is given is at 3, 4, ... */
#define CHILD_FIRST_SAFE_FD 10 /* dup2() in the child overwrites no descriptor from here on */

/* fds (n of them) become the child's; each must come from child_lift_fd(). path NULL: this
 * program. 0 or -errno. */
int child_spawn(const char *path, char *const argv[], const int *fds, int n, pid_t *ret_pid);
/* A close-on-exec descriptor that is out of the way of the child's. Takes fd over; -1 with errno.
 */
int child_lift_fd(int fd);
