/* What standard output is. */
#pragma once
#include "cli/table.h"

/* Colours and a width only where it is a terminal; no colours where NO_COLOR is set or it is dumb.
 */
struct text_style terminal_style(void);
