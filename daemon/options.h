/* The command line of rdma-pingmeshd. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OPTIONS_USAGE 64 /* exit status of a wrong command line (EX_USAGE) */
#define OPTIONS_SETS_MAX 256
#define OPTIONS_SYSFS_ROOT 256 /* with its NUL, as struct worker_config holds it */

enum options_action {
	OPTIONS_RUN,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_PRINT_CONFIG,
	OPTIONS_PRINT_PLAN,
	OPTIONS_VERSION,
	OPTIONS_HELP,
};

/* Pointers are into argv. */
struct options {
	enum options_action action;
	const char *config;
	const char *control; /* path of the control socket */
	const char *state;   /* directory for the journal; "": none */
	/* Absolute, without a slash at its end unless it is "/"; "/sys" by default. */
	char sysfs_root[OPTIONS_SYSFS_ROOT];
	bool sysfs_only; /* another root than /sys: no device, rdma_cm or netlink is opened */
	const char *sets[OPTIONS_SETS_MAX];
	size_t n_sets;
};

/* 0; or -EINVAL with a message in err: print it and exit with OPTIONS_USAGE. */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);
void options_help(FILE *out);
