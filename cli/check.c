/* The host's verdict in one line, as monitoring systems of the Nagios family read it: state, text,
 * figures after a bar; then a line for each finding. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/value.h"

static const char *state_word(enum cli_exit result)
{
	switch (result) {
	case CLI_OK:
		return "OK";
	case CLI_DEGRADED:
		return "WARNING";
	case CLI_FAILING:
		return "CRITICAL";
	case CLI_UNREACHABLE:
	case CLI_USAGE:
		break;
	}
	return "UNKNOWN";
}

/* A bar in a text would begin the figures. */
static void print_line(struct strbuf *line, const char *figures)
{
	for (size_t i = 0; i < line->len; i++)
		if (line->data[i] == '|')
			line->data[i] = '/';
	strbuf_puts(line, figures);
	command_print_line(line->data ? line->data : "");
	strbuf_free(line);
}

static void print_verdict(const json_t *status, enum cli_exit result)
{
	const json_t *sessions = value_object(status, "sessions");
	const json_t *rails = value_object(status, "rails");
	unsigned long long up = value_u64(sessions, "up", 0), all = value_u64(sessions, "total", 0);
	unsigned long long rails_up = value_u64(rails, "up", 0);
	unsigned long long all_rails = value_u64(rails, "total", 0);
	const char *reason = value_text(status, "reason", "");
	struct strbuf line = {0};
	char figures[160];

	strbuf_printf(&line, "RDMA %s - %s is %s: ", state_word(result),
		      value_text(status, "host", "?"), value_text(status, "verdict", "?"));
	if (reason[0])
		strbuf_printf(&line, "%s; ", reason);
	strbuf_printf(&line, "%llu of %llu sessions and %llu of %llu rails up", up, all, rails_up,
		      all_rails);
	snprintf(figures, sizeof(figures), " | sessions_up=%llu;;;0;%llu rails_up=%llu;;;0;%llu",
		 up, all, rails_up, all_rails);
	print_line(&line, figures);
}

static void print_findings(const struct cli_options *o)
{
	struct answer a;
	json_t *finding;
	size_t i;

	if (!command_fetch(o, "/api/v1/findings", &a))
		return;
	json_array_foreach(value_array(a.json, "findings"), i, finding)
	{
		struct strbuf line = {0};

		command_add_finding(&line, finding);
		print_line(&line, "");
	}
	answer_free(&a);
}

enum cli_exit command_check(const struct cli_options *o)
{
	struct answer a;
	enum cli_exit result;

	if (!command_fetch_status(o, &a)) {
		/* Only standard output is read there. */
		if (!o->json)
			puts("RDMA UNKNOWN - no usable answer of rdma-pingmeshd");
		return CLI_UNREACHABLE;
	}
	result = command_exit_of(value_text(a.json, "verdict", ""));
	if (o->json) {
		command_print_raw(&a);
		return result;
	}
	print_verdict(a.json, result);
	print_findings(o);
	answer_free(&a);
	return result;
}
