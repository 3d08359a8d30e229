/* The command line of rdma-pingmesh. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "cli/access.h"

#define CLI_URL_DEFAULT "http://127.0.0.1:10479"
#define CLI_URL_MAX 512
#define CLI_CONTROL_DEFAULT "/run/rdma-pingmesh/control"

struct cli_options {
	const char *command;   /* NULL: none was given */
	const char *argument;  /* the word after it; NULL: none */
	const char *surplus;   /* and one more, which no command takes */
	const char *control;   /* path of the control socket */
	char url[CLI_URL_MAX]; /* without a slash at its end */
	struct access access;
	bool json, help, version;
	bool follow;	   /* events */
	uint64_t since;	   /* events: after this sequence number */
	const char *newer; /* events: no older than this duration; NULL: any */
};

/* False with a message in err. Strings point into argv and the environment, whose
 * RDMA_PINGMESH_URL, RDMA_PINGMESH_CONTROL and those of cli/access.h take the place of the
 * defaults. */
bool cli_options_parse(struct cli_options *o, int argc, char **argv, char *err, size_t errlen);
