/* Which files of a device began to fail, for those who want names and not only numbers. */
#pragma once
#include "probes/facts.h"

/* source: COUNTER_SOURCE_COUNT for an attribute of the port. */
void read_failures_note(struct read_failures *f, uint8_t port, uint8_t source, const char *name,
			enum read_error error);
