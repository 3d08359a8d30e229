#include "core/conf.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

#define MAX_REMARK (CONF_MAX_ERROR + 256)

void conf_remark(struct conf_report *report, enum conf_severity severity, const char *file,
		 unsigned line, const char *fmt, ...)
{
	char message[MAX_REMARK];
	va_list ap;

	if (severity == CONF_ERROR)
		report->errors++;
	if (!report->fn)
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	report->fn(report->arg, severity, file, line, message);
}

const struct conf_key *conf_find_section(const struct conf_key *table, size_t n,
					 const char *section)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].section, section))
			return &table[i];
	}
	return NULL;
}

const struct conf_key *conf_find(const struct conf_key *table, size_t n, const char *section,
				 const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].section, section) && !strcmp(table[i].key, key))
			return &table[i];
	}
	return NULL;
}

static void *field(const struct conf_key *key, void *target)
{
	return (char *)target + key->offset;
}

static uint64_t limit(const struct conf_key *key)
{
	if (key->max)
		return key->max;
	return key->type == CONF_DURATION || key->type == CONF_INTERVAL ? UINT64_MAX : UINT32_MAX;
}

static int apply_string(const struct conf_key *key, void *target, const char *value, char *err,
			size_t errlen)
{
	if (strlen(value) >= key->size) {
		snprintf(err, errlen, "longer than %zu bytes", key->size - 1);
		return -EINVAL;
	}
	name_copy(field(key, target), key->size, value);
	return 0;
}

static int apply_bool(const struct conf_key *key, void *target, const char *value, char *err,
		      size_t errlen)
{
	if (conf_parse_bool(value, field(key, target)) == 0)
		return 0;
	snprintf(err, errlen, "'%.64s' is neither yes nor no", value);
	return -EINVAL;
}

static int apply_number(const struct conf_key *key, void *target, const char *value, char *err,
			size_t errlen)
{
	uint32_t *out = field(key, target);
	char min[32], max[32];
	uint64_t v;
	int r;

	if (key->type == CONF_LIMIT && !strcmp(value, "off")) {
		*out = 0;
		return 0;
	}
	r = key->type == CONF_SIZE ? conf_parse_size(value, &v) : conf_parse_u64(value, &v);
	if (r == -EINVAL) {
		snprintf(err, errlen, "'%.64s' is not a %s", value,
			 key->type == CONF_SIZE	   ? "size: write bytes, as 64, 4k or 1M"
			 : key->type == CONF_LIMIT ? "whole number, nor off"
						   : "whole number");
		return -EINVAL;
	}
	if (r == 0 && v >= key->min && v <= limit(key)) {
		*out = (uint32_t)v;
		return 0;
	}
	conf_format_size(key->min, min, sizeof(min));
	conf_format_size(limit(key), max, sizeof(max));
	if (key->type == CONF_SIZE)
		snprintf(err, errlen, "'%.64s' is out of range: %s to %s", value, min, max);
	else
		snprintf(err, errlen, "'%.64s' is out of range: %llu to %llu%s", value,
			 (unsigned long long)key->min, (unsigned long long)limit(key),
			 key->type == CONF_LIMIT ? ", or off" : "");
	return -EINVAL;
}

static int apply_duration(const struct conf_key *key, void *target, const char *value, char *err,
			  size_t errlen)
{
	const char *or_off = key->type == CONF_INTERVAL ? ", or off" : "";
	uint64_t *out = field(key, target), v;
	char min[32], max[32];
	int r;

	if (key->type == CONF_INTERVAL && !strcmp(value, "off")) {
		*out = 0;
		return 0;
	}
	r = conf_parse_duration(value, &v);
	if (r == -EINVAL) {
		snprintf(err, errlen,
			 "'%.64s' is not a duration: write a number and a unit, as 500ms or 1s%s",
			 value, or_off);
		return -EINVAL;
	}
	if (r == 0 && v >= key->min && v <= limit(key)) {
		*out = v;
		return 0;
	}
	conf_format_duration(key->min, min, sizeof(min));
	conf_format_duration(limit(key), max, sizeof(max));
	snprintf(err, errlen, "'%.64s' is out of range: %s to %s%s", value, min, max, or_off);
	return -EINVAL;
}

