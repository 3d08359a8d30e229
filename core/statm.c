#include "core/statm.h"

#include <stdlib.h>

static bool pages(const char **at, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return true;
}

/* Pages: the whole size, then those that are resident. */
bool statm_parse(const char *text, uint64_t page_bytes, uint64_t *ret_virtual,
		 uint64_t *ret_resident)
{
	uint64_t size, resident;

	if (!pages(&text, &size) || *text++ != ' ' || !pages(&text, &resident))
		return false;
	*ret_virtual = size * page_bytes;
	*ret_resident = resident * page_bytes;
	return true;
}
