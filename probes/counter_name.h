/* Names of counters as strings. Pure. */
#pragma once
#include "probes/facts.h"

/* [a-z][a-z0-9_]*: can be part of a metric name as it stands. */
bool counter_name_plain(const char *name);
/* counters_ext's "X_64" is the wide form of X and wins over it: true, and X in ret. */
bool counter_wide_form(enum counter_source source, const char *name, char ret[FACT_NAME]);
