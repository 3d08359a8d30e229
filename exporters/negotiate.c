#include "exporters/negotiate.h"

#include <string.h>
#include <strings.h>

#define QUALITY_MAX 1000 /* thousandths */
#define UNNAMED -1

/* One element of a header's list: "type;name=value;q=0.5". */
struct element {
	const char *type;
	size_t type_len;
	const char *version; /* NULL: none given */
	size_t version_len;
	int quality;
};

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *trim_end(const char *start, const char *end)
{
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

static const char *find(const char *p, const char *end, char c)
{
	while (p < end && *p != c)
		p++;
	return p;
}

/* "1", "0.5", "0.125"; whatever else a client sends counts as not wanted. */
static int parse_quality(const char *p, const char *end)
{
	int quality, scale = 100;

	if (p == end || (*p != '0' && *p != '1'))
		return 0;
	quality = (*p++ - '0') * QUALITY_MAX;
	if (p < end && *p == '.')
		p++;
	for (; p < end && *p >= '0' && *p <= '9'; p++, scale /= 10)
		quality += (*p - '0') * scale;
	return quality > QUALITY_MAX ? QUALITY_MAX : quality;
}

static void parse_parameter(struct element *e, const char *p, const char *end)
{
	const char *equals = find(p, end, '=');
	const char *value = equals < end ? equals + 1 : end;
	size_t len = (size_t)(trim_end(p, equals) - p);

	if (len == 1 && (*p == 'q' || *p == 'Q')) {
		e->quality = parse_quality(value, end);
	} else if (len == strlen("version") && strncasecmp(p, "version", len) == 0) {
		if (end - value >= 2 && *value == '"' && end[-1] == '"') {
			value++;
			end--;
		}
		e->version = value;
		e->version_len = (size_t)(end - value);
	}
}

/* Parse the element at p; where the next one begins, NULL at the end of the list. */
static const char *next_element(const char *p, struct element *ret)
{
	const char *list_end = p + strlen(p);
	const char *end = find(p, list_end, ',');
	const char *at = find(p, end, ';');

	p = skip_blank(p, end);
	*ret = (struct element){.type = p, .quality = QUALITY_MAX};
	ret->type_len = at > p ? (size_t)(trim_end(p, at) - p) : 0;
	while (at < end) {
		const char *from = skip_blank(at + 1, end);

		at = find(from, end, ';');
		parse_parameter(ret, from, trim_end(from, at));
	}
	return end < list_end ? end + 1 : NULL;
}

static bool type_is(const struct element *e, const char *type)
{
	return e->type_len == strlen(type) && strncasecmp(e->type, type, e->type_len) == 0;
}

static bool version_fits(const struct element *e, const char *version)
{
	return !e->version || (e->version_len == strlen(version) &&
			       strncmp(e->version, version, e->version_len) == 0);
}

/* Highest quality that the list gives to the type in that version; UNNAMED when it has none. */
static int quality_of(const char *list, const char *type, const char *version)
{
	int best = UNNAMED;
	struct element e;

	while (list) {
		list = next_element(list, &e);
		if (type_is(&e, type) && version_fits(&e, version) && e.quality > best)
			best = e.quality;
	}
	return best;
}

bool negotiate_openmetrics(const char *accept)
{
	int open, text;

	if (!accept)
		return false;
	open = quality_of(accept, "application/openmetrics-text", "1.0.0");
	text = quality_of(accept, "text/plain", "0.0.4");
	return open > 0 && open >= text;
}

bool negotiate_gzip(const char *accept_encoding)
{
	int quality;

	if (!accept_encoding)
		return false;
	quality = quality_of(accept_encoding, "gzip", "");
	if (quality == UNNAMED)
		quality = quality_of(accept_encoding, "x-gzip", "");
	if (quality == UNNAMED)
		quality = quality_of(accept_encoding, "*", "");
	return quality > 0;
}
