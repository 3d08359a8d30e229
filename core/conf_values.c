#include "core/conf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/clock.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Largest first: formatting takes the first that divides. */
static const struct unit durations[] = {
	{"h", 3600 * NSEC_PER_SEC}, {"m", 60 * NSEC_PER_SEC}, {"s", NSEC_PER_SEC},
	{"ms", NSEC_PER_MSEC},	    {"us", NSEC_PER_USEC},    {"ns", 1},
};

static const struct unit sizes[] = {
	{"G", 1 << 30},
	{"M", 1 << 20},
	{"k", 1 << 10},
	{"", 1},
};

#define N_DURATIONS (sizeof(durations) / sizeof(durations[0]))
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Digits at *s, which is moved behind them. No sign and no blanks, which strtoull() takes. */
static int take_digits(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	*s = p;
	*ret = v;
	return 0;
}

static int parse_with_unit(const char *s, const struct unit *units, size_t n, bool ignore_case,
			   uint64_t *ret)
{
	uint64_t v;
	int r = take_digits(&s, &v);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (ignore_case ? strcasecmp(s, units[i].name) : strcmp(s, units[i].name))
			continue;
		if (__builtin_mul_overflow(v, units[i].factor, &v))
			return -ERANGE;
		*ret = v;
		return 0;
	}
	return -EINVAL;
}

static void format_with_unit(uint64_t v, const struct unit *units, size_t n, char *buf, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		if (v % units[i].factor)
			continue;
		snprintf(buf, len, "%" PRIu64 "%s", v / units[i].factor, units[i].name);
		return;
	}
}

int conf_parse_duration(const char *s, uint64_t *ret_ns)
{
	return parse_with_unit(s, durations, N_DURATIONS, false, ret_ns);
}

int conf_parse_size(const char *s, uint64_t *ret_bytes)
{
	return parse_with_unit(s, sizes, N_SIZES, true, ret_bytes);
}

int conf_parse_u64(const char *s, uint64_t *ret)
{
	uint64_t v;
	int r = take_digits(&s, &v);

	if (r < 0)
		return r;
	if (*s)
		return -EINVAL;
	*ret = v;
	return 0;
}

int conf_parse_bool(const char *s, bool *ret)
{
	static const char *const yes[] = {"yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcasecmp(s, yes[i])) {
			*ret = true;
			return 0;
		}
		if (!strcasecmp(s, no[i])) {
			*ret = false;
			return 0;
		}
	}
	return -EINVAL;
}

void conf_format_duration(uint64_t ns, char *buf, size_t len)
{
	if (ns == 0)
		snprintf(buf, len, "0s");
	else
		format_with_unit(ns, durations, N_DURATIONS, buf, len);
}

void conf_format_size(uint64_t bytes, char *buf, size_t len)
{
	if (bytes == 0)
		snprintf(buf, len, "0");
	else
		format_with_unit(bytes, sizes, N_SIZES, buf, len);
}
