/* Round trips of the real rail code in a closed loop: the next probe is due the moment the one
 * before it is done.
 *
 *   closed_loop [--device D] [--size N] serve     answer probes up to that size until SIGTERM
 *   closed_loop [--device D] [--size N] [--count N] read|send ADDRESS
 *
 * How the loop is closed: the probe's interval is a second, and whenever nothing is in flight the
 * rail's clock is put forward to the next due instant. Every probe so takes the whole way through
 * schedule, post, event, poll, books and shared table, and the clock moves only where no round
 * trip is being measured. Instants that were due while the QP was busy all the same are told. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bench/worker.h"
#include "core/clock.h"
#include "core/names.h"
#include "probes/table.h"

#define INTERVAL_NS NSEC_PER_SEC
#define DEADLINE_NS (500 * NSEC_PER_MSEC)
#define WARMUP 50      /* caches, ARP and the first credits are not what is compared */
#define COUNT_MAX 1000 /* all samples of a run fit the table's ring */
#define SIZE_MAX_BYTES 4096
#define UP_MS 30000 /* for listening, connecting and HELLO */
#define RUN_MS 120000
#define PERFTEST_TAIL 2 /* perftest leaves its two largest values out of the mean */

struct options {
	const char *device, *peer;
	enum op op;
	bool serve;
	uint32_t count, size;
};

/* The measurement, written by the rail's thread; main reads after done. */
struct run {
	const struct options *o;
	struct table *table;
	atomic_bool go; /* main saw the session up */
	bool began, timing, done;
	int done_fd;
	uint64_t first; /* probes before the ones that count */
	uint64_t skipped_instants;
	uint64_t began_ns, ended_ns, virtual_began_ns, cpu_ns;
	struct session_books before, after;
	uint64_t rtt[STREAM_COUNT][SAMPLES_MAX];
	uint32_t n[STREAM_COUNT];
};

/* How far the rail's clock was put forward; of the rail's thread. Not in struct run, for the
 * rail's clock takes no argument. */
static uint64_t skipped_ns;

static uint64_t skipping_now_ns(void)
{
	return clock_now_ns() + skipped_ns;
}

/* --- the loop: the rail's thread --- */

/* Whether the clock may move. A probe that missed its deadline is still under way until it is late;
 * and when an instant was due and could not be used (our SEND's acknowledgement may come after
 * the reply), the QP is busy with what the books do not show: the next completion frees it. */
static bool is_idle(struct run *run, const struct session_books *b)
{
	const struct op_books *op = &b->op[run->o->op];
	uint64_t skipped = op->scheduled - op->sent;
	bool stalled = skipped != run->skipped_instants;

	run->skipped_instants = skipped;
	return !stalled && op->ok + op->late == op->sent;
}

static void finish(struct run *run, const struct session_books *b)
{
	uint64_t one = 1;

	run->ended_ns = clock_now_ns();
	run->cpu_ns = clock_process_cpu_ns() - run->cpu_ns;
	run->after = *b;
	for (unsigned s = 0; s < STREAM_COUNT; s++)
		run->n[s] = table_get_samples(run->table, 0, s, run->virtual_began_ns, run->rtt[s],
					      SAMPLES_MAX);
	run->done = true;
	if (write(run->done_fd, &one, sizeof(one)) < 0)
		abort(); /* an eventfd of our own */
}

static void count(struct run *run, const struct session_books *b)
{
	uint64_t n = b->op[run->o->op].sent;

	if (!run->began) {
		run->began = true;
		run->first = n + WARMUP;
	} else if (!run->timing && n >= run->first) {
		run->timing = true;
		run->first = n;
		run->before = *b;
		run->cpu_ns = clock_process_cpu_ns();
		run->virtual_began_ns = skipping_now_ns();
		run->began_ns = clock_now_ns();
	} else if (run->timing && n >= run->first + run->o->count) {
		finish(run, b);
	}
}

static bool may_skip(struct run *run)
{
	struct session_books b;

	if (run->done || !atomic_load(&run->go) || !table_get_books(run->table, 0, &b) ||
	    !is_idle(run, &b))
		return false;
	count(run, &b);
	return !run->done;
}

/* rail_run(), but without sleep where nothing is in flight. */
static void closed_loop(struct rail *r, void *arg)
{
	struct run *run = arg;
	uint64_t wake, now;

	while ((wake = rail_step(r)) != 0) {
		if (rail_arm(r))
			continue;
		if (wake == TIMER_NEVER || !may_skip(run)) {
			rail_wait(r, wake);
			continue;
		}
		now = skipping_now_ns();
		if (wake > now)
			skipped_ns += wake - now;
	}
}

