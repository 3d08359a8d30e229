#include "probes/read_failures.h"

#include "core/names.h"

void read_failures_note(struct read_failures *f, uint8_t port, uint8_t source, const char *name,
			enum read_error error)
{
	struct read_failure *kept = &f->kept[f->seen++ % FAILURES_KEPT];

	*kept = (struct read_failure){.port = port, .source = source, .error = (uint8_t)error};
	name_copy(kept->name, sizeof(kept->name), name);
}
