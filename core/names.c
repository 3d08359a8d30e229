#include "core/names.h"

#include <string.h>

/* By hand and not by isalnum(): a locale must not widen what goes into labels. */
static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-' || c == ':' || c == '%';
}

static bool name_chars(const char *s, size_t len)
{
	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!name_char(s[i]))
			return false;
	}
	return true;
}

bool name_valid(const char *s)
{
	size_t len = strnlen(s, NAME_MAX_LEN + 1);

	return len <= NAME_MAX_LEN && name_chars(s, len);
}

bool rail_name_valid(const char *s)
{
	size_t len = strnlen(s, NAME_MAX_LEN + 1);
	const char *slash;

	if (len > NAME_MAX_LEN)
		return false;
	slash = memchr(s, '/', len);
	if (!slash)
		return name_chars(s, len);
	return name_chars(s, (size_t)(slash - s)) &&
	       name_chars(slash + 1, len - (size_t)(slash - s) - 1);
}

bool name_copy(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);
	size_t n = len < size ? len : size - 1;

	memcpy(dst, src, n);
	dst[n] = '\0';
	return n == len;
}
