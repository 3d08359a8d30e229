/* The commands that show one JSON list as a table, with the reasons of what is not ok, its
 * ports included, below it. */
#pragma once
#include <jansson.h>
#include "cli/command.h"
#include "core/strbuf.h"

struct list_view {
	const char *path, *member; /* of the document, and of the list in it */
	size_t columns;
	const char *const *titles;
	/* Adds the rows of one member; now is the document's own time. */
	void (*put)(struct text_table *t, const json_t *member, double now);
	void (*tidy)(struct text_table *t); /* when all is in; NULL: nothing to tidy */
	/* Appends the words before a reason: whom it concerns. */
	void (*name)(const json_t *member, struct strbuf *out);
};

enum cli_exit list_show(const struct cli_options *o, const struct list_view *v);
