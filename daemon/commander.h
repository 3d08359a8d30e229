/* What the control socket is asked for: "reload", "release DEVICE", "acquire DEVICE". The answer is
 *   {"schema":1,"ok":true|false,"messages":["..."]}
 * and comes when it is known how it went: a released device is free then. */
#pragma once
#include <stdint.h>

#define COMMANDER_WAIT_NS 10000000000ULL /* then the answer says what is still missing */

struct commander;
struct daemon;

/* NULL with errno: no socket at path, and none of these commands. */
struct commander *commander_new(struct daemon *d, const char *path);
void commander_free(struct commander *c); /* NULL is fine */
/* A worker's state changed, or a second has passed. NULL is fine. */
void commander_check(struct commander *c, uint64_t now_ns);
