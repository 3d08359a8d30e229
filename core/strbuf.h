/* A growing string. After an allocation failure it stays valid, drops what is added and says so
 * by strbuf_failed(): check once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *data; /* NUL-terminated once anything was added; may be NULL before */
	size_t len; /* without the NUL */
	size_t cap;
	bool failed;
};

void strbuf_free(struct strbuf *sb);  /* releases and zeroes; NULL and empty are fine */
void strbuf_reset(struct strbuf *sb); /* keeps the memory, len = 0, failed = false */
void strbuf_add(struct strbuf *sb, const char *data, size_t len);
void strbuf_puts(struct strbuf *sb, const char *s);
void strbuf_putc(struct strbuf *sb, char c);
void strbuf_printf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_u64(struct strbuf *sb, uint64_t v); /* all digits, never %g */
bool strbuf_failed(const struct strbuf *sb);
