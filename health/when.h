/* Instants for people. */
#pragma once
#include <stdint.h>

#define WHEN_LEN 32

/* "2026-11-29 13:58:03 UTC"; returns buf. */
const char *when_text(uint64_t wall_ns, char buf[WHEN_LEN]);
