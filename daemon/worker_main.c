/* rdma-pingmesh-worker: measures on one device. Started by rdma-pingmeshd alone, as
 * `rdma-pingmeshd --worker SOCKET_FD TABLE_FD [DEVICE]`; the last is for readers of process lists.
 *
 * A program of its own: it has no HTTP and no TLS in it, and main has no verbs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/log.h"
#include "probes/sandbox.h"
#include "probes/worker.h"

static int fd_argument(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	return end == text || *end != '\0' || fd < 0 || fd > 1 << 20 ? -1 : (int)fd;
}

int main(int argc, char **argv)
{
	int socket_fd, table_fd, r;

	prctl(PR_SET_NAME, "worker"); /* it was executed by number */
	if (argc != 4 && argc != 5) {
		fputs("rdma-pingmesh-worker: rdma-pingmeshd starts this, nobody else\n", stderr);
		return WORKER_EXIT_SETUP;
	}
	socket_fd = fd_argument(argv[2]);
	table_fd = fd_argument(argv[3]);
	if (strcmp(argv[1], "--worker") != 0 || socket_fd < 0 || table_fd < 0)
		return WORKER_EXIT_SETUP;
	r = sandbox_enter();
	if (r < 0)
		log_warn("worker: not confined by a system call filter of its own: %s",
			 strerror(-r));
	return worker_main(socket_fd, table_fd);
}
