#include "exporters/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/conf.h"
#include "core/names.h"

#define LIMIT_MAX 1000000
#define KEY_PARTS 4
#define KEY_SEPARATOR '\n' /* in no name */

static int refuse(char *err, size_t errlen, const char *name, const char *why)
{
	snprintf(err, errlen, "parameter %s: %s", name, why);
	return -EINVAL;
}

static int parse_peer(struct list_params *p, const char *value, const char **ret_why)
{
	if (name_valid(value) && name_copy(p->peer, sizeof(p->peer), value))
		return 0;
	*ret_why = "not a name of a host";
	return -EINVAL;
}

static int parse_rail(struct list_params *p, const char *value, const char **ret_why)
{
	if (rail_name_valid(value) && name_copy(p->rail, sizeof(p->rail), value))
		return 0;
	*ret_why = "not a name of a rail";
	return -EINVAL;
}

static int parse_verdict(struct list_params *p, const char *value, const char **ret_why)
{
	for (unsigned v = VERDICT_OK; v <= VERDICT_UNKNOWN; v++) {
		if (strcmp(value, verdict_name(v)) == 0) {
			p->verdict = v;
			p->has_verdict = true;
			return 0;
		}
	}
	*ret_why = "must be ok, degraded, failing or unknown";
	return -EINVAL;
}

static int parse_limit(struct list_params *p, const char *value, const char **ret_why)
{
	if (conf_parse_u64(value, &p->limit) == 0 && p->limit > 0 && p->limit <= LIMIT_MAX)
		return 0;
	*ret_why = "must be a number from 1 to 1000000";
	return -EINVAL;
}

static int parse_cursor(struct list_params *p, const char *value, const char **ret_why)
{
	p->has_cursor = true;
	if (cursor_parse(value, &p->cursor))
		return 0;
	*ret_why = "not a next_cursor of this daemon";
	return -EINVAL;
}

static int parse_since(struct list_params *p, const char *value, const char **ret_why)
{
	if (conf_parse_u64(value, &p->since) == 0)
		return 0;
	*ret_why = "must be the number of an event";
	return -EINVAL;
}

static int parse_last(struct list_params *p, const char *value, const char **ret_why)
{
	if (conf_parse_u64(value, &p->last) == 0 && p->last > 0)
		return 0;
	*ret_why = "must be a number from 1 on";
	return -EINVAL;
}

static int parse_max_age(struct list_params *p, const char *value, const char **ret_why)
{
	if (conf_parse_duration(value, &p->max_age_ns) == 0 && p->max_age_ns > 0)
		return 0;
	*ret_why = "must be a duration, as 90s, 10m or 2h";
	return -EINVAL;
}

static int parse_device(struct list_params *p, const char *value, const char **ret_why)
{
	if (value[0] && name_copy(p->device, sizeof(p->device), value))
		return 0;
	*ret_why = "not a name of a device";
	return -EINVAL;
}

static int parse_kind(struct list_params *p, const char *value, const char **ret_why)
{
	if (name_valid(value) && name_copy(p->kind, sizeof(p->kind), value))
		return 0;
	*ret_why = "not a kind of an event";
	return -EINVAL;
}

static int parse_fail_on(struct list_params *p, const char *value, const char **ret_why)
{
	p->fail_on_degraded = strcmp(value, "degraded") == 0;
	if (p->fail_on_degraded || strcmp(value, "failing") == 0)
		return 0;
	*ret_why = "must be failing or degraded";
	return -EINVAL;
}

