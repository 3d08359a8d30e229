#include "core/utf8.h"

#include <stdbool.h>

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Lowest and highest second byte that may follow a lead byte: this rules out overlong forms
 * (e0, f0), surrogates (ed) and code points above U+10FFFF (f4). */
static bool second_byte_fits(unsigned char lead, unsigned char second)
{
	switch (lead) {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf;
	case 0xed:
		return second >= 0x80 && second <= 0x9f;
	case 0xf0:
		return second >= 0x90 && second <= 0xbf;
	case 0xf4:
		return second >= 0x80 && second <= 0x8f;
	default:
		return is_continuation(second);
	}
}

static size_t length_by_lead(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

size_t utf8_char(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n;

	if (len == 0)
		return 0;
	n = length_by_lead(u[0]);
	if (n > len)
		return 0;
	if (n > 1 && !second_byte_fits(u[0], u[1]))
		return 0;
	for (size_t i = 2; i < n; i++) {
		if (!is_continuation(u[i]))
			return 0;
	}
	return n;
}
