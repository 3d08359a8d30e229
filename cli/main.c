/* rdma-pingmesh: the command for people and scripts, a client of the daemon's HTTP API. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static void print_help(FILE *out)
{
	fputs("usage: rdma-pingmesh COMMAND [--json] [--url URL]\n\n", out);
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %s%s%-*s  %s%s\n", c->name, c->argument ? " " : "",
			(int)(14 - strlen(c->name) - (c->argument ? 1 : 0)),
			c->argument ? c->argument : "", c->help, c->run ? "" : " (not built yet)");
	fputs("\n  --json          the daemon's JSON as it is\n"
	      "  --url URL       of the daemon (" CLI_URL_DEFAULT ")\n"
	      "  --cacert FILE   CA certificates that its certificate is checked against\n"
	      "  --cert FILE, --key FILE\n"
	      "                  a certificate to show, where it wants one\n"
	      "  --login FILE    the line USER:PASSWORD; --netrc: from ~/.netrc\n"
	      "  --control PATH  its socket for reload, release and acquire\n"
	      "                  (" CLI_CONTROL_DEFAULT ")\n"
	      "  --version, --help\n\n"
	      "exit status of 'status' and 'check': 0 ok, 1 degraded or unknown, 2 failing,\n"
	      "3 unreachable; of the others 0, or 3 when it could not be done; 64 for a wrong "
	      "command line\n",
	      out);
}

static const struct command *find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static enum cli_exit usage(const char *message)
{
	command_complain(message);
	fputs("try 'rdma-pingmesh --help'\n", stderr);
	return CLI_USAGE;
}

static enum cli_exit run(const struct cli_options *o)
{
	const struct command *c = find_command(o->command);
	char message[128];
	enum cli_exit result;

	if (!c) {
		snprintf(message, sizeof(message), "unknown command '%.64s'", o->command);
		return usage(message);
	}
	if (!c->run) {
		snprintf(message, sizeof(message), "'%s' is not built yet", c->name);
		command_complain(message);
		return CLI_USAGE;
	}
	if (o->surplus || (o->argument && !c->argument)) {
		snprintf(message, sizeof(message), "too many arguments: '%.64s'",
			 o->surplus ? o->surplus : o->argument);
		return usage(message);
	}
	if (c->argument && !o->argument) {
		snprintf(message, sizeof(message), "'%s' needs a word: %s", c->name, c->argument);
		return usage(message);
	}
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		command_complain("libcurl does not start");
		return CLI_UNREACHABLE;
	}
	result = c->run(o);
	curl_global_cleanup();
	if (fflush(stdout) || ferror(stdout)) {
		command_complain("cannot write to standard output");
		return CLI_UNREACHABLE;
	}
	return result;
}

int main(int argc, char **argv)
{
	struct cli_options o;
	char err[256];

	if (!cli_options_parse(&o, argc, argv, err, sizeof(err)))
		return usage(err);
	if (o.help) {
		print_help(stdout);
		return CLI_OK;
	}
	if (o.version) {
		puts("rdma-pingmesh " RPM_VERSION);
		return CLI_OK;
	}
	return o.command ? run(&o) : usage("no command");
}
