/* Writer of JSON: always valid UTF-8 and valid numbers, commas by itself.
 *
 * Not jansson: rows go out as a stream, exact decimals of nanoseconds and all digits of 64-bit
 * numbers are wanted, and a tree per row would be allocations for nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/strbuf.h"

struct jsonw {
	struct strbuf *out;
	bool comma; /* the next member or element needs one before it */
};

void jsonw_open_object(struct jsonw *j);
void jsonw_close_object(struct jsonw *j);
void jsonw_open_array(struct jsonw *j);
void jsonw_close_array(struct jsonw *j);
/* The name of a member; its value is the next call. */
void jsonw_key(struct jsonw *j, const char *key);

/* Bytes that are not UTF-8 become U+FFFD each. */
void jsonw_string(struct jsonw *j, const char *text);
/* A number; above 2^63-1 its digits as a string, for readers with signed integers. */
void jsonw_u64(struct jsonw *j, uint64_t value);
void jsonw_seconds(struct jsonw *j, uint64_t ns);
void jsonw_double(struct jsonw *j, double value); /* null unless finite */
void jsonw_bool(struct jsonw *j, bool value);
void jsonw_null(struct jsonw *j);

/* Key and value. */
void jsonw_put_string(struct jsonw *j, const char *key, const char *text);
void jsonw_put_known_string(struct jsonw *j, const char *key, const char *text); /* "" is null */
void jsonw_put_u64(struct jsonw *j, const char *key, uint64_t value);
void jsonw_put_known_u64(struct jsonw *j, const char *key, uint64_t value); /* 0 is null */
void jsonw_put_seconds(struct jsonw *j, const char *key, uint64_t ns);
void jsonw_put_timestamp(struct jsonw *j, const char *key, uint64_t wall_ns); /* 0 is null */
