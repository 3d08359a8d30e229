/* Who may ask over HTTP, and how: the certificate, the key, the client CAs and the users that
 * [http] names. Read at start, at each reload, and when one of the files changes. What is wrong
 * with them is said, and what was in force stays. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define PROTECTION_ERROR 768

struct config;
struct daemon;
struct http_protection;
struct protection;

/* Reads and checks the files. 0, and ret is to be released; or -EINVAL and kin with a message that
 * names key or file. */
int protection_read(const struct config *c, struct http_protection *ret, char *err, size_t errlen);
void protection_release(struct http_protection *p);

/* Watches over the files that d->config names. NULL with errno. */
struct protection *protection_new(struct daemon *d);
void protection_free(struct protection *p); /* NULL is fine */
/* Put in force, and follow the files of d->config from now on. Releases p. 0 or -errno. */
int protection_take(struct protection *p, struct http_protection *fresh);
/* False: a file has changed since and cannot be used as it is. */
bool protection_good(const struct protection *p);
