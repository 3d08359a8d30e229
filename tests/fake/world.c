#include "world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/names.h"
#include "probes/control_priv.h"
#include "probes/ledger.h"
#include "probes/rail_priv.h"
#include "probes/spsc.h"

#define TICK_NS (100 * NSEC_PER_MSEC)	   /* shorter than a heartbeat */
#define RAIL_BEAT_NS (250 * NSEC_PER_MSEC) /* rail_wait() sleeps no longer */
#define QUEUE 1024

struct world world;
static uint64_t virtual_ns;
static bool real_clock;
static uint64_t random_state;
static pthread_t fabric_thread;
static atomic_bool fabric_stop;

uint64_t world_now_ns(void)
{
	return real_clock ? clock_now_ns() : virtual_ns;
}

static uint64_t wall_ns(void)
{
	return 1700000000 * NSEC_PER_SEC + world_now_ns();
}

static uint64_t next_random(void)
{
	static _Thread_local uint64_t mine;

	if (real_clock)
		return mine += 0x9e3779b97f4a7c15ULL;
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 16;
}

int world_setup(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	real_clock = false;
	virtual_ns = 1000 * NSEC_PER_SEC;
	random_state = 42;
	fabric_begin(world_now_ns);
	return 0;
}

/* --- hosts --- */

struct host *host_new(const char *name, const char *address)
{
	struct host *h = &world.host[world.n_hosts++];
	char device[16];

	assert_true(world.n_hosts <= WORLD_HOSTS);
	snprintf(device, sizeof(device), "fake%u", world.n_hosts - 1);
	h->dev = fabric_add_device(device, address);
	h->n_rows = WORLD_ROWS;
	h->cfg = (struct worker_config){
		.instance = 0x1000 + world.n_hosts,
		.generation = 1,
		.n_classes = 1,
		.ack_timeout = 14, /* 67 ms */
		.retry_count = 6,
		.qps_per_device = 32,
		.connects = 8,
		.accept_any = 1,
		.cm_port = RDMA_CM_PORT,
		.counters_interval_ns = NSEC_PER_SEC,
		.classes = {{.name = "default", .tos = -1, .sl = -1}},
	};
	h->cfg.op[OP_SEND] = (struct op_config){WORLD_INTERVAL_NS, WORLD_DEADLINE_NS, 64, 0};
	h->cfg.op[OP_READ] = h->cfg.op[OP_SEND];
	name_copy(h->cfg.host, sizeof(h->cfg.host), name);
	name_copy(h->cfg.device, sizeof(h->cfg.device), device);
	name_copy(h->address, sizeof(h->address), address ? address : "");
	return h;
}

static void set_counters(void *arg, const struct worker_config *cfg)
{
	struct host *h = arg;

	h->counters_cfg = *cfg;
}

void host_start(struct host *h)
{
	struct table_layout layout = {h->n_rows, SAMPLES_MIN};
	struct rail_params rp = {.max_conns = h->cfg.qps_per_device + 64,
				 .max_sessions = h->n_rows,
				 .now_ns = world_now_ns,
				 .wall_ns = wall_ns};
	struct control_params cp = {
		.now_ns = world_now_ns, .wall_ns = wall_ns, .random = next_random};
	struct wish config = {.type = WISH_CONFIG, .config = h->cfg};
	int fd;

	cp.set_counters = set_counters;
	cp.counters_arg = h;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, h->socket), 0);
	h->table = table_create(&layout, &fd);
	assert_non_null(h->table);
	close(fd);
	h->commands = spsc_new(sizeof(struct rail_cmd), QUEUE);
	h->notes = spsc_new(sizeof(struct rail_note), QUEUE);
	rp.table = cp.table = h->table;
	rp.commands = cp.commands = h->commands;
	rp.notes = cp.notes = h->notes;
	cp.socket_fd = h->socket[1];
	rp.max_receives = control_max_receives(&h->cfg);
	h->rail = rail_new(&rp);
	h->control = control_new(&cp, &h->cfg);
	assert_true(h->rail && h->control);
	h->frozen_rail = h->frozen_control = false;
	h->rail_wake_ns = h->control_wake_ns = 0;
	memset(&h->told, 0, sizeof(h->told));
	free(h->last);
	h->last = calloc(h->n_rows, sizeof(*h->last));
	h->running = true;
	host_wish(h, &config);
}

