/* User and password of a request (RFC 7617). */
#pragma once
#include <stdbool.h>

#define CREDENTIALS_USER_MAX 64	     /* bytes */
#define CREDENTIALS_PASSWORD_MAX 256 /* bytes */

struct credentials {
	char user[CREDENTIALS_USER_MAX + 1];
	char password[CREDENTIALS_PASSWORD_MAX + 1];
};

/* From the header Authorization; NULL: there is none. False when it holds no user and password of
 * bounded length without control characters. The caller credentials_forget()s in either case. */
bool credentials_parse(struct credentials *c, const char *authorization);
void credentials_forget(struct credentials *c);
