/* For daemon/config*.c alone: what the parsers of single keys share with config_load(). */
#pragma once
#include "daemon/config.h"

/* The target of the key table; a struct config to those who only print. */
struct config_loading {
	struct config config; /* first: the table's offsets are into it */
	bool from_command_line;
	/* A list of the files that the command line has replaced. */
	bool listen_replaced, exclude_replaced, peers_replaced;
};

/* A peer line, see config.h. */
int config_parse_peer(void *target, const char *instance, const char *value, char *err,
		      size_t errlen);
void config_print_peers(const void *target, const char *instance, struct strbuf *out);
