/* Computes hashes of passwords in a thread of its own: each takes as long as whoever made the hash
 * has chosen, a tenth of a second and more, and main's loop must not stand still for it. The thread
 * knows what it is given by value, and nothing else of the program. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "exporters/credentials.h"
#include "exporters/users.h"

#define CHECKER_MAX                                                                                \
	8 /* checks in it, until their results were taken: few, so that who waits in               \
	   * a flood still has an answer before a client's patience ends */

struct checker;
struct loop;

#define CHECKER_LEAVE_NS 500000000ULL

struct check {
	unsigned tag; /* the caller's */
	char password[CREDENTIALS_PASSWORD_MAX + 1];
	char hash[USERS_HASH_MAX + 1];
};

typedef void (*checker_done_fn)(void *arg, unsigned tag, bool matches);

/* done is called in the loop's thread. NULL with errno. */
struct checker *checker_new(struct loop *loop, checker_done_fn done, void *arg);
/* What is in it is dropped. Waits for a check in progress CHECKER_LEAVE_NS at most. NULL is fine.
 */
void checker_free(struct checker *c);
/* Copies the check. False when it is full. */
bool checker_submit(struct checker *c, const struct check *check);
