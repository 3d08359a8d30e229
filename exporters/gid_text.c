#include "exporters/gid_text.h"

#include <stddef.h>

#define GID_BYTES 16

void gid_text(const uint8_t gid[16], char ret[GID_TEXT_SIZE])
{
	static const char hex[] = "0123456789abcdef";
	size_t at = 0;

	for (size_t i = 0; i < GID_BYTES; i++) {
		if (i > 0 && i % 2 == 0)
			ret[at++] = ':';
		ret[at++] = hex[gid[i] >> 4];
		ret[at++] = hex[gid[i] & 0xf];
	}
	ret[at] = '\0';
}

bool gid_is_zero(const uint8_t gid[16])
{
	for (size_t i = 0; i < GID_BYTES; i++) {
		if (gid[i] != 0)
			return false;
	}
	return true;
}