struct host *host_up(const char *name, const char *address)
{
	struct host *h = host_new(name, address);

	host_start(h);
	return h;
}

static void host_free(struct host *h)
{
	if (!h->running)
		return;
	h->running = false;
	free(h->last);
	h->last = NULL;
	fabric_use(h->dev);
	control_free(h->control);
	rail_free(h->rail);
	fabric_use(NULL);
	spsc_free(h->commands);
	spsc_free(h->notes);
	table_unmap(h->table);
	close(h->socket[0]);
	close(h->socket[1]);
}

void host_crash(struct host *h)
{
	host_free(h);
}

void host_kill(struct host *h)
{
	fabric_set_dark(h->dev, true);
	host_free(h);
	fabric_set_dark(h->dev, false);
}

int world_teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < world.n_hosts; i++)
		host_free(&world.host[i]);
	if (real_clock) {
		fabric_stop = true;
		pthread_join(fabric_thread, NULL);
	}
	fabric_end();
	return 0;
}

int host_exit_code(const struct host *h)
{
	return h->control->exit_code;
}

void host_wish(struct host *h, const struct wish *w)
{
	assert_int_equal(wish_send(h->socket[0], w), 0);
}

void host_accept(struct host *h, const char *const *addresses, unsigned n)
{
	struct wish w = {.type = WISH_ACCEPT, .accept = {.first = 1, .n = n}};

	for (unsigned i = 0; i < n; i++) {
		w.accept.address[i].s6_addr[10] = w.accept.address[i].s6_addr[11] = 0xff;
		assert_int_equal(inet_pton(AF_INET, addresses[i], &w.accept.address[i].s6_addr[12]),
				 1);
	}
	host_wish(h, &w);
}

void host_session(struct host *h, uint32_t row, const char *peer, const char *address)
{
	static _Atomic uint64_t id = 1;
	struct wish w = {.type = WISH_SESSION_ADD, .session = {.id = id++, .row = row}};

	name_copy(w.session.peer, sizeof(w.session.peer), peer);
	if (strchr(address, ':')) {
		w.session.address.in6.sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, address, &w.session.address.in6.sin6_addr), 1);
	} else {
		w.session.address.in.sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, address, &w.session.address.in.sin_addr), 1);
	}
	memset(&h->last[row], 0, sizeof(h->last[row]));
	host_wish(h, &w);
}

void host_remove_session(struct host *h, uint32_t row, enum abort_reason reason)
{
	struct wish w = {.type = WISH_SESSION_REMOVE, .session = {.row = row, .reason = reason}};

	w.session.address.in.sin_family = AF_INET;
	w.session.id = host_conn(h, row).session_id;
	host_wish(h, &w);
}

void host_freeze(struct host *h, bool frozen)
{
	h->frozen_rail = h->frozen_control = frozen;
}

/* --- what main is told --- */

static void note_change(struct told *t, const struct fact *f)
{
	struct change *c = &t->change[t->n_changes % WORLD_CHANGES];

	t->n_changes++;
	*c = (struct change){f->row, (enum session_state)f->old, (enum session_state)f->number,
			     world_now_ns(), ""};
	name_copy(c->why, sizeof(c->why), f->text);
}

static void note_fact(struct told *t, const struct fact *f)
{
	t->facts[f->type]++;
	switch ((enum fact_type)f->type) {
	case FACT_SESSION:
		note_change(t, f);
		break;
	case FACT_ASYNC:
		t->async[f->number]++;
		break;
	case FACT_DRAIN:
		t->drains[f->number]++;
		break;
	case FACT_DEVICE:
		name_copy(t->device, sizeof(t->device), f->text);
		break;
	case FACT_DUPLICATE:
		name_copy(t->duplicate, sizeof(t->duplicate), f->text);
		name_copy(t->duplicate_host, sizeof(t->duplicate_host), f->host);
		t->duplicate_hash = f->host_hash;
		break;
	case FACT_REFUSED:
		t->refused = (enum wire_reject)f->number;
		name_copy(t->refusal, sizeof(t->refusal), f->text);
		break;
	case FACT_STALLED:
		t->stalled = f->number;
		break;
	case FACT_ANSWERED:
		name_copy(t->answers_as, sizeof(t->answers_as), f->host);
		break;
	case FACT_CORRUPT:
		name_copy(t->corrupt, sizeof(t->corrupt), f->text);
		break;
	case FACT_READY:
	case FACT_RAIL:
	case FACT_REMOVED:
	case FACT_ATTENTION:
	case FACT_BYE:
		break;
	}
}

