/* Names that come from configuration or from the wire and end up in labels, JSON and logs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_LEN 63 /* bytes; one more for NUL in every char name[64] */

/* A peer, rail or class name: 1..63 bytes of letters, digits, '.', '_', '-', ':' and '%' (IPv6
 * literals and zones). '/' is not: it separates HOST/RAIL; a rail of port 2 is "dev/2", so rails
 * pass rail_name_valid(), which allows one '/' inside. */
bool name_valid(const char *s);
bool rail_name_valid(const char *s);
/* Copies with truncation, always terminated; false when it did not fit. */
bool name_copy(char *dst, size_t size, const char *src);
