/* Memory of a process, as /proc/PID/statm has it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define STATM_MAX 256 /* bytes of such a file, and its end */

/* In bytes. false, and nothing set: the text is of no such file. */
bool statm_parse(const char *text, uint64_t page_bytes, uint64_t *ret_virtual,
		 uint64_t *ret_resident);
