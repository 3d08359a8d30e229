#include "cli/command.h"

#include <stdio.h>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

const struct command commands[] = {
	{"status", NULL, "verdict of this host, and what is wrong", command_status},
	{"peers", NULL, "every session to a peer: state, verdict, loss, latency", command_peers},
	{"devices", NULL, "RDMA devices, their ports and their workers", command_devices},
	{"events", NULL, "what happened: [--since SEQ|DURATION] [--follow]", command_events},
	{"mesh", NULL, "the table of all hosts", NULL},
	{"check", NULL, "one line for a monitoring system, then what is wrong", command_check},
	{"reload", NULL, "read the configuration again, and say what is wrong with it",
	 command_reload},
	{"release", "DEVICE", "let go of a device, for its driver or firmware", command_release},
	{"acquire", "DEVICE", "take a released device back", command_acquire},
	{0},
};

static void print_clean(FILE *out, const char *text)
{
	struct strbuf clean = {0};

	text_add_clean(&clean, text);
	if (!strbuf_failed(&clean) && clean.data)
		fputs(clean.data, out);
	strbuf_free(&clean);
}

void command_complain(const char *message)
{
	fputs("rdma-pingmesh: ", stderr);
	print_clean(stderr, message);
	fputc('\n', stderr);
}

void command_print_line(const char *text)
{
	print_clean(stdout, text);
	putchar('\n');
}

bool command_fetch(const struct cli_options *o, const char *path, struct answer *ret)
{
	char err[FETCH_ERROR_MAX];

	if (fetch(o->url, &o->access, path, ret, err))
		return true;
	answer_free(ret);
	command_complain(err);
	return false;
}

void command_print_raw(struct answer *a)
{
	fwrite(a->body.data, 1, a->body.len, stdout);
	if (a->body.len && a->body.data[a->body.len - 1] != '\n')
		putchar('\n');
	answer_free(a);
}

enum cli_exit command_print_table(struct text_table *t)
{
	struct text_style style = terminal_style();
	bool printed = t && text_table_print(t, &style, stdout);

	text_table_free(t);
	if (printed)
		return CLI_OK;
	command_complain("out of memory");
	return CLI_UNREACHABLE;
}
