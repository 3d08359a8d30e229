#include "probes/reset_log.h"

#include "core/names.h"

void reset_log_add(struct reset_log *l, const struct counter_reset *reset, const char *name)
{
	struct counter_reset *kept = &l->kept[l->seen++ % RESETS_KEPT];

	*kept = *reset;
	name_copy(kept->name, sizeof(kept->name), name);
}
