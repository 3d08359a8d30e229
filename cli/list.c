#include "cli/list.h"

#include <stdio.h>
#include <string.h>

#include "cli/table.h"
#include "cli/value.h"

static void print_reason(const struct list_view *v, const json_t *member, const json_t *port,
			 bool *first)
{
	struct strbuf line = {0};

	if (*first)
		putchar('\n');
	*first = false;
	v->name(member, &line);
	if (port)
		strbuf_printf(&line, " port %llu", (unsigned long long)value_u64(port, "port", 0));
	strbuf_printf(&line, ": %s", value_text(port ? port : member, "reason", ""));
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
}

/* A port whose reason is its device's too is not told twice. */
static void print_reasons(const struct list_view *v, const json_t *list)
{
	json_t *member, *port;
	bool first = true;
	size_t i, k;

	json_array_foreach(list, i, member)
	{
		const char *reason = value_text(member, "reason", "");

		if (reason[0])
			print_reason(v, member, NULL, &first);
		json_array_foreach(value_array(member, "ports"), k, port)
		{
			const char *own = value_text(port, "reason", "");

			if (own[0] && strcmp(own, reason))
				print_reason(v, member, port, &first);
		}
	}
}

enum cli_exit list_show(const struct cli_options *o, const struct list_view *v)
{
	struct text_table *t;
	struct answer a;
	enum cli_exit result;
	json_t *list, *member;
	double now = 0;
	size_t i;

	if (!command_fetch(o, v->path, &a))
		return CLI_UNREACHABLE;
	if (o->json) {
		command_print_raw(&a);
		return CLI_OK;
	}
	list = value_array(a.json, v->member);
	value_double(a.json, "timestamp", &now);
	t = text_table_new(v->columns, v->titles);
	json_array_foreach(list, i, member)
	{
		if (t)
			v->put(t, member, now);
	}
	if (t && v->tidy)
		v->tidy(t);
	result = command_print_table(t);
	if (result == CLI_OK)
		print_reasons(v, list);
	answer_free(&a);
	return result;
}
