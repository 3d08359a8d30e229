#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/text.h"
#include "cli/value.h"

/* Where a reader of the journal stands. */
struct reader {
	uint64_t since;
	char numbering[64]; /* that the number belongs to */
	bool begun;	    /* the first answer was read */
};

static void print_event(const json_t *event)
{
	static const char *const keys[] = {"device", "rail", "peer"};
	struct strbuf line = {0};
	char buf[TEXT_SHORT];
	double at = 0;

	value_double(event, "timestamp", &at);
	strbuf_printf(&line, "%llu %s %s", (unsigned long long)value_u64(event, "seq", 0),
		      text_date(at, buf), value_text(event, "kind", "?"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *value = value_text(event, keys[i], "");

		if (value[0])
			strbuf_printf(&line, " %s=%s", keys[i], value);
	}
	strbuf_printf(&line, ": %s", value_text(event, "text", ""));
	command_print_line(line.data ? line.data : "");
	strbuf_free(&line);
}

/* The journal holds the last events only: say when some have gone by unseen. */
static void print_gap(const struct reader *r, const json_t *answer)
{
	uint64_t first = value_u64(answer, "first_seq", 0);

	if (r->since && first > r->since + 1)
		fprintf(stderr, "rdma-pingmesh: %llu events are no longer in the journal\n",
			(unsigned long long)(first - r->since - 1));
}

/* Numbers go on over a restart of the daemon, unless it could not keep them; those of before it
 * knew how to began again with each start. */
static bool renumbered(struct reader *r, const json_t *answer)
{
	const char *numbering = value_text(answer, "journal", value_text(answer, "instance", ""));
	bool other = r->numbering[0] && strcmp(r->numbering, numbering) != 0;

	snprintf(r->numbering, sizeof(r->numbering), "%s", numbering);
	return other;
}

static enum cli_exit read_once(const struct cli_options *o, struct reader *r, bool quiet)
{
	json_t *events, *event;
	struct answer a;
	char path[128];
	size_t i;

	if (o->newer && !r->begun)
		snprintf(path, sizeof(path), "/api/v1/events?max_age=%.64s", o->newer);
	else
		snprintf(path, sizeof(path), "/api/v1/events?since=%llu",
			 (unsigned long long)r->since);
	if (!command_fetch(o, path, &a))
		return CLI_UNREACHABLE;
	if (renumbered(r, a.json)) {
		r->since = 0; /* the next look begins with its first */
		answer_free(&a);
		return CLI_OK;
	}
	print_gap(r, a.json);
	/* What is new from here on: also when none of it was wanted. */
	if (o->newer && !r->begun)
		r->since = value_u64(a.json, "last_seq", 0);
	r->begun = true;
	events = value_array(a.json, "events");
	json_array_foreach(events, i, event)
	{
		uint64_t seq = value_u64(event, "seq", 0);

		if (seq > r->since)
			r->since = seq;
		if (!o->json)
			print_event(event);
	}
	if (o->json && (!quiet || json_array_size(events)))
		command_print_raw(&a);
	else
		answer_free(&a);
	return CLI_OK;
}

enum cli_exit command_events(const struct cli_options *o)
{
	struct reader r = {.since = o->since};
	enum cli_exit result = read_once(o, &r, false);

	while (o->follow && result == CLI_OK && !fflush(stdout)) {
		sleep(1);
		result = read_once(o, &r, true);
	}
	return result;
}
