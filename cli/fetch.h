/* One answer of the daemon's HTTP API. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/access.h"
#include "core/strbuf.h"

#define FETCH_BODY_MAX ((size_t)64 * 1024 * 1024)
#define FETCH_TIMEOUT_MS 5000L
#define FETCH_ERROR_MAX 512

struct answer {
	struct strbuf body; /* as it came */
	json_t *json;	    /* an object with "schema": 1 */
};

/* GET url + path. False with a message for people in err: not reachable, no answer in time, not
 * 200, too long, or not what this API answers. The caller answer_free()s in either case. */
bool fetch(const char *url, const struct access *how, const char *path, struct answer *ret,
	   char err[FETCH_ERROR_MAX]);
void answer_free(struct answer *a);
