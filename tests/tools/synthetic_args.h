/* Command line of the tools that make a synthetic snapshot. */
#pragma once
#include "exporters/exposition.h"
#include "tests/tools/synthetic.h"

struct synthetic_args {
	struct synthetic wanted;
	enum exposition_format format;
};

/* Exits with 64 and a message when an option is not understood. */
void synthetic_args_parse(int argc, char **argv, struct synthetic_args *ret);
