#include "probes/counter_name.h"

#include <string.h>

bool counter_name_plain(const char *name)
{
	if (*name < 'a' || *name > 'z')
		return false;
	for (; *name; name++) {
		bool letter = *name >= 'a' && *name <= 'z';
		bool digit = *name >= '0' && *name <= '9';

		if (!letter && !digit && *name != '_')
			return false;
	}
	return true;
}

bool counter_wide_form(enum counter_source source, const char *name, char ret[FACT_NAME])
{
	size_t len = strnlen(name, FACT_NAME);

	if (source != SOURCE_COUNTERS_EXT || len == FACT_NAME || len <= strlen("_64") ||
	    strcmp(name + len - strlen("_64"), "_64") != 0)
		return false;
	len -= strlen("_64");
	memcpy(ret, name, len);
	ret[len] = '\0';
	return true;
}
