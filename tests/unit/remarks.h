/* Collects what a parser reports, one "FILE:LINE: [warning: ]message" a line. */
#pragma once
#include "core/conf.h"
#include "core/strbuf.h"

static inline void remarks_add(void *arg, enum conf_severity severity, const char *file,
			       unsigned line, const char *message)
{
	strbuf_printf(arg, "%s:%u: %s%s\n", file, line, severity == CONF_WARNING ? "warning: " : "",
		      message);
}

static inline struct conf_report remarks_report(struct strbuf *text)
{
	strbuf_reset(text);
	strbuf_puts(text, "");
	return (struct conf_report){.fn = remarks_add, .arg = text};
}