void world_take_facts(void)
{
	for (unsigned i = 0; i < world.n_hosts; i++) {
		struct host *h = &world.host[i];
		struct fact f;

		while (h->running && fact_recv(h->socket[0], &f) == 1)
			note_fact(&h->told, &f);
	}
}

/* --- the books, looked at after every step --- */

static void assert_not_back(const struct op_books *before, const struct op_books *now)
{
	assert_true(now->scheduled >= before->scheduled);
	assert_true(now->sent >= before->sent);
	assert_true(now->ok >= before->ok);
	assert_true(now->late >= before->late);
	assert_true(op_books_failed(now) >= op_books_failed(before));
	assert_true(op_books_aborted(now) >= op_books_aborted(before));
	assert_true(op_books_not_attempted(now) >= op_books_not_attempted(before));
}

/* All rows of a small host; of a big one some each time. */
static void check_books(struct host *h)
{
	struct session_books b;

	for (uint32_t i = 0; i < WORLD_ROWS; i++) {
		uint32_t row = h->next_row++ % h->n_rows;

		assert_true(table_get_books(h->table, row, &b));
		for (unsigned op = 0; op < OP_COUNT; op++) {
			const struct op_books *o = &b.op[op];

			assert_true(op_books_balanced(o));
			assert_true(o->rtt_count == o->ok + o->late - o->self_delayed);
			assert_true(o->late <= op_books_failed(o));
			if (b.session_id == h->last[row].session_id)
				assert_not_back(&h->last[row].op[op], o);
		}
		h->last[row] = b;
	}
}

/* --- time --- */

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd >= 0 && poll(&p, 1, 0) == 1;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What rail_wait() does with what woke it. */
static bool rail_is_woken(struct host *h)
{
	struct rail *r = h->rail;

	return readable(spsc_fd(h->commands)) || (r->channel && readable(r->channel->fd));
}

/* As rail_wait() would return: a step that nothing asked for would hide a wake-up that is lost. */
static bool rail_is_due(struct host *h)
{
	return h->rail_wake_ns <= virtual_ns || rail_is_woken(h);
}

static bool control_is_woken(struct host *h)
{
	struct control *c = h->control;
	struct ibv_context *own = endpoint_own(c->endpoint), *verbs = endpoint_verbs(c->endpoint);

	return readable(spsc_fd(h->notes)) || (!c->main_gone && readable(h->socket[1])) ||
	       (c->channel && readable(c->channel->fd)) || (own && readable(own->async_fd)) ||
	       (verbs && readable(verbs->async_fd));
}

static void step_rail(struct host *h)
{
	if (h->rail->channel && readable(h->rail->channel->fd))
		h->rail->woken = true;
	spsc_drain_fd(h->commands);
	do
		h->rail_wake_ns = rail_step(h->rail);
	while (rail_arm(h->rail));
	h->rail_wake_ns = min_u64(h->rail_wake_ns, virtual_ns + RAIL_BEAT_NS);
	check_books(h);
}

static bool lives(const struct host *h)
{
	return h->running && h->control->exit_code < 0;
}

static void step_host(struct host *h)
{
	if (!lives(h))
		return;
	fabric_use(h->dev);
	if (!h->frozen_rail && rail_is_due(h))
		step_rail(h);
	if (!h->frozen_control) {
		spsc_drain_fd(h->notes);
		h->control_wake_ns = control_step(h->control);
	}
	fabric_use(NULL);
}

/* When the host wants to run again: what it said, or now if a descriptor of it is readable. */
static uint64_t host_wake(struct host *h)
{
	uint64_t at = UINT64_MAX;

	if (!lives(h))
		return at;
	if (!h->frozen_rail)
		at = rail_is_woken(h) ? 0 : h->rail_wake_ns;
	if (!h->frozen_control)
		at = min_u64(at, control_is_woken(h) ? 0 : h->control_wake_ns);
	return at;
}

/* Everybody does what is to be done now. */
static void do_now(void)
{
	fabric_step();
	for (unsigned i = 0; i < world.n_hosts; i++)
		step_host(&world.host[i]);
	world_take_facts();
}

