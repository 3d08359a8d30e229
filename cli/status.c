#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/newcomer.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/value.h"

enum cli_exit command_exit_of(const char *verdict)
{
	if (!strcmp(verdict, "ok"))
		return CLI_OK;
	if (!strcmp(verdict, "failing"))
		return CLI_FAILING;
	return CLI_DEGRADED;
}

bool command_fetch_status(const struct cli_options *o, struct answer *ret)
{
	if (!command_fetch(o, "/api/v1/status", ret))
		return false;
	if (value_text(ret->json, "verdict", NULL))
		return true;
	command_complain("the status has no verdict: is this rdma-pingmeshd?");
	answer_free(ret);
	return false;
}

void command_add_finding(struct strbuf *out, const json_t *finding)
{
	const char *rule = value_text(finding, "rule", "");
	char buf[TEXT_SHORT];
	double since = 0;

	value_double(finding, "since", &since);
	strbuf_printf(out, "%s %s %s%s%s%s since %s: %s", value_text(finding, "severity", "?"),
		      value_text(finding, "subject", "?"), value_text(finding, "cause", "?"),
		      rule[0] ? " (" : "", rule, rule[0] ? ")" : "", text_date(since, buf),
		      value_text(finding, "text", ""));
}

static void print_up(const char *what, const json_t *counts)
{
	printf("%s %llu of %llu up", what, (unsigned long long)value_u64(counts, "up", 0),
	       (unsigned long long)value_u64(counts, "total", 0));
}

static void print_status(const json_t *status)
{
	const char *verdict = value_text(status, "verdict", "?");
	const char *colour = terminal_style().colour ? text_colour(verdict) : "";
	struct strbuf line = {0};
	char buf[TEXT_SHORT];
	double uptime = 0;

	value_double(status, "uptime_seconds", &uptime);
	text_add_clean(&line, value_text(status, "host", "?"));
	strbuf_printf(&line, ": %s", colour);
	text_add_clean(&line, verdict);
	strbuf_puts(&line, colour[0] ? TEXT_PLAIN : "");
	if (strcmp(value_text(status, "cause", "none"), "none")) {
		strbuf_puts(&line, " (");
		text_add_clean(&line, value_text(status, "cause", "?"));
		strbuf_putc(&line, ')');
	}
	strbuf_puts(&line, ", rdma-pingmeshd ");
	text_add_clean(&line, value_text(status, "version", "?"));
	strbuf_printf(&line, ", up %s", text_duration(uptime, buf));
	puts(line.data && !strbuf_failed(&line) ? line.data : "");
	print_up("sessions", value_object(status, "sessions"));
	print_up(", rails", value_object(status, "rails"));
	putchar('\n');
	strbuf_free(&line);
}

/* Whole numbers as they are, others to three digits or more. */
static void add_figure(struct strbuf *out, double value)
{
	bool whole = value == floor(value) || fabs(value) >= 1000;

	strbuf_printf(out, whole && fabs(value) < 1e15 ? "%.0f" : "%.3g", value);
}

/* "  packet_seq_err 120 (threshold 100) in 1m00s" */
static void print_evidence(const json_t *evidence)
{
	struct strbuf line = {0};
	char buf[TEXT_SHORT];
	double value, threshold, window = 0;

	if (!value_double(evidence, "value", &value))
		return;
	strbuf_printf(&line, "  %s ", value_text(evidence, "name", "?"));
	add_figure(&line, value);
	if (value_double(evidence, "threshold", &threshold)) {
		strbuf_puts(&line, " (threshold ");
		add_figure(&line, threshold);
		strbuf_putc(&line, ')');
	}
	if (value_double(evidence, "window_seconds", &window) && window > 0)
		strbuf_printf(&line, " in %s", text_duration(window, buf));
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
}

static void print_finding(const json_t *finding)
{
	struct strbuf line = {0};
	json_t *evidence;
	size_t i;

	command_add_finding(&line, finding);
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
	json_array_foreach(value_array(finding, "evidence"), i, evidence) print_evidence(evidence);
}

static void print_those(const json_t *findings, bool critical)
{
	json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		if (!strcmp(value_text(finding, "severity", ""), "critical") == critical)
			print_finding(finding);
	}
}

/* What is wrong, each with its subject and evidence, critical ones first. Without findings the
 * host's reason has to do. */
static void print_findings(const struct cli_options *o, const char *reason)
{
	struct answer a;
	bool got = command_fetch(o, "/api/v1/findings", &a);

	if (!got || !json_array_size(value_array(a.json, "findings"))) {
		if (reason[0])
			command_print_line(reason);
		if (got)
			answer_free(&a);
		return;
	}
	putchar('\n');
	print_those(value_array(a.json, "findings"), true);
	print_those(value_array(a.json, "findings"), false);
	answer_free(&a);
}

enum cli_exit command_status(const struct cli_options *o)
{
	struct answer a;
	enum cli_exit result;

	if (!command_fetch_status(o, &a))
		return CLI_UNREACHABLE;
	result = command_exit_of(value_text(a.json, "verdict", ""));
	if (o->json) {
		command_print_raw(&a);
		return result;
	}
	print_status(a.json);
	print_findings(o, value_text(a.json, "reason", ""));
	if (value_u64(value_object(a.json, "sessions"), "total", 1) == 0)
		newcomer_print(o, value_text(a.json, "host", "?"));
	answer_free(&a);
	return result;
}
