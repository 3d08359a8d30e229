#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"

enum {
	OPT_JSON = 1,
	OPT_URL,
	OPT_CONTROL,
	OPT_CACERT,
	OPT_CERT,
	OPT_KEY,
	OPT_LOGIN,
	OPT_NETRC,
	OPT_SINCE,
	OPT_FOLLOW,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"url", required_argument, NULL, OPT_URL},
	{"control", required_argument, NULL, OPT_CONTROL},
	{"cacert", required_argument, NULL, OPT_CACERT},
	{"cert", required_argument, NULL, OPT_CERT},
	{"key", required_argument, NULL, OPT_KEY},
	{"login", required_argument, NULL, OPT_LOGIN},
	{"netrc", no_argument, NULL, OPT_NETRC},
	{"since", required_argument, NULL, OPT_SINCE},
	{"follow", no_argument, NULL, OPT_FOLLOW},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

static bool take_url(struct cli_options *o, const char *name, const char *url, char *err,
		     size_t errlen)
{
	size_t len = strlen(url);

	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8)) {
		snprintf(err, errlen, "%s '%s': must begin with http:// or https://", name, url);
		return false;
	}
	while (len && url[len - 1] == '/')
		len--;
	if (len >= sizeof(o->url)) {
		snprintf(err, errlen, "%s is longer than %zu bytes", name, sizeof(o->url) - 1);
		return false;
	}
	memcpy(o->url, url, len);
	o->url[len] = '\0';
	return true;
}

static bool take_since(struct cli_options *o, const char *text, char *err, size_t errlen)
{
	uint64_t ns;
	char *end;

	errno = 0;
	o->since = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno)
		return true;
	o->since = 0;
	o->newer = text;
	if (conf_parse_duration(text, &ns) == 0 && ns > 0)
		return true;
	snprintf(err, errlen,
		 "--since '%s': must be the number of an event, or a duration as 90s, 10m or 2h",
		 text);
	return false;
}

static bool take_option(struct cli_options *o, int opt, char *const *argv, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_JSON:
		o->json = true;
		return true;
	case OPT_URL:
		return take_url(o, "--url", optarg, err, errlen);
	case OPT_CONTROL:
		o->control = optarg;
		return true;
	case OPT_CACERT:
		o->access.cacert = optarg;
		return true;
	case OPT_CERT:
		o->access.cert = optarg;
		return true;
	case OPT_KEY:
		o->access.key = optarg;
		return true;
	case OPT_LOGIN:
		o->access.login = optarg;
		return true;
	case OPT_NETRC:
		o->access.netrc = true;
		return true;
	case OPT_SINCE:
		return take_since(o, optarg, err, errlen);
	case OPT_FOLLOW:
		o->follow = true;
		return true;
	case OPT_HELP:
		o->help = true;
		return true;
	case OPT_VERSION:
		o->version = true;
		return true;
	case ':':
		snprintf(err, errlen, "%s needs a value", argv[optind - 1]);
		return false;
	}
	snprintf(err, errlen, "unknown option %s", argv[optind - 1]);
	return false;
}

static bool take_environment(struct cli_options *o, char *err, size_t errlen)
{
	const char *url = getenv("RDMA_PINGMESH_URL"), *control = getenv("RDMA_PINGMESH_CONTROL");

	access_from_environment(&o->access);
	if (control && control[0])
		o->control = control;
	return !url || !url[0] || take_url(o, "RDMA_PINGMESH_URL", url, err, errlen);
}

bool cli_options_parse(struct cli_options *o, int argc, char **argv, char *err, size_t errlen)
{
	int opt;

	*o = (struct cli_options){.url = CLI_URL_DEFAULT, .control = CLI_CONTROL_DEFAULT};
	if (!take_environment(o, err, errlen))
		return false;
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		if (!take_option(o, opt, argv, err, errlen))
			return false;
	if (optind < argc)
		o->command = argv[optind++];
	if (optind < argc)
		o->argument = argv[optind++];
	if (optind < argc)
		o->surplus = argv[optind];
	if (!o->command || !strcmp(o->command, "events") || (!o->since && !o->newer && !o->follow))
		return true;
	snprintf(err, errlen, "--since and --follow belong to 'events'");
	return false;
}
