/* --check-config and --print-config: load, tell, and do nothing else. */
#pragma once

struct options;

#define CHECK_EXIT_BAD 78 /* EX_CONFIG */

/* The exit status. Remarks go to stderr as "FILE:LINE: message"; unknown keys and bad
 * targets of the peer file fail here. */
int check_config(const struct options *options);
/* The effective configuration, a loadable file, on stdout. */
int print_config(const struct options *options);
