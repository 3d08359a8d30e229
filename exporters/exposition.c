#include "exporters/exposition.h"

#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "exporters/number.h"

void exposition_begin(struct exposition *e, struct strbuf *out, enum exposition_format format,
		      uint64_t max_series)
{
	*e = (struct exposition){.out = out, .format = format, .max_series = max_series};
}

void exposition_family(struct exposition *e, const char *name, enum family_type type,
		       const char *help)
{
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->type = type;
	e->help = help;
	e->announced = false;
}

bool exposition_admit(struct exposition *e, uint64_t n)
{
	if (e->max_series > 0 && n > e->max_series - e->series) {
		e->dropped += n;
		return false;
	}
	e->series += n;
	return true;
}

static const char *type_text(enum family_type type)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_GAUGE:
		return "gauge";
	case FAMILY_SUMMARY:
		return "summary";
	case FAMILY_HISTOGRAM:
		return "histogram";
	}
	return "unknown";
}

static void put_meta(struct exposition *e, const char *keyword, const char *text)
{
	strbuf_puts(e->out, keyword);
	strbuf_puts(e->out, e->name);
	/* OpenMetrics names the family without the suffix, the older format the sample. */
	if (e->type == FAMILY_COUNTER && e->format == EXPOSITION_TEXT)
		strbuf_puts(e->out, "_total");
	strbuf_putc(e->out, ' ');
	strbuf_puts(e->out, text);
	strbuf_putc(e->out, '\n');
}

void exposition_sample(struct exposition *e, const char *suffix)
{
	if (!e->announced) {
		put_meta(e, "# HELP ", e->help);
		put_meta(e, "# TYPE ", type_text(e->type));
		e->announced = true;
	}
	strbuf_puts(e->out, e->name);
	strbuf_puts(e->out, e->type == FAMILY_COUNTER ? "_total" : suffix);
	e->has_labels = false;
}

/* n is what utf8_char() said of it. */
static void put_label_char(struct strbuf *out, const char *s, size_t n)
{
	if (n == 0)
		strbuf_puts(out, UTF8_REPLACEMENT);
	else if (*s == '\n')
		strbuf_puts(out, "\\n");
	else if (*s == '"' || *s == '\\')
		strbuf_add(out, (const char[]){'\\', *s}, 2);
	else
		strbuf_add(out, s, n);
}

/* How much of s stands as it is: almost always all of it, and then it is one copy. */
static size_t plain_run(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void put_label_value(struct strbuf *out, const char *value)
{
	size_t len = strlen(value);
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = plain_run(value + i);
		if (n > 0) {
			strbuf_add(out, value + i, n);
			continue;
		}
		n = utf8_char(value + i, len - i);
		put_label_char(out, value + i, n);
		if (n == 0)
			n = 1;
	}
}

static void open_label(struct exposition *e)
{
	strbuf_putc(e->out, e->has_labels ? ',' : '{');
	e->has_labels = true;
}

void exposition_label(struct exposition *e, const char *key, const char *value)
{
	open_label(e);
	strbuf_puts(e->out, key);
	strbuf_add(e->out, "=\"", 2);
	put_label_value(e->out, value);
	strbuf_putc(e->out, '"');
}

void exposition_label_u64(struct exposition *e, const char *key, uint64_t value)
{
	open_label(e);
	strbuf_puts(e->out, key);
	strbuf_add(e->out, "=\"", 2);
	strbuf_u64(e->out, value);
	strbuf_putc(e->out, '"');
}

void exposition_labels(struct exposition *e, const char *rendered, size_t len)
{
	open_label(e);
	strbuf_add(e->out, rendered, len);
}

static void open_value(struct exposition *e)
{
	if (e->has_labels)
		strbuf_putc(e->out, '}');
	strbuf_putc(e->out, ' ');
}

void exposition_u64(struct exposition *e, uint64_t value)
{
	open_value(e);
	strbuf_u64(e->out, value);
	strbuf_putc(e->out, '\n');
}

void exposition_seconds(struct exposition *e, uint64_t ns)
{
	open_value(e);
	number_put_seconds(e->out, ns);
	strbuf_putc(e->out, '\n');
}

void exposition_render_label(struct strbuf *block, size_t block_start, const char *key,
			     const char *value)
{
	if (block->len > block_start)
		strbuf_putc(block, ',');
	strbuf_puts(block, key);
	strbuf_add(block, "=\"", 2);
	put_label_value(block, value);
	strbuf_putc(block, '"');
}

void exposition_end(struct exposition *e)
{
	if (e->format == EXPOSITION_OPENMETRICS)
		strbuf_puts(e->out, "# EOF\n");
}
