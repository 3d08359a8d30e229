/* A host that has no peers yet: what it has, and what the configuration of the others needs. */
#pragma once
#include "cli/options.h"

/* Its rails as a table, then the lines for [peers]. host is its name in the mesh. */
void newcomer_print(const struct cli_options *o, const char *host);
