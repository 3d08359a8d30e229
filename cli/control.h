/* The daemon's control socket: one request, one answer. */
#pragma once
#include <jansson.h>
#include <stdbool.h>

#define CONTROL_ERROR_MAX 512
#define CONTROL_TIMEOUT_S 30 /* the daemon answers within 10 s */

/* Ask; the answer is an object with "schema": 1, to be freed by the caller. NULL with a message for
 * people in err. */
json_t *control_ask(const char *path, const char *request, char err[CONTROL_ERROR_MAX]);