static void serving_loop(struct rail *r, void *arg)
{
	(void)arg;
	rail_run(r);
}

/* --- main's part --- */

static struct worker_config make_config(const struct options *o)
{
	struct worker_config c = {
		.instance = (uint64_t)getpid() << 32 | (clock_wall_ns() & 0xffffffff),
		.generation = 1,
		.n_classes = 1,
		.ack_timeout = 17,
		.retry_count = 6,
		.qps_per_device = 1024,
		.connects = 16,
		.accept_any = 1,
		.cm_port = RDMA_CM_PORT,
		.classes = {{.name = "default", .tos = -1, .sl = -1}},
	};

	name_copy(c.device, sizeof(c.device), o->device);
	name_copy(c.host, sizeof(c.host), o->serve ? "bench-server" : "bench-client");
	for (unsigned op = 0; op < OP_COUNT; op++)
		c.op[op] = (struct op_config){.deadline_ns = DEADLINE_NS, .size = o->size};
	if (!o->serve)
		c.op[o->op].interval_ns = INTERVAL_NS;
	return c;
}

static bool add_session(struct bench_worker *w, const struct options *o, uint32_t rail)
{
	struct wish wish = {.type = WISH_SESSION_ADD};

	wish.session.id = 1;
	wish.session.rail = rail;
	name_copy(wish.session.peer, sizeof(wish.session.peer), "bench-server");
	wish.session.address.in.sin_family = AF_INET;
	inet_pton(AF_INET, o->peer, &wish.session.address.in.sin_addr);
	return wish_send(bench_worker_fd(w), &wish) == 0;
}

/* One fact; false when it ends the run. */
static bool take_fact(struct bench_worker *w, struct run *run, const struct fact *f, bool *added)
{
	const struct options *o = run->o;

	if (f->type == FACT_DEVICE && f->text[0])
		fprintf(stderr, "closed_loop: %s\n", f->text);
	if (f->type == FACT_RAIL && f->rail_fact.up && o->serve && !*added) {
		*added = true;
		printf("serving on %s\n", f->rail_fact.address);
		fflush(stdout);
	} else if (f->type == FACT_RAIL && f->rail_fact.up && !*added) {
		*added = add_session(w, o, f->rail);
	}
	if (f->type != FACT_SESSION)
		return true;
	if (f->number == SESSION_UP)
		atomic_store(&run->go, true);
	if (f->number == SESSION_BACKOFF || (f->old == SESSION_UP && f->number != SESSION_UP)) {
		fprintf(stderr, "closed_loop: session to %s: %s\n", o->peer, f->text);
		return false;
	}
	return true;
}

static bool take_facts(struct bench_worker *w, struct run *run, bool *added)
{
	struct fact f;
	int r;

	while ((r = fact_recv(bench_worker_fd(w), &f)) > 0)
		if (!take_fact(w, run, &f, added))
			return false;
	return r == 0;
}

