/* rdma-pingmeshd: the daemon. Its workers are rdma-pingmesh-worker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/check.h"
#include "daemon/daemon.h"
#include "daemon/file_helper.h"
#include "daemon/journal_helper.h"
#include "daemon/options.h"
#include "daemon/print_plan.h"
#include "daemon/resolver_helper.h"

/* rdma-pingmeshd --resolver SOCKET_FD: the helper that looks up host names. */
static int run_helper(const char *text, int (*helper)(int fd))
{
	char *end;
	long fd = strtol(text, &end, 10);

	return end == text || *end || fd < 0 || fd > 1 << 20 ? OPTIONS_USAGE : helper((int)fd);
}

static int run(const struct options *options)
{
	switch (options->action) {
	case OPTIONS_RUN:
		return daemon_run(options, NULL);
	case OPTIONS_CHECK_CONFIG:
		return check_config(options);
	case OPTIONS_PRINT_CONFIG:
		return print_config(options);
	case OPTIONS_PRINT_PLAN:
		return print_plan(options);
	case OPTIONS_VERSION:
		puts("rdma-pingmeshd " RPM_VERSION);
		return 0;
	case OPTIONS_HELP:
		options_help(stdout);
		return 0;
	}
	return OPTIONS_USAGE;
}

int main(int argc, char **argv)
{
	struct options options;
	char err[256];

	if (argc == 3 && strcmp(argv[1], "--resolver") == 0)
		return run_helper(argv[2], resolver_helper_main);
	if (argc == 3 && strcmp(argv[1], "--file-helper") == 0)
		return run_helper(argv[2], file_helper_main);
	if (argc == 3 && strcmp(argv[1], "--journal-helper") == 0)
		return run_helper(argv[2], journal_helper_main);
	if (options_parse(&options, argc, argv, err, sizeof(err)) < 0) {
		fprintf(stderr, "rdma-pingmeshd: %s\n", err);
		return OPTIONS_USAGE;
	}
	return run(&options);
}
