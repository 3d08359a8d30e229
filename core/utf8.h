/* UTF-8 as RFC 3629 has it: what goes into JSON and into label values must be valid. */
#pragma once
#include <stddef.h>

/* Bytes of the one well-formed character that starts at s (1..4), 0 when there is none within
 * len: overlong forms, surrogates and what is above U+10FFFF are not well-formed. */
size_t utf8_char(const char *s, size_t len);

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, put for each byte that fits nowhere */
