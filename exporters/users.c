#include "exporters/users.h"

#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/credentials.h"

#define SALT_AND_SUM_MIN 20 /* bytes of the shortest hash of these kinds, and less than it */

struct user {
	char name[CREDENTIALS_USER_MAX + 1];
	char hash[USERS_HASH_MAX + 1];
};

struct users {
	unsigned refs;
	size_t n;
	struct user user[];
};

struct place {
	const char *name;
	unsigned line;
	char *err;
	size_t errlen;
};

static bool refuse(const struct place *p, const char *why)
{
	snprintf(p->err, p->errlen, "%s:%u: %s", p->name, p->line, why);
	return false;
}

static bool is_strong(const char *hash)
{
	static const char *const kinds[] = {"$y$",  "$gy$", "$7$", "$2b$",
					    "$2y$", "$2a$", "$6$", "$5$"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(hash, kinds[i], strlen(kinds[i])) == 0)
			return strlen(hash) > SALT_AND_SUM_MIN &&
			       crypt_checksalt(hash) != CRYPT_SALT_INVALID;
	return false;
}

static bool is_listed(const struct users *u, const char *name)
{
	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->user[i].name, name) == 0)
			return true;
	return false;
}

/* Nothing of the line goes into the message: a password may stand where its hash should. */
static bool add_user(struct users *u, const char *line, size_t len, const struct place *p)
{
	const char *colon = memchr(line, ':', len);
	size_t name = colon ? (size_t)(colon - line) : 0, hash = colon ? len - name - 1 : 0;
	struct user *user = &u->user[u->n];

	if (name == 0)
		return refuse(p, "must be USER:HASH");
	if (name > CREDENTIALS_USER_MAX)
		return refuse(p, "the user's name is longer than 64 bytes");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			return refuse(p, "has a control character");
	if (hash > USERS_HASH_MAX)
		return refuse(p, "the hash is too long");
	if (u->n == USERS_MAX)
		return refuse(p, "more than 256 users");
	*user = (struct user){0};
	memcpy(user->name, line, name);
	memcpy(user->hash, colon + 1, hash);
	if (!is_strong(user->hash))
		return refuse(p, "the hash is none of yescrypt ($y$), bcrypt ($2y$), SHA-512 ($6$) "
				 "and their like: make it by 'htpasswd -B' or 'mkpasswd'");
	if (is_listed(u, user->name))
		return refuse(p, "the user is listed twice");
	u->n++;
	return true;
}

static bool parse_line(struct users *u, const char *line, size_t len, const struct place *p)
{
	while (len && strchr(" \t\r", line[len - 1]) && line[len - 1])
		len--;
	if (len == 0 || line[0] == '#')
		return true;
	return add_user(u, line, len, p);
}

static bool parse(struct users *u, const char *text, size_t len, struct place *p)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len, step = line + (end != NULL);

		p->line++;
		if (!parse_line(u, text, line, p))
			return false;
		text += step;
		len -= step;
	}
	if (u->n > 0)
		return true;
	snprintf(p->err, p->errlen, "%s: there is no user in it, so nobody could come in", p->name);
	return false;
}

struct users *users_parse(const char *name, const char *text, size_t len, char *err, size_t errlen)
{
	struct place place = {.name = name, .err = err, .errlen = errlen};
	struct users *u = calloc(1, sizeof(*u) + USERS_MAX * sizeof(u->user[0]));

	if (!u) {
		refuse(&place, "out of memory");
		return NULL;
	}
	u->refs = 1;
	if (parse(u, text, len, &place))
		return u;
	users_unref(u);
	return NULL;
}

struct users *users_ref(struct users *u)
{
	if (u)
		u->refs++;
	return u;
}

void users_unref(struct users *u)
{
	if (!u || --u->refs > 0)
		return;
	explicit_bzero(u->user, USERS_MAX * sizeof(u->user[0]));
	free(u);
}

bool users_equal(const struct users *a, const struct users *b)
{
	if (!a || !b)
		return a == b;
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->user[i].name, b->user[i].name) != 0 ||
		    strcmp(a->user[i].hash, b->user[i].hash) != 0)
			return false;
	return true;
}

const char *users_hash(const struct users *u, const char *user, bool *ret_known)
{
	for (size_t i = 0; i < u->n; i++) {
		if (strcmp(u->user[i].name, user) == 0) {
			*ret_known = true;
			return u->user[i].hash;
		}
	}
	*ret_known = false;
	return u->user[0].hash;
}
