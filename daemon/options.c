#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/control_socket.h"

enum {
	OPT_CONFIG = 256,
	OPT_CONTROL,
	OPT_STATE,
	OPT_CHECK_CONFIG,
	OPT_PRINT_CONFIG,
	OPT_PRINT_PLAN,
	OPT_SYSFS_ROOT,
	OPT_SET,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option long_options[] = {
	{"config", required_argument, NULL, OPT_CONFIG},
	{"control", required_argument, NULL, OPT_CONTROL},
	{"state", required_argument, NULL, OPT_STATE},
	{"check-config", no_argument, NULL, OPT_CHECK_CONFIG},
	{"print-config", no_argument, NULL, OPT_PRINT_CONFIG},
	{"print-plan", no_argument, NULL, OPT_PRINT_PLAN},
	{"sysfs-root", required_argument, NULL, OPT_SYSFS_ROOT},
	{"set", required_argument, NULL, OPT_SET},
	{"version", no_argument, NULL, OPT_VERSION},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static int set_action(struct options *o, enum options_action action, char *err, size_t errlen)
{
	if (o->action != OPTIONS_RUN && o->action != action) {
		snprintf(err, errlen,
			 "--check-config, --print-config, --print-plan, --version and "
			 "--help exclude each other");
		return -EINVAL;
	}
	o->action = action;
	return 0;
}

/* Workers and reloads must find the same place whatever directory they are in. */
static bool make_absolute(const char *path, char ret[OPTIONS_SYSFS_ROOT])
{
	char here[OPTIONS_SYSFS_ROOT];
	int n;

	if (path[0] == '/')
		n = snprintf(ret, OPTIONS_SYSFS_ROOT, "%s", path);
	else if (!path[0] || !getcwd(here, sizeof(here)))
		return false;
	else
		n = snprintf(ret, OPTIONS_SYSFS_ROOT, "%s/%s", here, path);
	return n < OPTIONS_SYSFS_ROOT;
}

static int set_sysfs_root(struct options *o, const char *path, char *err, size_t errlen)
{
	size_t len;

	if (!make_absolute(path, o->sysfs_root)) {
		snprintf(err, errlen,
			 "--sysfs-root needs a directory whose absolute path has at "
			 "most %d bytes",
			 OPTIONS_SYSFS_ROOT - 1);
		return -EINVAL;
	}
	len = strlen(o->sysfs_root);
	while (len > 1 && o->sysfs_root[len - 1] == '/')
		o->sysfs_root[--len] = '\0';
	o->sysfs_only = strcmp(o->sysfs_root, "/sys") != 0;
	return 0;
}

static int add_set(struct options *o, const char *assignment, char *err, size_t errlen)
{
	if (o->n_sets == OPTIONS_SETS_MAX) {
		snprintf(err, errlen, "more than %d times --set", OPTIONS_SETS_MAX);
		return -EINVAL;
	}
	o->sets[o->n_sets++] = assignment;
	return 0;
}

static int take_option(struct options *o, int option, char *word, char *err, size_t errlen)
{
	switch (option) {
	case OPT_CONFIG:
		o->config = optarg;
		return 0;
	case OPT_CONTROL:
		o->control = optarg;
		return 0;
	case OPT_STATE:
		o->state = optarg;
		return 0;
	case OPT_CHECK_CONFIG:
		return set_action(o, OPTIONS_CHECK_CONFIG, err, errlen);
	case OPT_PRINT_CONFIG:
		return set_action(o, OPTIONS_PRINT_CONFIG, err, errlen);
	case OPT_PRINT_PLAN:
		return set_action(o, OPTIONS_PRINT_PLAN, err, errlen);
	case OPT_SYSFS_ROOT:
		return set_sysfs_root(o, optarg, err, errlen);
	case OPT_SET:
		return add_set(o, optarg, err, errlen);
	case OPT_VERSION:
		return set_action(o, OPTIONS_VERSION, err, errlen);
	case OPT_HELP:
		return set_action(o, OPTIONS_HELP, err, errlen);
	case ':':
		snprintf(err, errlen, "%.64s needs a value", word);
		return -EINVAL;
	default:
		snprintf(err, errlen, "unknown option %.64s", word);
		return -EINVAL;
	}
}

/* The service manager's, of which a unit may have several, with colons between: ours has one. */
static const char *default_state(void)
{
	const char *state = getenv("STATE_DIRECTORY");

	return state && state[0] == '/' && !strchr(state, ':') ? state : "";
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	int option, at;

	*o = (struct options){.config = CONFIG_DEFAULT_PATH,
			      .control = CONTROL_SOCKET_PATH,
			      .state = default_state(),
			      .sysfs_root = "/sys"};
	opterr = 0;
	optind = 0; /* makes glibc start afresh: tests parse more than once */
	for (;;) {
		at = optind ? optind : 1;
		/* '+': options come first; ':': tell a missing value from an unknown option. */
		option = getopt_long(argc, argv, "+:", long_options, NULL);
		if (option < 0)
			break;
		if (take_option(o, option, at < argc ? argv[at] : "", err, errlen) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		snprintf(err, errlen, "unexpected argument '%.64s'", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

void options_help(FILE *out)
{
	fputs("Usage: rdma-pingmeshd [OPTION]...\n"
	      "Probe the RDMA peers of this host and tell what was found over HTTP.\n"
	      "\n"
	      "  --config FILE            configuration (" CONFIG_DEFAULT_PATH ")\n"
	      "  --control PATH           socket for reload, release and acquire\n"
	      "                           (" CONTROL_SOCKET_PATH ")\n"
	      "  --state DIR              keep the events in this directory\n"
	      "                           (the service's state directory; without: in memory)\n"
	      "  --set SECTION.KEY=VALUE  override the file; SECTION.NAME.KEY=VALUE in [SECTION "
	      "NAME];\n"
	      "                           repeatable; a list of the file is replaced\n"
	      "  --check-config           check the configuration and exit; unknown keys fail too\n"
	      "  --print-config           print the effective configuration and exit\n"
	      "  --print-plan             print the sessions that this host would have and exit:\n"
	      "                           rail peer peer_rail address class interval\n"
	      "  --sysfs-root DIR         read DIR instead of /sys: counters and port facts only,\n"
	      "                           no device is opened\n"
	      "  --version, --help\n",
	      out);
}
