/* reload, release DEVICE, acquire DEVICE: over the control socket. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/control.h"
#include "cli/value.h"

static void print_messages(const json_t *answer, bool ok)
{
	json_t *message;
	size_t i;

	json_array_foreach(value_array(answer, "messages"), i, message)
	{
		const char *text = json_string_value(message);

		if (!text)
			continue;
		if (ok)
			command_print_line(text);
		else
			command_complain(text);
	}
}

static enum cli_exit ask(const struct cli_options *o, const char *request)
{
	char err[CONTROL_ERROR_MAX];
	json_t *answer = control_ask(o->control, request, err);
	bool ok;

	if (!answer) {
		command_complain(err);
		return CLI_UNREACHABLE;
	}
	ok = json_is_true(json_object_get(answer, "ok"));
	if (o->json) {
		json_dumpf(answer, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else {
		print_messages(answer, ok);
	}
	json_decref(answer);
	return ok ? CLI_OK : CLI_UNREACHABLE;
}

static enum cli_exit ask_device(const struct cli_options *o, const char *verb)
{
	char request[256];

	snprintf(request, sizeof(request), "%s %.200s", verb, o->argument);
	return ask(o, request);
}

enum cli_exit command_reload(const struct cli_options *o)
{
	return ask(o, "reload");
}

enum cli_exit command_release(const struct cli_options *o)
{
	return ask_device(o, "release");
}

enum cli_exit command_acquire(const struct cli_options *o)
{
	return ask_device(o, "acquire");
}
