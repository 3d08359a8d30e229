/* rdma-pingmeshd: the daemon, and in another process of the same program, its worker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/check.h"
#include "daemon/daemon.h"
#include "daemon/options.h"
#include "probes/worker.h"

/* rdma-pingmeshd --worker SOCKET_FD TABLE_FD [DEVICE]; the last is for readers of process lists. */
static int run_worker(int argc, char **argv)
{
	char *end[2];
	long fds[2];

	if (argc != 4 && argc != 5)
		return WORKER_EXIT_SETUP;
	for (int i = 0; i < 2; i++) {
		fds[i] = strtol(argv[2 + i], &end[i], 10);
		if (end[i] == argv[2 + i] || *end[i] != '\0' || fds[i] < 0 || fds[i] > 1 << 20)
			return WORKER_EXIT_SETUP;
	}
	return worker_main((int)fds[0], (int)fds[1]);
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

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return run_worker(argc, argv);
	if (options_parse(&options, argc, argv, err, sizeof(err)) < 0) {
		fprintf(stderr, "rdma-pingmeshd: %s\n", err);
		return OPTIONS_USAGE;
	}
	return run(&options);
}
