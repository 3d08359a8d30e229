#include "exporters/json.h"

#include <math.h>
#include <string.h>

#include "exporters/number.h"
#include "exporters/utf8.h"

static void open_value(struct json *j)
{
	if (j->comma)
		strbuf_putc(j->out, ',');
	j->comma = true;
}

static void open_bracket(struct json *j, char bracket)
{
	open_value(j);
	strbuf_putc(j->out, bracket);
	j->comma = false;
}

static void close_bracket(struct json *j, char bracket)
{
	strbuf_putc(j->out, bracket);
	j->comma = true;
}

void json_open_object(struct json *j)
{
	open_bracket(j, '{');
}

void json_close_object(struct json *j)
{
	close_bracket(j, '}');
}

void json_open_array(struct json *j)
{
	open_bracket(j, '[');
}

void json_close_array(struct json *j)
{
	close_bracket(j, ']');
}

void json_key(struct json *j, const char *key)
{
	json_string(j, key);
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

void json_string(struct json *j, const char *text)
{
	size_t len = strlen(text);
	size_t n;

	open_value(j);
	strbuf_putc(j->out, '"');
	for (size_t i = 0; i < len; i += n > 0 ? n : 1) {
		n = utf8_char(text + i, len - i);
		put_char(j->out, text + i, n);
	}
	strbuf_putc(j->out, '"');
}

void json_u64(struct json *j, uint64_t value)
{
	bool quoted = value > INT64_MAX;

	open_value(j);
	if (quoted)
		strbuf_putc(j->out, '"');
	strbuf_u64(j->out, value);
	if (quoted)
		strbuf_putc(j->out, '"');
}

void json_seconds(struct json *j, uint64_t ns)
{
	open_value(j);
	number_put_seconds(j->out, ns);
}

void json_double(struct json *j, double value)
{
	if (!isfinite(value)) {
		json_null(j);
		return;
	}
	open_value(j);
	number_put_double(j->out, value);
}

void json_bool(struct json *j, bool value)
{
	open_value(j);
	strbuf_puts(j->out, value ? "true" : "false");
}

void json_null(struct json *j)
{
	open_value(j);
	strbuf_puts(j->out, "null");
}

void json_put_string(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_string(j, text);
}

void json_put_known_string(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (*text)
		json_string(j, text);
	else
		json_null(j);
}

void json_put_u64(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_u64(j, value);
}

void json_put_known_u64(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	if (value)
		json_u64(j, value);
	else
		json_null(j);
}

void json_put_seconds(struct json *j, const char *key, uint64_t ns)
{
	json_key(j, key);
	json_seconds(j, ns);
}

void json_put_timestamp(struct json *j, const char *key, uint64_t wall_ns)
{
	json_key(j, key);
	if (wall_ns)
		json_seconds(j, wall_ns);
	else
		json_null(j);
}
