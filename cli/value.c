#include "cli/value.h"

#include <errno.h>
#include <stdlib.h>

const char *value_text(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

static bool digits(const char *text, uint64_t *ret)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno;
}

uint64_t value_u64(const json_t *object, const char *key, uint64_t otherwise)
{
	const json_t *v = json_object_get(object, key);
	uint64_t n;

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	if (json_is_string(v) && digits(json_string_value(v), &n))
		return n;
	return otherwise;
}

bool value_double(const json_t *object, const char *key, double *ret)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_number(v))
		return false;
	*ret = json_number_value(v);
	return true;
}

json_t *value_object(const json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	return json_is_object(v) ? v : NULL;
}

json_t *value_array(const json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	return json_is_array(v) ? v : NULL;
}
