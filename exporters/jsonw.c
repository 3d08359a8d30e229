#include "exporters/jsonw.h"

#include <math.h>
#include <string.h>

#include "core/utf8.h"
#include "exporters/number.h"

static void open_value(struct jsonw *j)
{
	if (j->comma)
		strbuf_putc(j->out, ',');
	j->comma = true;
}

static void open_bracket(struct jsonw *j, char bracket)
{
	open_value(j);
	strbuf_putc(j->out, bracket);
	j->comma = false;
}

static void close_bracket(struct jsonw *j, char bracket)
{
	strbuf_putc(j->out, bracket);
	j->comma = true;
}

void jsonw_open_object(struct jsonw *j)
{
	open_bracket(j, '{');
}

void jsonw_close_object(struct jsonw *j)
{
	close_bracket(j, '}');
}

void jsonw_open_array(struct jsonw *j)
{
	open_bracket(j, '[');
}

void jsonw_close_array(struct jsonw *j)
{
	close_bracket(j, ']');
}

void jsonw_key(struct jsonw *j, const char *key)
{
	jsonw_string(j, key);
	strbuf_putc(j->out, ':');
	j->comma = false;
}

static void put_char(struct strbuf *out, const char *s, size_t n)
{
	if (n == 0)
		strbuf_puts(out, UTF8_REPLACEMENT);
	else if (*s == '"' || *s == '\\')
		strbuf_add(out, (const char[]){'\\', *s}, 2);
	else if ((unsigned char)*s < 0x20 || *s == 0x7f)
		strbuf_printf(out, "\\u%04x", (unsigned)*s);
	else
		strbuf_add(out, s, n);
}

void jsonw_string(struct jsonw *j, const char *text)
{
	size_t len = strlen(text);
	size_t n;

	open_value(j);
	strbuf_putc(j->out, '"');
	for (size_t i = 0; i < len; i += n) {
		n = utf8_char(text + i, len - i);
		put_char(j->out, text + i, n);
		if (n == 0)
			n = 1;
	}
	strbuf_putc(j->out, '"');
}

void jsonw_u64(struct jsonw *j, uint64_t value)
{
	bool quoted = value > INT64_MAX;

	open_value(j);
	if (quoted)
		strbuf_putc(j->out, '"');
	strbuf_u64(j->out, value);
	if (quoted)
		strbuf_putc(j->out, '"');
}

void jsonw_seconds(struct jsonw *j, uint64_t ns)
{
	open_value(j);
	number_put_seconds(j->out, ns);
}

void jsonw_double(struct jsonw *j, double value)
{
	if (!isfinite(value)) {
		jsonw_null(j);
		return;
	}
	open_value(j);
	number_put_double(j->out, value);
}

void jsonw_bool(struct jsonw *j, bool value)
{
	open_value(j);
	strbuf_puts(j->out, value ? "true" : "false");
}

void jsonw_null(struct jsonw *j)
{
	open_value(j);
	strbuf_puts(j->out, "null");
}

void jsonw_put_string(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	jsonw_string(j, text);
}

void jsonw_put_known_string(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	if (*text)
		jsonw_string(j, text);
	else
		jsonw_null(j);
}

void jsonw_put_u64(struct jsonw *j, const char *key, uint64_t value)
{
	jsonw_key(j, key);
	jsonw_u64(j, value);
}

void jsonw_put_known_u64(struct jsonw *j, const char *key, uint64_t value)
{
	jsonw_key(j, key);
	if (value)
		jsonw_u64(j, value);
	else
		jsonw_null(j);
}

void jsonw_put_seconds(struct jsonw *j, const char *key, uint64_t ns)
{
	jsonw_key(j, key);
	jsonw_seconds(j, ns);
}

void jsonw_put_timestamp(struct jsonw *j, const char *key, uint64_t wall_ns)
{
	jsonw_key(j, key);
	if (wall_ns)
		jsonw_seconds(j, wall_ns);
	else
		jsonw_null(j);
}
