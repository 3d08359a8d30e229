#include "exporters/credentials.h"

#include <ctype.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define SCHEME "Basic"
#define TEXT_MAX (CREDENTIALS_USER_MAX + 1 + CREDENTIALS_PASSWORD_MAX)
#define ENCODED_MAX ((TEXT_MAX + 2) / 3 * 4)

static const char *find_encoded(const char *authorization)
{
	size_t len = strlen(SCHEME);

	if (strncasecmp(authorization, SCHEME, len) != 0 || authorization[len] != ' ')
		return NULL;
	authorization += len;
	return authorization + strspn(authorization, " ");
}

static bool has_control(const unsigned char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] == 0x7f)
			return true;
	return false;
}

/* The user ends at the first colon; a password may have more of them. */
static bool split(struct credentials *c, const unsigned char *text, size_t len)
{
	const unsigned char *colon = memchr(text, ':', len);
	size_t user = colon ? (size_t)(colon - text) : 0;
	size_t password = colon ? len - user - 1 : 0;

	if (user == 0 || user > CREDENTIALS_USER_MAX || password > CREDENTIALS_PASSWORD_MAX ||
	    has_control(text, len))
		return false;
	memcpy(c->user, text, user);
	memcpy(c->password, colon + 1, password);
	return true;
}

bool credentials_parse(struct credentials *c, const char *authorization)
{
	gnutls_datum_t encoded, text;
	const char *found = authorization ? find_encoded(authorization) : NULL;
	size_t len = found ? strnlen(found, ENCODED_MAX + 1) : 0;
	bool good;

	*c = (struct credentials){0};
	if (len == 0 || len > ENCODED_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (isspace((unsigned char)found[i]))
			return false;
	encoded = (gnutls_datum_t){(unsigned char *)(uintptr_t)found, (unsigned)len};
	if (gnutls_base64_decode2(&encoded, &text) < 0)
		return false;
	good = split(c, text.data, text.size);
	explicit_bzero(text.data, text.size);
	gnutls_free(text.data);
	return good;
}

void credentials_forget(struct credentials *c)
{
	explicit_bzero(c, sizeof(*c));
}
