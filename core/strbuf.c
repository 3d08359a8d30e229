#include "core/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRBUF_FIRST_CAP 256

void strbuf_free(struct strbuf *sb)
{
	if (!sb)
		return;
	free(sb->data);
	*sb = (struct strbuf){0};
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->data)
		sb->data[0] = '\0';
}

/* Room for `more` bytes and the NUL. */
static bool make_room(struct strbuf *sb, size_t more)
{
	size_t need, cap;
	char *data;

	if (sb->failed)
		return false;
	if (more >= SIZE_MAX / 2 - sb->len) {
		sb->failed = true;
		return false;
	}
	need = sb->len + more + 1;
	if (need <= sb->cap)
		return true;
	cap = sb->cap ? sb->cap : STRBUF_FIRST_CAP;
	while (cap < need)
		cap *= 2;
	data = realloc(sb->data, cap);
	if (!data) {
		sb->failed = true;
		return false;
	}
	sb->data = data;
	sb->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *sb, const char *data, size_t len)
{
	if (!make_room(sb, len))
		return;
	if (len > 0)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_puts(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_putc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_printf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		sb->failed = true;
		return;
	}
	if (!make_room(sb, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(sb->data + sb->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	sb->len += (size_t)n;
}

void strbuf_u64(struct strbuf *sb, uint64_t v)
{
	char digits[20]; /* of 2^64 - 1 */
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	strbuf_add(sb, digits + at, sizeof(digits) - at);
}

bool strbuf_failed(const struct strbuf *sb)
{
	return sb->failed;
}
