/* The command line of rdma-pingmesh. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_URL_DEFAULT "http://127.0.0.1:10479"
#define CLI_URL_MAX 512

struct cli_options {
	const char *command;   /* NULL: none was given */
	const char *surplus;   /* a word after it, which no command takes yet; NULL: none */
	char url[CLI_URL_MAX]; /* without a slash at its end */
	bool json, help, version;
	bool follow;	/* events */
	uint64_t since; /* events: after this sequence number */
};

/* False with a message in err. Strings point into argv. */
bool cli_options_parse(struct cli_options *o, int argc, char **argv, char *err, size_t errlen);
