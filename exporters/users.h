/* Who may ask: the users of [http] auth_file with the hashes of their passwords. Immutable and
 * counted.
 *
 *	# a comment
 *	prometheus:$2y$10$...
 *
 * A hash is what crypt(5) makes and a guesser finds slow: yescrypt, gost-yescrypt, scrypt, bcrypt,
 * SHA-512 or SHA-256. `htpasswd -B`, `mkpasswd` and `openssl passwd -6` make them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define USERS_MAX 256
#define USERS_TEXT_MAX (256u << 10) /* bytes of the file */
#define USERS_HASH_MAX 383	    /* bytes; crypt(5) makes no longer ones */

struct users;

/* name stands for the file in messages. NULL with a message "name:line: ..." in err. */
struct users *users_parse(const char *name, const char *text, size_t len, char *err, size_t errlen);
struct users *users_ref(struct users *u); /* NULL is fine, here and below */
void users_unref(struct users *u);
bool users_equal(const struct users *a, const struct users *b);
/* The hash of a user. For one who is not known it is somebody's: that the check of it takes as long
 * as of others keeps it untold who is a user. */
const char *users_hash(const struct users *u, const char *user, bool *ret_known);
