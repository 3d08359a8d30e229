#include "health/when.h"

#include <time.h>

#include "core/clock.h"

const char *when_text(uint64_t wall_ns, char buf[WHEN_LEN])
{
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(buf, WHEN_LEN, "%Y-%m-%d %H:%M:%S UTC", &tm))
		buf[0] = '\0';
	return buf;
}
