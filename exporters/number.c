#include "exporters/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"

#define NSEC_DIGITS 9
#define DOUBLE_DIGITS_MAX 17 /* enough for every double */
#define WHOLE_MAX 1e15	     /* below it every whole number is a double */

void number_put_seconds(struct strbuf *sb, uint64_t ns)
{
	uint64_t rest = ns % NSEC_PER_SEC;
	char digits[NSEC_DIGITS + 1] = ".";
	size_t len = 0;

	strbuf_u64(sb, ns / NSEC_PER_SEC);
	for (size_t i = NSEC_DIGITS; i > 0; i--) {
		digits[i] = (char)('0' + rest % 10);
		if (digits[i] != '0' && len == 0)
			len = i + 1;
		rest /= 10;
	}
	strbuf_add(sb, digits, len);
}

static bool is_whole(double v)
{
	return v > -WHOLE_MAX && v < WHOLE_MAX && v == (double)(int64_t)v;
}

void number_put_double(struct strbuf *sb, double v)
{
	char text[40];
	int digits = 1;

	/* 60 is 60, where the shortest of printf would be 6e+01. */
	if (is_whole(v)) {
		strbuf_printf(sb, "%" PRId64, (int64_t)v);
		return;
	}
	do {
		snprintf(text, sizeof(text), "%.*g", digits, v);
	} while (strtod(text, NULL) != v && ++digits <= DOUBLE_DIGITS_MAX);
	/* A library that called setlocale() must not turn the point into a comma. */
	for (char *p = text; *p; p++)
		strbuf_putc(sb, *p == ',' ? '.' : *p);
}
