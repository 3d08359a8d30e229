#include "core/conf.h"

#include <inttypes.h>
#include <stdio.h>

const char *conf_effect_name(enum conf_effect effect)
{
	switch (effect) {
	case CONF_RELOAD:
		return "reload";
	case CONF_REBUILDS_SESSIONS:
		return "rebuilds sessions";
	case CONF_RESTART:
		return "restart";
	}
	return "invalid";
}

typedef void (*format_fn)(uint64_t value, char *buf, size_t len);

static void format_number(uint64_t value, char *buf, size_t len)
{
	snprintf(buf, len, "%" PRIu64, value);
}

static void add_range(const struct conf_key *key, format_fn format, struct strbuf *out)
{
	char min[32], max[32];

	format(key->min, min, sizeof(min));
	format(key->max, max, sizeof(max));
	if (key->max && key->min == key->max)
		strbuf_printf(out, " (%s)", min);
	else if (key->max && key->min)
		strbuf_printf(out, " (%s to %s)", min, max);
	else if (key->max)
		strbuf_printf(out, " (at most %s)", max);
	else if (key->min)
		strbuf_printf(out, " (at least %s)", min);
}

void conf_describe_type(const struct conf_key *key, struct strbuf *out)
{
	switch (key->type) {
	case CONF_STRING:
		strbuf_puts(out, "text");
		break;
	case CONF_BOOL:
		strbuf_puts(out, "yes or no");
		break;
	case CONF_U32:
		strbuf_puts(out, "number");
		add_range(key, format_number, out);
		break;
	case CONF_LIMIT:
		strbuf_puts(out, "number or off");
		add_range(key, format_number, out);
		break;
	case CONF_DURATION:
		strbuf_puts(out, "duration");
		add_range(key, conf_format_duration, out);
		break;
	case CONF_INTERVAL:
		strbuf_puts(out, "duration or off");
		add_range(key, conf_format_duration, out);
		break;
	case CONF_SIZE:
		strbuf_puts(out, "bytes");
		add_range(key, conf_format_size, out);
		break;
	case CONF_CUSTOM:
		strbuf_puts(out, key->repeatable ? "list" : "word");
		break;
	}
}
