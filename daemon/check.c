#include "daemon/check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/options.h"
#include "daemon/peer_source.h"
#include "daemon/protection.h"
#include "exporters/http.h"

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

static void print_bad_target(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

int check_load(const struct options *options, struct config *ret, struct peer_source *ret_peers,
	       unsigned *ret_unknown)
{
	char err[CONFIG_PATH_MAX + PEER_FILE_ERROR];
	struct peer_source nothing = {0};
	const struct peer_source_ways ways = {.warn = print_bad_target};
	int r = load(options, ret, ret_unknown);

	if (r < 0)
		return r;
	r = peer_source_read(ret_peers, ret, &nothing, &ways, err, sizeof(err));
	if (r < 0) {
		fprintf(stderr, "%s\n", err);
		config_free(ret);
	}
	return r;
}

/* False: certificate, key or users cannot be used. */
static bool check_protection(const struct config *config)
{
	struct http_protection p;
	char err[PROTECTION_ERROR];

	if (protection_read(config, &p, err, sizeof(err)) == 0) {
		protection_release(&p);
		return true;
	}
	fprintf(stderr, "%s\n", err);
	return false;
}

int check_config(const struct options *options)
{
	struct peer_source peers;
	struct config config;
	unsigned unknown;
	bool good;

	if (check_load(options, &config, &peers, &unknown) < 0)
		return CHECK_EXIT_BAD;
	good = unknown == 0 && peers.n_refused == 0;
	good &= check_protection(&config);
	peer_source_free(&peers);
	config_free(&config);
	return good ? 0 : CHECK_EXIT_BAD;
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
