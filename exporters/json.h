/* Writer of JSON: always valid UTF-8 and valid numbers, commas by itself.
 *
 * Not jansson: rows go out as a stream, exact decimals of nanoseconds and all digits of 64-bit
 * numbers are wanted, and a tree per row would be allocations for nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/strbuf.h"

struct json {
	struct strbuf *out;
	bool comma; /* the next member or element needs one before it */
};

void json_open_object(struct json *j);
void json_close_object(struct json *j);
void json_open_array(struct json *j);
void json_close_array(struct json *j);
/* The name of a member; its value is the next call. */
void json_key(struct json *j, const char *key);

/* Bytes that are not UTF-8 become U+FFFD each. */
void json_string(struct json *j, const char *text);
/* A number; above 2^63-1 its digits as a string, for readers with signed integers. */
void json_u64(struct json *j, uint64_t value);
void json_seconds(struct json *j, uint64_t ns);
void json_double(struct json *j, double value); /* null unless finite */
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

/* Key and value. */
void json_put_string(struct json *j, const char *key, const char *text);
void json_put_known_string(struct json *j, const char *key, const char *text); /* "" is null */
void json_put_u64(struct json *j, const char *key, uint64_t value);
void json_put_known_u64(struct json *j, const char *key, uint64_t value); /* 0 is null */
void json_put_seconds(struct json *j, const char *key, uint64_t ns);
void json_put_timestamp(struct json *j, const char *key, uint64_t wall_ns); /* 0 is null */
