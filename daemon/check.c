#include "daemon/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/options.h"

static void print_remark(void *arg, enum conf_severity severity, const char *file, unsigned line,
			 const char *message)
{
	const char *word = severity == CONF_ERROR ? "error" : "warning";

	(void)arg;
	if (line)
		fprintf(stderr, "%s:%u: %s: %s\n", file, line, word, message);
	else
		fprintf(stderr, "%s: %s: %s\n", file, word, message);
}

static int load(const struct options *options, struct config *ret, unsigned *ret_unknown)
{
	struct conf_report report = {.fn = print_remark};
	int r = config_load(ret, options->config, options->sets, options->n_sets, &report);

	*ret_unknown = report.unknown_keys;
	return r;
}

int check_config(const struct options *options)
{
	struct config config;
	unsigned unknown;

	if (load(options, &config, &unknown) < 0)
		return CHECK_EXIT_BAD;
	config_free(&config);
	return unknown ? CHECK_EXIT_BAD : 0;
}

int print_config(const struct options *options)
{
	struct config config;
	struct strbuf out = {0};
	unsigned unknown;
	int r = 0;

	if (load(options, &config, &unknown) < 0)
		return CHECK_EXIT_BAD;
	config_print(&config, &out);
	if (strbuf_failed(&out) || fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0) {
		fprintf(stderr, "rdma-pingmeshd: cannot write: %s\n", strerror(errno));
		r = 1;
	}
	strbuf_free(&out);
	config_free(&config);
	return r;
}
