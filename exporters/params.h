/* Parameters of list requests: what is not understood is refused by name, for a mistyped filter
 * that is ignored shows the wrong rows as if they were the right ones. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "exporters/request.h"
#include "health/verdict.h"
#include "probes/facts.h"

/* The key of a session: where a list of peers goes on. */
struct session_key {
	char peer[FACT_NAME], rail[FACT_NAME], peer_rail[FACT_NAME], class_name[FACT_NAME];
};

struct list_params {
	char peer[FACT_NAME]; /* "": any */
	char rail[FACT_NAME];
	bool has_verdict;
	enum verdict verdict;
	uint64_t limit; /* 0: all */
	bool has_cursor;
	struct session_key cursor;		 /* rows after this one */
	uint64_t since;				 /* events after this number */
	uint64_t last;				 /* of the last so many numbers; 0: all */
	uint64_t max_age_ns;			 /* no older than that; 0: any */
	char device[FACT_NAME], kind[FACT_NAME]; /* of events; "": any */
	bool fail_on_degraded;
};

/* Sets of parameters that a path understands. */
#define PARAM_PEER (1u << 0)
#define PARAM_RAIL (1u << 1)
#define PARAM_VERDICT (1u << 2)
#define PARAM_LIMIT (1u << 3)
#define PARAM_CURSOR (1u << 4)
#define PARAM_SINCE (1u << 5)
#define PARAM_FAIL_ON (1u << 6)
#define PARAMS_PEERS (PARAM_PEER | PARAM_RAIL | PARAM_VERDICT | PARAM_LIMIT | PARAM_CURSOR)
#define PARAM_LAST (1u << 7)
#define PARAM_MAX_AGE (1u << 8)
#define PARAM_DEVICE (1u << 9)
#define PARAM_KIND (1u << 10)
#define PARAMS_EVENTS                                                                              \
	(PARAM_SINCE | PARAM_LIMIT | PARAM_LAST | PARAM_MAX_AGE | PARAM_DEVICE | PARAM_RAIL |      \
	 PARAM_PEER | PARAM_KIND)

/* 0, or -EINVAL with a message that names the parameter. */
int params_parse(const struct http_request *req, unsigned allowed, struct list_params *ret,
		 char *err, size_t errlen);

/* Cursors are opaque to clients: the key in hex, so that nothing in it needs escaping in a URL. */
#define CURSOR_TEXT_SIZE (2 * 4 * FACT_NAME + 1)
void cursor_format(const struct session_key *key, char ret[CURSOR_TEXT_SIZE]);
bool cursor_parse(const char *text, struct session_key *ret);
