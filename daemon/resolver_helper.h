/* The process that looks up host names, so that a name server that does not answer holds up
 * nobody: the same program as main, started as `--resolver FD`. */
#pragma once
#include "daemon/resolver_wire.h"

#define RESOLVER_THREADS 8 /* names that do not answer hold up one each */

/* Answers questions from the socket until its other end is closed; the exit status. */
int resolver_helper_main(int fd);
/* One look-up, as long as it takes. */
void resolver_look_up(const char *name, struct resolver_answer *ret);
