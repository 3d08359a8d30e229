#include "core/conf.h"

#include <string.h>

static void print_duration(uint64_t ns, struct strbuf *out)
{
	char text[32];

	conf_format_duration(ns, text, sizeof(text));
	strbuf_puts(out, text);
}

static void print_size(uint32_t bytes, struct strbuf *out)
{
	char text[32];

	conf_format_size(bytes, text, sizeof(text));
	strbuf_puts(out, text);
}

static uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void print_typed(const struct conf_key *key, const void *p, struct strbuf *out)
{
	switch (key->type) {
	case CONF_STRING:
		strbuf_puts(out, p);
		break;
	case CONF_BOOL:
		strbuf_puts(out, *(const bool *)p ? "yes" : "no");
		break;
	case CONF_U32:
		strbuf_u64(out, get_u32(p));
		break;
	case CONF_LIMIT:
		if (get_u32(p) == 0)
			strbuf_puts(out, "off");
		else
			strbuf_u64(out, get_u32(p));
		break;
	case CONF_SIZE:
		print_size(get_u32(p), out);
		break;
	case CONF_DURATION:
		print_duration(get_u64(p), out);
		break;
	case CONF_INTERVAL:
		if (get_u64(p) == 0)
			strbuf_puts(out, "off");
		else
			print_duration(get_u64(p), out);
		break;
	case CONF_CUSTOM:
		break;
	}
}

void conf_print_key(const struct conf_key *key, const void *target, const char *instance,
		    struct strbuf *out)
{
	const char *p = (const char *)target + key->offset;

	if (key->type == CONF_CUSTOM) {
		key->print(target, instance, out);
		return;
	}
	/* An empty string is "not stated": shown, but not as a value. */
	if (key->type == CONF_STRING && !*p)
		strbuf_puts(out, "# ");
	strbuf_printf(out, "%s = ", key->key);
	print_typed(key, p, out);
	if (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_putc(out, '\n');
}

static void print_section(const struct conf_key *table, size_t n, const void *target,
			  const char *section, const char *instance, struct strbuf *out)
{
	if (out->len)
		strbuf_putc(out, '\n');
	strbuf_printf(out, *instance ? "[%s %s]\n" : "[%s]\n", section, instance);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].section, section) && !table[i].secret)
			conf_print_key(&table[i], target, instance, out);
	}
}

void conf_print(const struct conf_key *table, size_t n, const void *target,
		const struct conf_instance *instances, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *section = table[i].section;

		if (conf_find_section(table, n, section) != &table[i])
			continue; /* printed with its first key */
		if (!table[i].instance) {
			print_section(table, n, target, section, "", out);
			continue;
		}
		for (const struct conf_instance *in = instances; in && in->section; in++) {
			if (!strcmp(in->section, section))
				print_section(table, n, target, section, in->name, out);
		}
	}
}
