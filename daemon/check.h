/* --check-config and --print-config: load, tell, and do nothing else. */
#pragma once

struct config;
struct options;
struct peer_source;

#define CHECK_EXIT_BAD 78 /* EX_CONFIG */

/* Both, with all remarks on stderr: 0, and then both are to be freed; or -errno. */
int check_load(const struct options *options, struct config *ret, struct peer_source *ret_peers,
	       unsigned *ret_unknown);
/* The exit status. Remarks go to stderr as "FILE:LINE: message"; unknown keys and bad
 * targets of the peer file fail here. */
int check_config(const struct options *options);
/* The effective configuration, a loadable file, on stdout. */
int print_config(const struct options *options);