/* On to the next instant at which there is something to do. */
static void pass_time(uint64_t end_ns)
{
	uint64_t next = min_u64(end_ns, virtual_ns + TICK_NS);

	for (unsigned i = 0; i < world.n_hosts; i++)
		next = min_u64(next, host_wake(&world.host[i]));
	next = min_u64(next, fabric_step());
	if (next <= virtual_ns)
		next = virtual_ns + NSEC_PER_USEC; /* a round takes its time */
	for (unsigned i = 0; i < world.n_hosts; i++)
		if (lives(&world.host[i]) && !world.host[i].frozen_rail)
			world.host[i].rail->asleep_ns += next - virtual_ns;
	virtual_ns = next;
}

void world_run(uint64_t ns)
{
	uint64_t end = virtual_ns + ns;

	while (virtual_ns < end) {
		do_now();
		pass_time(end);
	}
	do_now();
}

bool world_until(bool (*done)(void *arg), void *arg, uint64_t ns)
{
	uint64_t end = virtual_ns + ns;

	for (;;) {
		do_now();
		if (done(arg))
			return true;
		if (virtual_ns >= end)
			return false;
		pass_time(end);
	}
}

struct awaited {
	struct host *h;
	uint32_t row;
	enum session_state state;
};

static bool has_state(void *arg)
{
	struct awaited *a = arg;
	struct session_conn conn = host_conn(a->h, a->row);

	return conn.session_id && conn.state == a->state;
}

bool world_until_state(struct host *h, uint32_t row, enum session_state state, uint64_t ns)
{
	struct awaited a = {h, row, state};

	return world_until(has_state, &a, ns);
}

static bool has_ended(void *arg)
{
	return host_exit_code(arg) >= 0;
}

bool host_stop(struct host *h)
{
	struct wish w = {.type = WISH_STOP};

	host_wish(h, &w);
	return world_until(has_ended, h, 3 * NSEC_PER_SEC);
}

/* --- looking --- */

struct session_conn host_conn(const struct host *h, uint32_t row)
{
	struct session_conn c = {0};

	if (!h->running)
		return c;
	assert_true(table_get_conn(h->table, row, &c));
	return c;
}

struct op_books host_books(const struct host *h, uint32_t row, enum op op)
{
	struct session_books b;

	assert_true(table_get_books(h->table, row, &b));
	return b.op[op];
}

struct rail_fact host_rail(const struct host *h)
{
	struct rail_fact f;

	assert_true(table_get_rail(h->table, 0, &f));
	return f;
}

struct rail_totals host_totals(const struct host *h)
{
	struct rail_totals t;

	assert_true(table_get_rail_totals(h->table, 0, &t));
	return t;
}

unsigned host_entered(const struct host *h, uint32_t row, enum session_state state)
{
	unsigned n = 0;

	assert_true(h->told.n_changes <= WORLD_CHANGES);
	for (unsigned i = 0; i < h->told.n_changes; i++)
		n += h->told.change[i].row == row && h->told.change[i].to == state;
	return n;
}

void assert_up(struct host *h, uint32_t row)
{
	assert_true(world_until_state(h, row, SESSION_UP, 30 * NSEC_PER_SEC));
}

static struct pair connect_pair(struct pair p)
{
	world_run(10 * NSEC_PER_MSEC);
	host_session(p.a, 0, "host2", "10.0.0.2");
	assert_up(p.a, 0);
	return p;
}

struct pair world_pair(void)
{
	return connect_pair(
		(struct pair){host_up("host1", "10.0.0.1"), host_up("host2", "10.0.0.2")});
}

struct pair world_hosts_of(const struct op_config ops[OP_COUNT], const struct fake_knobs *ka,
			   const struct fake_knobs *kb)
{
	struct pair p = {host_new("host1", "10.0.0.1"), host_new("host2", "10.0.0.2")};

	memcpy(p.a->cfg.op, ops, sizeof(p.a->cfg.op));
	memcpy(p.b->cfg.op, ops, sizeof(p.b->cfg.op));
	fabric_set_knobs(p.a->dev, ka);
	fabric_set_knobs(p.b->dev, kb);
	host_start(p.a);
	host_start(p.b);
	world_run(10 * NSEC_PER_MSEC);
	return p;
}

