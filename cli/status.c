#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/text.h"
#include "cli/value.h"

static enum cli_exit exit_of(const char *verdict)
{
	if (!strcmp(verdict, "ok"))
		return CLI_OK;
	if (!strcmp(verdict, "failing"))
		return CLI_FAILING;
	return CLI_DEGRADED;
}

static void print_up(const char *what, const json_t *counts)
{
	printf("%s %llu of %llu up", what, (unsigned long long)value_u64(counts, "up", 0),
	       (unsigned long long)value_u64(counts, "total", 0));
}

static void print_status(const json_t *status)
{
	struct strbuf line = {0};
	char buf[TEXT_SHORT];
	double uptime = 0;

	value_double(status, "uptime_seconds", &uptime);
	strbuf_printf(&line, "%s: %s", value_text(status, "host", "?"),
		      value_text(status, "verdict", "?"));
	if (strcmp(value_text(status, "cause", "none"), "none"))
		strbuf_printf(&line, " (%s)", value_text(status, "cause", "?"));
	strbuf_printf(&line, ", rdma-pingmeshd %s, up %s", value_text(status, "version", "?"),
		      text_duration(uptime, buf));
	command_print_line(line.data ? line.data : "");
	print_up("sessions", value_object(status, "sessions"));
	print_up(", rails", value_object(status, "rails"));
	putchar('\n');
	strbuf_free(&line);
}

static void print_finding(const json_t *finding)
{
	struct strbuf line = {0};
	char buf[TEXT_SHORT];
	double since = 0;

	value_double(finding, "since", &since);
	strbuf_printf(&line, "%s %s %s since %s: %s", value_text(finding, "severity", "?"),
		      value_text(finding, "subject", "?"), value_text(finding, "cause", "?"),
		      text_date(since, buf), value_text(finding, "text", ""));
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
}

/* What is wrong, each with its subject. Without findings the host's reason has to do. */
static void print_findings(const struct cli_options *o, const char *reason)
{
	struct answer a;
	json_t *finding;
	size_t i;
	bool got = command_fetch(o, "/api/v1/findings", &a);

	if (!got || !json_array_size(value_array(a.json, "findings"))) {
		if (reason[0])
			command_print_line(reason);
		if (got)
			answer_free(&a);
		return;
	}
	putchar('\n');
	json_array_foreach(value_array(a.json, "findings"), i, finding) print_finding(finding);
	answer_free(&a);
}

enum cli_exit command_status(const struct cli_options *o)
{
	struct answer a;
	enum cli_exit result;

	if (!command_fetch(o, "/api/v1/status", &a))
		return CLI_UNREACHABLE;
	if (!value_text(a.json, "verdict", NULL)) {
		command_complain("the status has no verdict: is this rdma-pingmeshd?");
		answer_free(&a);
		return CLI_UNREACHABLE;
	}
	result = exit_of(value_text(a.json, "verdict", ""));
	if (o->json) {
		command_print_raw(&a);
		return result;
	}
	print_status(a.json);
	print_findings(o, value_text(a.json, "reason", ""));
	answer_free(&a);
	return result;
}
