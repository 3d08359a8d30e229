/* Numbers as text, the same in metrics and JSON, whatever the locale. */
#pragma once
#include <stdint.h>
#include "core/strbuf.h"

/* Nanoseconds as seconds, exactly: 1500000000 is "1.5", 241 is "0.000000241". */
void number_put_seconds(struct strbuf *sb, uint64_t ns);
/* The shortest decimal that reads back as the same double. v must be finite. */
void number_put_double(struct strbuf *sb, double v);
