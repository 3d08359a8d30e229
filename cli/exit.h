/* Exit codes of rdma-pingmesh (CONTRACT: programs). */
#pragma once

enum cli_exit {
	CLI_OK = 0,
	CLI_DEGRADED = 1, /* or unknown */
	CLI_FAILING = 2,
	CLI_UNREACHABLE = 3, /* no answer, or none that can be used */
	CLI_USAGE = 64,
};
