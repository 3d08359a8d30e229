/* What a probe costs in instructions of our own: two workers' rails on the fake fabric and a
 *virtual clock, so that the count depends on nothing but the code. bench/instructions runs it under
 * callgrind.
 *
 *	instruction_count SESSIONS SECONDS    prints how many probes were sent */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/names.h"
#include "tests/fake/world.h"

#define CONNECT_NS (60 * NSEC_PER_SEC)
#define INTERVAL_NS NSEC_PER_SEC

static const struct op_config every_second = {INTERVAL_NS, INTERVAL_NS / 2, 64, 0};

static struct host *make(const char *name, const char *address, uint32_t rows, uint32_t sessions)
{
	struct host *h = host_new(name, address);
	const char *everybody[] = {"10.0.0.1", "10.0.0.2"};

	h->n_rows = rows;
	h->cfg.qps_per_device = 2 * sessions + 64;
	h->cfg.op[OP_SEND] = h->cfg.op[OP_READ] = every_second;
	h->cfg.probes_per_second = 100000;
	host_start(h);
	host_accept(h, everybody, 2);
	return h;
}

/* All to one host, each as if to another rail of it: otherwise the next would take its place. */
static void add_session(struct host *h, uint32_t row)
{
	struct wish w = {.type = WISH_SESSION_ADD, .session = {.id = row + 1, .row = row}};

	name_copy(w.session.peer, sizeof(w.session.peer), "host2");
	snprintf(w.session.peer_rail, sizeof(w.session.peer_rail), "rail%" PRIu32, row);
	w.session.address.in.sin_family = AF_INET;
	inet_pton(AF_INET, "10.0.0.2", &w.session.address.in.sin_addr);
	host_wish(h, &w);
}

static bool all_up(struct host *h, uint32_t sessions)
{
	for (uint32_t row = 0; row < sessions; row++)
		if (!world_until_state(h, row, SESSION_UP, CONNECT_NS))
			return false;
	return true;
}

static uint64_t sent(struct host *h, uint32_t sessions)
{
	uint64_t n = 0;

	for (uint32_t row = 0; row < sessions; row++)
		n += host_books(h, row, OP_SEND).sent + host_books(h, row, OP_READ).sent;
	return n;
}

int main(int argc, char **argv)
{
	uint32_t sessions = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
	uint64_t seconds = argc == 3 ? (uint64_t)atoi(argv[2]) : 0, before;
	struct host *a;

	if (!sessions || world_setup(NULL) != 0)
		return EXIT_FAILURE;
	a = make("host1", "10.0.0.1", sessions, sessions);
	make("host2", "10.0.0.2", 8, sessions);
	world_run(10 * NSEC_PER_MSEC);
	for (uint32_t row = 0; row < sessions; row++) {
		add_session(a, row);
		world_run(NSEC_PER_MSEC);
	}
	if (!all_up(a, sessions)) {
		fputs("instruction_count: the sessions do not come up\n", stderr);
		return EXIT_FAILURE;
	}
	world_run(2 * NSEC_PER_SEC);
	before = sent(a, sessions);
	world_run(seconds * NSEC_PER_SEC);
	printf("%" PRIu64 "\n", sent(a, sessions) - before);
	return EXIT_SUCCESS;
}