static const struct {
	const char *name;
	unsigned bit;
	int (*parse)(struct list_params *p, const char *value, const char **ret_why);
} known[] = {
	{"peer", PARAM_PEER, parse_peer},	   {"rail", PARAM_RAIL, parse_rail},
	{"verdict", PARAM_VERDICT, parse_verdict}, {"limit", PARAM_LIMIT, parse_limit},
	{"cursor", PARAM_CURSOR, parse_cursor},	   {"since", PARAM_SINCE, parse_since},
	{"fail_on", PARAM_FAIL_ON, parse_fail_on}, {"last", PARAM_LAST, parse_last},
	{"max_age", PARAM_MAX_AGE, parse_max_age}, {"device", PARAM_DEVICE, parse_device},
	{"kind", PARAM_KIND, parse_kind},
};

/* A name for a message: what a client sent is cut and kept printable. */
static void quote_name(const char *name, char ret[FACT_NAME])
{
	size_t i;

	for (i = 0; name[i] && i < FACT_NAME - 1; i++)
		ret[i] = name[i] > 0x20 && name[i] < 0x7f ? name[i] : '?';
	ret[i] = '\0';
}

static int parse_one(const struct http_param *param, unsigned allowed, unsigned *seen,
		     struct list_params *ret, char *err, size_t errlen)
{
	const char *why = "not understood here";
	char name[FACT_NAME];

	quote_name(param->name, name);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!(known[i].bit & allowed) || strcmp(param->name, known[i].name) != 0)
			continue;
		if (*seen & known[i].bit)
			return refuse(err, errlen, name, "given twice");
		*seen |= known[i].bit;
		if (known[i].parse(ret, param->value, &why) == 0)
			return 0;
		return refuse(err, errlen, name, why);
	}
	return refuse(err, errlen, name, why);
}

int params_parse(const struct http_request *req, unsigned allowed, struct list_params *ret,
		 char *err, size_t errlen)
{
	unsigned seen = 0;
	int r;

	*ret = (struct list_params){0};
	if (req->params_bad) {
		snprintf(err, errlen, "too many parameters, or one that is not text");
		return -EINVAL;
	}
	for (size_t i = 0; i < req->n_params; i++) {
		r = parse_one(&req->param[i], allowed, &seen, ret, err, errlen);
		if (r < 0)
			return r;
	}
	return 0;
}

static char *key_part(struct session_key *key, size_t part)
{
	char *parts[KEY_PARTS] = {key->peer, key->rail, key->peer_rail, key->class_name};

	return parts[part];
}

void cursor_format(const struct session_key *key, char ret[CURSOR_TEXT_SIZE])
{
	static const char hex[] = "0123456789abcdef";
	char plain[KEY_PARTS * FACT_NAME];
	int n = snprintf(plain, sizeof(plain), "%s%c%s%c%s%c%s", key->peer, KEY_SEPARATOR,
			 key->rail, KEY_SEPARATOR, key->peer_rail, KEY_SEPARATOR, key->class_name);

	for (int i = 0; i < n; i++) {
		ret[2 * i] = hex[(unsigned char)plain[i] >> 4];
		ret[2 * i + 1] = hex[(unsigned char)plain[i] & 0xf];
	}
	ret[2 * n] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool hex_decode(const char *text, size_t len, char *ret)
{
	for (size_t i = 0; i < len / 2; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0 || (high == 0 && low == 0))
			return false;
		ret[i] = (char)(high << 4 | low);
	}
	ret[len / 2] = '\0';
	return len % 2 == 0;
}

bool cursor_parse(const char *text, struct session_key *ret)
{
	char plain[CURSOR_TEXT_SIZE / 2 + 1];
	size_t len = strnlen(text, CURSOR_TEXT_SIZE);
	size_t part = 0, at = 0;

	*ret = (struct session_key){0};
	if (len == CURSOR_TEXT_SIZE || !hex_decode(text, len, plain))
		return false;
	for (const char *p = plain; *p; p++) {
		if (*p == KEY_SEPARATOR) {
			part++;
			at = 0;
		} else if (at < FACT_NAME - 1) {
			key_part(ret, part)[at++] = *p;
		} else {
			return false;
		}
		if (part == KEY_PARTS)
			return false;
	}
	return part == KEY_PARTS - 1;
}
