/* rdma-pingmeshd: the daemon. Its workers are rdma-pingmesh-worker. */
#include <stdio.h>

#include "daemon/check.h"
#include "daemon/daemon.h"
#include "daemon/options.h"

static int run(const struct options *options)
{
	switch (options->action) {
	case OPTIONS_RUN:
		return daemon_run(options, NULL);
	case OPTIONS_CHECK_CONFIG:
		return check_config(options);
	case OPTIONS_PRINT_CONFIG:
		return print_config(options);
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

	if (options_parse(&options, argc, argv, err, sizeof(err)) < 0) {
		fprintf(stderr, "rdma-pingmeshd: %s\n", err);
		return OPTIONS_USAGE;
	}
	return run(&options);
}