static int apply_typed(const struct conf_key *key, void *target, const char *value, char *err,
		       size_t errlen)
{
	switch (key->type) {
	case CONF_STRING:
		return apply_string(key, target, value, err, errlen);
	case CONF_BOOL:
		return apply_bool(key, target, value, err, errlen);
	case CONF_U32:
	case CONF_SIZE:
	case CONF_LIMIT:
		return apply_number(key, target, value, err, errlen);
	case CONF_DURATION:
	case CONF_INTERVAL:
		return apply_duration(key, target, value, err, errlen);
	case CONF_CUSTOM:
		break;
	}
	assert(!"a custom key is not typed");
	return -EINVAL;
}

int conf_apply(const struct conf_key *key, void *target, const char *instance, const char *value,
	       char *err, size_t errlen)
{
	int r;

	err[0] = '\0';
	if (key->type == CONF_CUSTOM)
		return key->parse(target, instance, value, err, errlen);
	r = apply_typed(key, target, value, err, errlen);
	if (r == 0 && key->check)
		r = key->check(target, err, errlen);
	return r;
}

void conf_defaults(const struct conf_key *table, size_t n, void *target)
{
	char err[CONF_MAX_ERROR];

	for (size_t i = 0; i < n; i++) {
		const struct conf_key *key = &table[i];
		int r;

		if (!key->default_text || key->repeatable || key->instance)
			continue;
		if (key->type == CONF_CUSTOM)
			r = key->parse(target, "", key->default_text, err, sizeof(err));
		else
			r = apply_typed(key, target, key->default_text, err, sizeof(err));
		assert(r == 0); /* a default of the table that its own key refuses is our bug */
		(void)r;
	}
}

/* What a file could not carry must not come in by the command line, else the printed
 * configuration would not load. */
static bool value_printable(const char *value)
{
	char before = ' ';

	for (; *value; before = *value++) {
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return false;
		if (*value == ';' && before == ' ')
			return false;
	}
	return true;
}

struct assignment {
	char section[CONF_MAX_NAME + 1];
	char instance[CONF_MAX_NAME + 1];
	char key[CONF_MAX_NAME + 1];
	const char *value;
};

static bool copy_part(char *dst, const char *from, const char *to)
{
	if (to <= from || to - from > CONF_MAX_NAME)
		return false;
	memcpy(dst, from, (size_t)(to - from));
	dst[to - from] = '\0';
	return true;
}

/* "section.key=value" or "section.INSTANCE.key=value"; an instance may hold dots. */
static bool split_assignment(const char *s, struct assignment *a)
{
	const char *equal = strchr(s, '='), *first, *last;

	if (!equal)
		return false;
	first = memchr(s, '.', (size_t)(equal - s));
	last = memrchr(s, '.', (size_t)(equal - s));
	if (!first)
		return false;
	a->instance[0] = '\0';
	a->value = equal + 1;
	if (first != last && !copy_part(a->instance, first + 1, last))
		return false;
	return copy_part(a->section, s, first) && copy_part(a->key, last + 1, equal);
}

int conf_set(const struct conf_key *table, size_t n, void *target, const char *assignment,
	     struct conf_report *report)
{
	const struct conf_key *key;
	char err[CONF_MAX_ERROR];
	struct assignment a;

	if (!split_assignment(assignment, &a)) {
		conf_remark(report, CONF_ERROR, "--set", 0,
			    "'%.64s' is not of the form section.key=value", assignment);
		return -EINVAL;
	}
	key = conf_find(table, n, a.section, a.key);
	if (!key) {
		report->unknown_keys++;
		conf_remark(report, CONF_ERROR, "--set", 0, "unknown key %s.%s", a.section, a.key);
		return -EINVAL;
	}
	if (key->instance != (a.instance[0] != '\0')) {
		conf_remark(report, CONF_ERROR, "--set", 0,
			    key->instance ? "%s.%s: name the section, as %s.NAME.%s"
					  : "%s.%s: section %s takes no name for %s",
			    a.section, a.key, a.section, a.key);
		return -EINVAL;
	}
	if (!value_printable(a.value)) {
		conf_remark(report, CONF_ERROR, "--set", 0,
			    "%s.%s: control characters and ' ;' cannot be in a value", a.section,
			    a.key);
		return -EINVAL;
	}
	if (conf_apply(key, target, a.instance, a.value, err, sizeof(err)) < 0) {
		conf_remark(report, CONF_ERROR, "--set", 0, "%s.%s: %s", a.section, a.key, err);
		return -EINVAL;
	}
	if (err[0])
		conf_remark(report, CONF_WARNING, "--set", 0, "%s.%s: %s", a.section, a.key, err);
	return 0;
}