/* Until the run is done (or, serving, until a signal): true. Facts are the worker's. */
static bool attend(struct bench_worker *w, struct run *run, int signal_fd)
{
	struct pollfd fds[] = {
		{.fd = bench_worker_fd(w), .events = POLLIN},
		{.fd = run->done_fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
	};
	uint64_t until = clock_now_ns() + UP_MS * NSEC_PER_MSEC;
	bool added = false, up = false;

	for (;;) {
		uint64_t now = clock_now_ns();

		if (!run->o->serve && now >= until)
			break;
		poll(fds, 3, run->o->serve ? -1 : (int)((until - now) / NSEC_PER_MSEC) + 1);
		if (fds[2].revents)
			return run->o->serve;
		if (fds[1].revents)
			return true;
		if (fds[0].revents && !take_facts(w, run, &added))
			return false;
		if (!up && atomic_load(&run->go)) {
			up = true;
			until = clock_now_ns() + RUN_MS * NSEC_PER_MSEC;
		}
	}
	fprintf(stderr, "closed_loop: %s in time\n",
		up	? "the probes did not come to an end"
		: added ? "the session did not come up; does `closed_loop serve` run on the peer?"
			: "the device has no rail that is up");
	return false;
}

/* --- the report --- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double mean_us(const uint64_t *v, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (double)v[i];
	return n ? sum / n / NSEC_PER_USEC : 0;
}

static void report_stream(struct run *run, unsigned stream)
{
	uint32_t n = run->n[stream];
	uint64_t *v = run->rtt[stream];

	if (!n)
		return;
	qsort(v, n, sizeof(v[0]), compare);
	printf(", \"%s\": {\"count\": %u, \"mean_us\": %.2f, \"mean_trimmed_us\": %.2f, "
	       "\"p50_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f}",
	       stream_name(stream), n, mean_us(v, n),
	       mean_us(v, n > PERFTEST_TAIL ? n - PERFTEST_TAIL : n),
	       (double)v[n / 2] / NSEC_PER_USEC, (double)v[n * 99 / 100] / NSEC_PER_USEC,
	       (double)v[n - 1] / NSEC_PER_USEC);
}

/* One line of JSON. What is not ok, or was left out as our own delay, is told: a mean of less than
 * all would flatter. */
static bool report(struct run *run)
{
	const struct op_books *a = &run->before.op[run->o->op], *b = &run->after.op[run->o->op];
	double n = (double)(b->sent - a->sent);

	printf("{\"sent\": %.0f, \"ok\": %llu, \"not_attempted\": %llu, \"self_delayed\": %llu, "
	       "\"retransmits_suspected\": %llu, \"late\": %llu, \"period_us\": %.2f, \"cpu_us\": "
	       "%.2f",
	       n, (unsigned long long)(b->ok - a->ok),
	       (unsigned long long)(b->scheduled - b->sent - a->scheduled + a->sent),
	       (unsigned long long)(b->self_delayed - a->self_delayed),
	       (unsigned long long)(b->retransmits_suspected - a->retransmits_suspected),
	       (unsigned long long)(b->late - a->late),
	       (double)(run->ended_ns - run->began_ns) / NSEC_PER_USEC / n,
	       (double)run->cpu_ns / NSEC_PER_USEC / n);
	for (unsigned s = 0; s < STREAM_COUNT; s++)
		report_stream(run, s);
	puts("}");
	return b->ok + b->late - a->ok - a->late == b->sent - a->sent;
}

/* --- the command line --- */

static void usage(void)
{
	fprintf(stderr,
		"usage: closed_loop [--device NAME] [--size %u..%u] serve\n"
		"       closed_loop [--device NAME] [--size %u..%u] [--count 1..%u] "
		"read|send IPV4-ADDRESS\n",
		WIRE_MIN_PROBE, SIZE_MAX_BYTES, WIRE_MIN_PROBE, SIZE_MAX_BYTES, COUNT_MAX);
	exit(64);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || end == text || v < least || v > most)
		usage();
	return (uint32_t)v;
}

static void parse_what(struct options *o, char **words, int n)
{
	struct in_addr a;

	if (n == 1 && !strcmp(words[0], "serve")) {
		o->serve = true;
		return;
	}
	if (n != 2 || inet_pton(AF_INET, words[1], &a) != 1)
		usage();
	o->peer = words[1];
	if (!strcmp(words[0], "read"))
		o->op = OP_READ;
	else if (!strcmp(words[0], "send"))
		o->op = OP_SEND;
	else
		usage();
}

static struct options parse(int argc, char **argv)
{
	static const struct option longs[] = {{"device", required_argument, NULL, 'd'},
					      {"count", required_argument, NULL, 'c'},
					      {"size", required_argument, NULL, 's'},
					      {0}};
	struct options o = {.device = "rxe0", .count = COUNT_MAX, .size = 64};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'd')
			o.device = optarg;
		else if (c == 'c')
			o.count = number(optarg, 1, COUNT_MAX);
		else if (c == 's')
			o.size = number(optarg, WIRE_MIN_PROBE, SIZE_MAX_BYTES);
		else
			usage();
	}
	parse_what(&o, argv + optind, argc - optind);
	return o;
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct run *run = calloc(1, sizeof(*run));
	struct bench_worker_params p = {
		.config = make_config(&o),
		.rail_now_ns = skipping_now_ns,
		.rail_loop = o.serve ? serving_loop : closed_loop,
		.arg = run,
		.samples_per_stream = SAMPLES_MAX,
	};
	int signal_fd = block_signals();
	struct bench_worker *w;
	bool good;

	if (!run)
		return 1;
	run->o = &o;
	run->done_fd = eventfd(0, EFD_CLOEXEC);
	w = bench_worker_start(&p);
	if (!w) {
		fprintf(stderr, "closed_loop: the worker cannot be started: %s\n", strerror(errno));
		return 1;
	}
	run->table = bench_worker_table(w);
	good = attend(w, run, signal_fd);
	if (good && !o.serve)
		good = report(run);
	bench_worker_stop(w);
	free(run);
	return good ? 0 : 1;
}