struct pair world_pair_of(const struct op_config ops[OP_COUNT], const struct fake_knobs *ka,
			  const struct fake_knobs *kb)
{
	struct pair p = world_hosts_of(ops, ka, kb);

	host_session(p.a, 0, "host2", "10.0.0.2");
	assert_up(p.a, 0);
	return p;
}

struct pair world_pair_with(const struct op_config ops[OP_COUNT])
{
	static const struct fake_knobs good;

	return world_pair_of(ops, &good, &good);
}

void assert_receives_kept(const struct host *h)
{
	uint32_t ready = 0, posted = 0;

	for (uint32_t i = 0; i < h->rail->n_queues; i++) {
		const struct rail_queue *q = &h->rail->queue[i];

		assert_int_equal(q->rx_posted + q->rx_free_len, q->rx_ready);
		ready += q->rx_ready;
		posted += q->rx_posted;
	}
	/* As many as the connections may need, whatever failed while they were made. */
	assert_true(ready > RX_PER_PLACE * fabric_qps(h->dev));
	assert_int_equal(fabric_srq_posted(h->dev), posted);
}

/* --- real threads --- */

static void *run_fabric(void *arg)
{
	(void)arg;
	while (!fabric_stop) {
		uint64_t next = fabric_step(), now = clock_now_ns();
		uint64_t ns = next <= now ? 0 : min_u64(next - now, 200 * NSEC_PER_USEC);
		struct timespec ts = {0, (long)ns};

		ppoll(NULL, 0, &ts, NULL);
	}
	return NULL;
}

int world_setup_threads(void **state)
{
	world_setup(state);
	real_clock = true;
	fabric_stop = false;
	return pthread_create(&fabric_thread, NULL, run_fabric, NULL);
}

static void *run_rail(void *arg)
{
	struct host *h = arg;

	fabric_use(h->dev);
	rail_run(h->rail);
	return NULL;
}

static void *run_control(void *arg)
{
	struct host *h = arg;

	fabric_use(h->dev);
	return (void *)(intptr_t)control_run(h->control);
}

void host_start_threads(struct host *h)
{
	host_start(h);
	h->threads = true;
	assert_int_equal(pthread_create(&h->rail_thread, NULL, run_rail, h), 0);
	assert_int_equal(pthread_create(&h->control_thread, NULL, run_control, h), 0);
}

int host_join(struct host *h)
{
	struct rail_cmd stop = {.type = RAIL_STOP};
	void *code;

	assert_true(h->threads);
	h->threads = false;
	pthread_join(h->control_thread, &code);
	assert_true(spsc_push(h->commands, &stop));
	pthread_join(h->rail_thread, NULL);
	return (int)(intptr_t)code;
}

void world_dump(const struct host *h)
{
	struct session_books b;

	for (unsigned i = 0; i < h->told.n_changes && i < WORLD_CHANGES; i++)
		fprintf(stderr, "%s %.6f row %u: %s -> %s (%s)\n", h->cfg.host,
			(double)(h->told.change[i].at_ns % 1000000000000) / 1e9,
			h->told.change[i].row, session_state_name(h->told.change[i].from),
			session_state_name(h->told.change[i].to), h->told.change[i].why);
	for (uint32_t row = 0; row < h->n_rows; row++) {
		table_get_books(h->table, row, &b);
		for (unsigned op = 0; b.session_id && op < 2; op++) {
			const struct op_books *o = &b.op[op];

			fprintf(stderr, "row %u %s: scheduled %lu sent %lu ok %lu late %lu\n", row,
				op_name((enum op)op), o->scheduled, o->sent, o->ok, o->late);
			for (unsigned i = 0; i < FAIL_COUNT; i++)
				if (o->failed[i])
					fprintf(stderr, "  failed %s %lu\n",
						fail_reason_name((enum fail_reason)i),
						o->failed[i]);
			for (unsigned i = 0; i < ABORT_COUNT; i++)
				if (o->aborted[i])
					fprintf(stderr, "  aborted %s %lu\n",
						abort_reason_name((enum abort_reason)i),
						o->aborted[i]);
			for (unsigned i = 0; i < SKIP_COUNT; i++)
				if (o->not_attempted[i])
					fprintf(stderr, "  skipped %s %lu\n",
						skip_reason_name((enum skip_reason)i),
						o->not_attempted[i]);
		}
	}
}
