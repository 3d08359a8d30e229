/* Writes /metrics of a made-up host with the real exporter. */
#include <stdio.h>
#include <stdlib.h>

#include "exporters/metrics.h"
#include "tests/tools/synthetic_args.h"

static const struct process_facts process = {
	.cpu_ns = 4560000000,
	.has_memory = true,
	.resident_bytes = 5242880,
	.virtual_bytes = 26214400,
	.has_open_fds = true,
	.open_fds = 24,
	.has_max_fds = true,
	.max_fds = 1024,
};

int main(int argc, char **argv)
{
	struct synthetic_args args;
	struct strbuf out = {0};
	struct snapshot *s;
	int r;

	synthetic_args_parse(argc, argv, &args);
	s = synthetic_snapshot(&args.wanted, 0);
	if (!s)
		return EXIT_FAILURE;
	r = metrics_render(s, &process, args.format, NULL, &out);
	if (r == 0)
		fwrite(out.data, 1, out.len, stdout);
	strbuf_free(&out);
	snapshot_unref(s);
	return r == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
