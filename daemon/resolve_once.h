/* Looks up host names for a program that does one thing and ends: by threads, with a limit for all
 * of them together. The daemon itself has a helper process for it. */
#pragma once
#include "daemon/lookups.h"

/* Every name of l is asked for once; failed is told of those that have no address, and the ones
 * that are not answered within 20 s are left as they are. Once a process. 0 or -errno. */
int resolve_once(struct lookups *l, void (*failed)(void *arg, const char *name, const char *why),
		 void *arg);
