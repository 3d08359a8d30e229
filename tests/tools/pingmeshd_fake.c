/* The real daemon with a stand-in for its workers:
 *   pingmeshd_fake WORKER_PROGRAM probe|count [options of rdma-pingmeshd]
 * probe: a tree given by --sysfs-root shows devices that can be probed; count: as in earnest. */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon.h"

int main(int argc, char **argv)
{
	struct options options;
	char err[256];

	if (argc < 3)
		return OPTIONS_USAGE;
	if (options_parse(&options, argc - 2, argv + 2, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return OPTIONS_USAGE;
	}
	if (strcmp(argv[2], "probe") == 0)
		options.sysfs_only = false;
	return daemon_run(&options, argv[1]);
}
