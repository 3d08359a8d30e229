#include "tests/tools/synthetic_args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(void)
{
	fprintf(stderr,
		"options: --rails N --peers N --ops send,read,write,atomic --openmetrics "
		"--vendors --netdev --hostile --fresh --also --max-series N --per-peer MODE\n");
	exit(64);
}

static unsigned parse_number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n > 1000000)
		usage();
	return (unsigned)n;
}

static void parse_ops(char *list, bool ops[OP_COUNT])
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		ops[op] = false;
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		unsigned op = 0;

		while (op < OP_COUNT && strcmp(name, op_name(op)) != 0)
			op++;
		if (op == OP_COUNT)
			usage();
		ops[op] = true;
	}
}

static enum per_peer_mode parse_per_peer(const char *text)
{
	if (strcmp(text, "summary") == 0)
		return PER_PEER_SUMMARY;
	if (strcmp(text, "histogram") == 0)
		return PER_PEER_HISTOGRAM;
	if (strcmp(text, "worst") == 0)
		return PER_PEER_WORST;
	if (strcmp(text, "none") == 0)
		return PER_PEER_NONE;
	usage();
	return PER_PEER_NONE;
}

static const struct option options[] = {
	{"rails", required_argument, NULL, 'r'},
	{"peers", required_argument, NULL, 'p'},
	{"ops", required_argument, NULL, 'o'},
	{"openmetrics", no_argument, NULL, 'm'},
	{"vendors", no_argument, NULL, 'v'},
	{"netdev", no_argument, NULL, 'n'},
	{"hostile", no_argument, NULL, 'h'},
	{"fresh", no_argument, NULL, 'f'},
	{"max-series", required_argument, NULL, 's'},
	{"per-peer", required_argument, NULL, 'P'},
	{"loopback", no_argument, NULL, 'l'},
	{"also", no_argument, NULL, 'a'},
	{0},
};

void synthetic_args_parse(int argc, char **argv, struct synthetic_args *ret)
{
	struct synthetic *w = &ret->wanted;
	int c;

	*ret = (struct synthetic_args){.wanted = synthetic_default};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			w->rails = parse_number(optarg);
			break;
		case 'p':
			w->peers = parse_number(optarg);
			break;
		case 'o':
			parse_ops(optarg, w->ops);
			break;
		case 'm':
			ret->format = EXPOSITION_OPENMETRICS;
			break;
		case 'v':
			w->vendors = true;
			break;
		case 'n':
			w->netdev = true;
			break;
		case 'h':
			w->hostile = true;
			break;
		case 'l':
			w->loopback = true;
			break;
		case 'a':
			w->also = true;
			break;
		case 'f':
			w->fresh = true;
			break;
		case 's':
			w->max_series = parse_number(optarg);
			break;
		case 'P':
			w->per_peer = parse_per_peer(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind < argc)
		usage();
}
