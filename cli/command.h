/* The subcommands, one file each. */
#pragma once
#include "cli/exit.h"
#include "cli/fetch.h"
#include "cli/options.h"

struct text_table;

struct command {
	const char *name;
	const char *argument; /* the word it needs, as help shows it; NULL: none */
	const char *help;
	enum cli_exit (*run)(const struct cli_options *o); /* NULL: not built yet */
};

extern const struct command commands[]; /* ends with a NULL name */

enum cli_exit command_status(const struct cli_options *o);
enum cli_exit command_peers(const struct cli_options *o);
enum cli_exit command_devices(const struct cli_options *o);
enum cli_exit command_events(const struct cli_options *o);
enum cli_exit command_check(const struct cli_options *o);
enum cli_exit command_reload(const struct cli_options *o);
enum cli_exit command_release(const struct cli_options *o);
enum cli_exit command_acquire(const struct cli_options *o);

/* Get path. On failure says so on stderr and returns false; nothing is to be freed then. */
bool command_fetch(const struct cli_options *o, const char *path, struct answer *ret);
/* The answer as it came, with a newline at its end, and freed. */
void command_print_raw(struct answer *a);
/* "rdma-pingmesh: MESSAGE" on stderr; control characters are replaced. */
void command_complain(const char *message);
/* Prints the table and frees it. */
enum cli_exit command_print_table(struct text_table *t);
/* The exit status for a verdict of the API. */
enum cli_exit command_exit_of(const char *verdict);
/* GET /api/v1/status. Complains and returns false as command_fetch(), also when it has no verdict.
 */
bool command_fetch_status(const struct cli_options *o, struct answer *ret);
/* "SEVERITY SUBJECT CAUSE since WHEN: TEXT", appended. */
void command_add_finding(struct strbuf *out, const json_t *finding);
/* Text and a newline on stdout, cleaned. */
void command_print_line(const char *text);
