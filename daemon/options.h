/* The command line of rdma-pingmeshd. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OPTIONS_USAGE 64 /* exit status of a wrong command line (EX_USAGE) */
#define OPTIONS_SETS_MAX 256

enum options_action {
	OPTIONS_RUN,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_PRINT_CONFIG,
	OPTIONS_VERSION,
	OPTIONS_HELP,
};

/* Strings point into argv. */
struct options {
	enum options_action action;
	const char *config;
	const char *sysfs_root; /* without a slash at its end unless it is "/"; "/sys" by default */
	bool sysfs_only; /* another root than /sys: no device, rdma_cm or netlink is opened */
	const char *sets[OPTIONS_SETS_MAX];
	size_t n_sets;
};

/* 0; or -EINVAL with a message in err: print it and exit with OPTIONS_USAGE. argv may be
 * changed: a slash at the end of --sysfs-root is cut. */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);
void options_help(FILE *out);
