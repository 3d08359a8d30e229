/* Members of JSON objects, with their types checked: what is missing, null or of another type is
 * what the caller says it is then. Objects may be NULL. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

const char *value_text(const json_t *object, const char *key, const char *otherwise);
/* Numbers, and strings of digits (the API writes those above 2^63-1 as strings). */
uint64_t value_u64(const json_t *object, const char *key, uint64_t otherwise);
/* False: no number there. */
bool value_double(const json_t *object, const char *key, double *ret);
/* NULL when there is none. */
json_t *value_object(const json_t *object, const char *key);
json_t *value_array(const json_t *object, const char *key);
