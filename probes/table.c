#include "probes/table.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "probes/twin.h"

#define SAMPLES_WINDOW_NS (60 * NSEC_PER_SEC)
#define SESSIONS_MAX (1u << 16) /* more rows are a corrupt header */
#define COUNTER_ATTEMPTS 4
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* A cache line: writers of neighbouring cells are different threads. */
#define CELL __attribute__((aligned(64)))

/* Room for a twin; a struct twin itself has no size to stand in the middle of something. */
#define TWIN_OF(type, name)                                                                        \
	struct {                                                                                   \
		_Atomic uint64_t space[TWIN_SIZE(sizeof(type)) / 8];                               \
	} CELL name
#define TWIN(cell) ((struct twin *)(cell).space)

struct shared_hist {
	_Atomic uint64_t bucket[HIST_BUCKETS];
	_Atomic uint64_t sum_ns;
} CELL;

struct shared_beat {
	_Atomic uint64_t mono_ns, wall_ns;
} CELL;

/* Start of the mapping; the rows follow. */
struct shared {
	uint64_t magic;
	uint32_t version;
	uint32_t sessions;
	uint32_t samples_per_stream;
	struct shared_beat beat[WORKER_LOOPS];
	CELL _Atomic uint64_t qps_active, qps_passive;
	_Atomic uint64_t async[PORT_MAX + 1][ASYNC_EVENT_COUNT];
	TWIN_OF(struct rail_fact, rail[RAIL_MAX]);
	TWIN_OF(struct rail_totals, rail_totals[RAIL_MAX]);
	struct shared_hist rtt[RAIL_MAX][CLASS_MAX][STREAM_COUNT];
	TWIN_OF(struct counter_round, counters);
};

/* at_ns is 0 while the pair is being replaced. */
struct shared_sample {
	_Atomic uint64_t at_ns, rtt_ns;
};

/* Start of a row; STREAM_COUNT rings of samples follow. */
struct shared_row {
	TWIN_OF(struct session_books, books);
	TWIN_OF(struct session_conn, conn);
	CELL _Atomic uint64_t sample_next[STREAM_COUNT];
	CELL struct shared_sample samples[];
};

static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the table is shared between processes");
static_assert(sizeof(struct op_books) % 8 == 0, "part of a twin");
static_assert(sizeof(struct counter_round) % 8 == 0, "read and published in words");
static_assert(offsetof(struct counter_round, ports) % 8 == 0, "part of a twin");
static_assert(offsetof(struct counter_round, gids) % 8 == 0, "part of a twin");
static_assert(offsetof(struct counter_round, values) % 8 == 0, "part of a twin");
static_assert(sizeof(((struct counter_round *)0)->gids) % 8 == 0, "part of a twin");

struct table {
	struct shared *shared;
	size_t size;
	/* A copy: the mapped one can be overwritten by a worker gone wild. */
	struct table_layout layout;
	struct counter_round *round; /* filled by the counter thread, then copied out in one go */
};

static size_t row_size(const struct table_layout *layout)
{
	return sizeof(struct shared_row) +
	       (size_t)STREAM_COUNT * layout->samples_per_stream * sizeof(struct shared_sample);
}

size_t table_size(const struct table_layout *layout)
{
	return sizeof(struct shared) + layout->sessions * row_size(layout);
}

uint32_t table_samples_for(uint64_t shortest_interval_ns)
{
	uint32_t n = SAMPLES_MIN;

	while (n < SAMPLES_MAX && n * shortest_interval_ns < SAMPLES_WINDOW_NS)
		n *= 2;
	return n;
}

static bool layout_valid(const struct table_layout *layout)
{
	uint32_t n = layout->samples_per_stream;

	return layout->sessions >= 1 && layout->sessions <= SESSIONS_MAX && n >= SAMPLES_MIN &&
	       n <= SAMPLES_MAX && (n & (n - 1)) == 0;
}

static struct table *map_fd(int fd, size_t size)
{
	struct table *t = calloc(1, sizeof(*t));
	void *map;

	if (!t)
		return NULL;
	/* Untouched until the counter thread of a worker uses it: main pays no memory for it. */
	t->round = calloc(1, sizeof(*t->round));
	map = t->round ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (map == MAP_FAILED) {
		int saved = errno;

		free(t->round);
		free(t);
		errno = saved;
		return NULL;
	}
	t->shared = map;
	t->size = size;
	return t;
}

static struct table *create_in(int fd, const struct table_layout *layout)
{
	size_t size = table_size(layout);
	struct table *t;

	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return NULL;
	t = map_fd(fd, size);
	if (!t)
		return NULL;
	t->layout = *layout;
	t->shared->magic = TABLE_MAGIC;
	t->shared->version = TABLE_VERSION;
	t->shared->sessions = layout->sessions;
	t->shared->samples_per_stream = layout->samples_per_stream;
	return t;
}

struct table *table_create(const struct table_layout *layout, int *ret_fd)
{
	struct table *t;
	int fd, saved;

	if (!layout_valid(layout)) {
		errno = EINVAL;
		return NULL;
	}
	fd = memfd_create("rdma-pingmesh-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return NULL;
	t = create_in(fd, layout);
	if (!t) {
		saved = errno;
		close(fd);
		errno = saved;
		return NULL;
	}
	*ret_fd = fd;
	return t;
}

/* The header as it stands in the mapping, checked against the size that is really there. */
static bool header_valid(const struct table *t, struct table_layout *ret)
{
	struct table_layout layout = {t->shared->sessions, t->shared->samples_per_stream};

	if (t->shared->magic != TABLE_MAGIC || t->shared->version != TABLE_VERSION)
		return false;
	if (!layout_valid(&layout) || table_size(&layout) != t->size)
		return false;
	*ret = layout;
	return true;
}

struct table *table_map(int fd)
{
	struct table *t;
	struct stat st;
	int seals;

	if (fstat(fd, &st) < 0)
		return NULL;
	/* Without the seal, a file that shrinks later would be a SIGBUS. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || st.st_size < (off_t)sizeof(struct shared)) {
		errno = EINVAL;
		return NULL;
	}
	t = map_fd(fd, (size_t)st.st_size);
	if (!t)
		return NULL;
	if (!header_valid(t, &t->layout)) {
		table_unmap(t);
		errno = EPROTO;
		return NULL;
	}
	return t;
}

void table_unmap(struct table *t)
{
	if (!t)
		return;
	munmap(t->shared, t->size);
	free(t->round);
	free(t);
}

const struct table_layout *table_get_layout(const struct table *t)
{
	return &t->layout;
}

static struct shared_row *row_of(const struct table *t, uint32_t row)
{
	if (row >= t->layout.sessions)
		return NULL;
	return (struct shared_row *)((char *)(t->shared + 1) + row * row_size(&t->layout));
}

static struct shared_sample *ring_of(const struct table *t, struct shared_row *r, unsigned stream)
{
	return r->samples + (size_t)stream * t->layout.samples_per_stream;
}

static void word_set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t word_get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* A cell has one writer, so load and store do; a locked add would cost the rail for nothing. */
static void word_add(_Atomic uint64_t *word, uint64_t n)
{
	word_set(word, word_get(word) + n);
}

void table_put_books(struct table *t, uint32_t row, const struct session_books *b)
{
	struct shared_row *r = row_of(t, row);

	if (r)
		twin_put(TWIN(r->books), b, sizeof(*b));
}

void table_put_books_of(struct table *t, uint32_t row, const struct session_books *b,
			uint32_t parts)
{
	struct shared_row *r = row_of(t, row);
	const size_t head = offsetof(struct session_books, op);
	_Atomic uint64_t *next;

	if (!r)
		return;
	next = twin_next(TWIN(r->books), sizeof(*b));
	if (parts & BOOKS_HEAD)
		twin_fill(next, 0, b, head);
	for (uint32_t left = (parts | parts >> OP_COUNT) & BOOKS_OPS; left; left &= left - 1) {
		unsigned op = (unsigned)__builtin_ctz(left);

		twin_fill(next, head + op * sizeof(b->op[0]), &b->op[op],
			  parts & BOOKS_WHOLE(op) ? sizeof(b->op[0]) : OP_BOOKS_RUNNING);
	}
	twin_publish(TWIN(r->books));
}

void table_put_sample(struct table *t, uint32_t row, unsigned stream, uint64_t at_ns,
		      uint64_t rtt_ns)
{
	struct shared_row *r = row_of(t, row);
	struct shared_sample *s;
	uint64_t next;

	if (!r || stream >= STREAM_COUNT)
		return;
	next = word_get(&r->sample_next[stream]);
	s = ring_of(t, r, stream) + (next & (t->layout.samples_per_stream - 1));
	word_set(&s->at_ns, 0);
	/* Release: whoever sees this round trip also sees that its time was cleared. */
	atomic_store_explicit(&s->rtt_ns, rtt_ns, memory_order_release);
	atomic_store_explicit(&s->at_ns, at_ns, memory_order_release);
	/* Release: who sees that there is one more can read it. */
	atomic_store_explicit(&r->sample_next[stream], next + 1, memory_order_release);
}

void table_clear_samples(struct table *t, uint32_t row)
{
	struct shared_row *r = row_of(t, row);

	if (!r)
		return;
	for (size_t i = 0; i < (size_t)STREAM_COUNT * t->layout.samples_per_stream; i++)
		word_set(&r->samples[i].at_ns, 0);
}

void table_put_rtt(struct table *t, uint32_t rail, uint32_t class_index, unsigned stream,
		   uint64_t rtt_ns)
{
	struct shared_hist *h;

	if (rail >= RAIL_MAX || class_index >= CLASS_MAX || stream >= STREAM_COUNT)
		return;
	h = &t->shared->rtt[rail][class_index][stream];
	word_add(&h->bucket[hist_bucket_of(rtt_ns)], 1);
	word_add(&h->sum_ns, rtt_ns);
}

void table_put_conn(struct table *t, uint32_t row, const struct session_conn *c)
{
	struct shared_row *r = row_of(t, row);

	if (r)
		twin_put(TWIN(r->conn), c, sizeof(*c));
}

void table_put_rail(struct table *t, uint32_t rail, const struct rail_fact *r)
{
	if (rail < RAIL_MAX)
		twin_put(TWIN(t->shared->rail[rail]), r, sizeof(*r));
}

void table_put_rail_totals(struct table *t, uint32_t rail, const struct rail_totals *r)
{
	if (rail < RAIL_MAX)
		twin_put(TWIN(t->shared->rail_totals[rail]), r, sizeof(*r));
}

/* A port beyond those that are followed still must not lose its event: counted without port. */
void table_count_async(struct table *t, uint32_t port, unsigned event)
{
	if (event < ASYNC_EVENT_COUNT)
		word_add(&t->shared->async[port <= PORT_MAX ? port : 0][event], 1);
}

void table_put_qps(struct table *t, uint64_t active, uint64_t passive)
{
	word_set(&t->shared->qps_active, active);
	word_set(&t->shared->qps_passive, passive);
}

struct counter_round *table_counter_slot(struct table *t)
{
	return t->round;
}

/* Length of each used part of a round, in the order of its members. */
struct round_part {
	size_t offset, len;
};

#define ROUND_PARTS 4

static void round_parts(const struct counter_round *r, struct round_part ret[ROUND_PARTS])
{
	ret[0] = (struct round_part){0, offsetof(struct counter_round, ports)};
	ret[1] = (struct round_part){offsetof(struct counter_round, ports),
				     r->n_ports * sizeof(r->ports[0])};
	ret[2] = (struct round_part){offsetof(struct counter_round, gids),
				     r->n_gids * sizeof(r->gids[0])};
	ret[3] = (struct round_part){offsetof(struct counter_round, values),
				     r->n_values * sizeof(r->values[0])};
}

void table_publish_counters(struct table *t)
{
	struct twin *twin = TWIN(t->shared->counters);
	_Atomic uint64_t *next = twin_next(twin, sizeof(*t->round));
	const char *bytes = (const char *)t->round;
	struct round_part parts[ROUND_PARTS];

	round_parts(t->round, parts);
	for (int i = 0; i < ROUND_PARTS; i++)
		twin_fill(next, parts[i].offset, bytes + parts[i].offset, parts[i].len);
	twin_publish(twin);
}

void table_beat(struct table *t, enum worker_loop loop, uint64_t mono_ns, uint64_t wall_ns)
{
	if ((unsigned)loop >= WORKER_LOOPS)
		return;
	word_set(&t->shared->beat[loop].mono_ns, mono_ns);
	word_set(&t->shared->beat[loop].wall_ns, wall_ns);
}

/* --- reading: what comes out is terminated, and indices are within their tables --- */

#define TERMINATE(array) ((array)[sizeof(array) - 1] = '\0')

bool table_get_books(const struct table *t, uint32_t row, struct session_books *ret)
{
	const struct shared_row *r = row_of(t, row);

	return r && twin_get(TWIN(r->books), ret, sizeof(*ret));
}

bool table_get_conn(const struct table *t, uint32_t row, struct session_conn *ret)
{
	const struct shared_row *r = row_of(t, row);

	if (!r || !twin_get(TWIN(r->conn), ret, sizeof(*ret)))
		return false;
	TERMINATE(ret->reason);
	TERMINATE(ret->error.text);
	return ret->state < SESSION_STATE_COUNT && ret->error.op < OP_COUNT &&
	       op_lacks_valid(ret->op_lack);
}

bool table_get_rail(const struct table *t, uint32_t rail, struct rail_fact *ret)
{
	if (rail >= RAIL_MAX || !twin_get(TWIN(t->shared->rail[rail]), ret, sizeof(*ret)))
		return false;
	TERMINATE(ret->name);
	TERMINATE(ret->device);
	TERMINATE(ret->netdev);
	TERMINATE(ret->address);
	TERMINATE(ret->reason);
	return ret->gid_type <= GID_TYPE_ROCE_V2;
}

bool table_get_rail_totals(const struct table *t, uint32_t rail, struct rail_totals *ret)
{
	return rail < RAIL_MAX && twin_get(TWIN(t->shared->rail_totals[rail]), ret, sizeof(*ret));
}

/* The round trip of a sample if it is newer than since_ns and not being replaced. */
static bool sample_get(const struct shared_sample *s, uint64_t since_ns, uint64_t *ret)
{
	uint64_t at = atomic_load_explicit(&s->at_ns, memory_order_acquire);

	if (at == 0 || at <= since_ns)
		return false;
	*ret = atomic_load_explicit(&s->rtt_ns, memory_order_acquire);
	return word_get(&s->at_ns) == at;
}

uint32_t table_get_samples(const struct table *t, uint32_t row, unsigned stream, uint64_t since_ns,
			   uint64_t *ret, uint32_t max)
{
	struct shared_row *r = row_of(t, row);
	const struct shared_sample *ring;
	uint32_t n = 0;

	if (!r || stream >= STREAM_COUNT)
		return 0;
	ring = ring_of(t, r, stream);
	for (uint32_t i = 0; i < t->layout.samples_per_stream && n < max; i++)
		n += sample_get(&ring[i], since_ns, &ret[n]);
	return n;
}

uint32_t table_take_samples(const struct table *t, uint32_t row, unsigned stream, uint64_t *at,
			    uint64_t *ret)
{
	struct shared_row *r = row_of(t, row);
	uint32_t ring_size = t->layout.samples_per_stream, n = 0;
	const struct shared_sample *ring;
	uint64_t next;

	if (!r || stream >= STREAM_COUNT)
		return 0;
	ring = ring_of(t, r, stream);
	next = atomic_load_explicit(&r->sample_next[stream], memory_order_acquire);
	if (*at > next || next - *at > ring_size)
		*at = next > ring_size ? next - ring_size : 0;
	for (; *at != next; ++*at)
		n += sample_get(&ring[*at & (ring_size - 1)], 0, &ret[n]);
	return n;
}

/* count is made from the buckets that were read, so that a histogram always adds up. */
void table_get_hist(const struct table *t, uint32_t rail, uint32_t class_index, unsigned stream,
		    struct hist *ret)
{
	const struct shared_hist *h;

	*ret = (struct hist){0};
	if (rail >= RAIL_MAX || class_index >= CLASS_MAX || stream >= STREAM_COUNT)
		return;
	h = &t->shared->rtt[rail][class_index][stream];
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		ret->bucket[i] = word_get(&h->bucket[i]);
		ret->count += ret->bucket[i];
	}
	ret->sum_ns = word_get(&h->sum_ns);
}

uint64_t table_get_async(const struct table *t, uint32_t port, unsigned event)
{
	if (port > PORT_MAX || event >= ASYNC_EVENT_COUNT)
		return 0;
	return word_get(&t->shared->async[port][event]);
}

void table_get_qps(const struct table *t, uint64_t *ret_active, uint64_t *ret_passive)
{
	*ret_active = word_get(&t->shared->qps_active);
	*ret_passive = word_get(&t->shared->qps_passive);
}

void table_get_beat(const struct table *t, enum worker_loop loop, uint64_t *ret_mono_ns,
		    uint64_t *ret_wall_ns)
{
	if ((unsigned)loop >= WORKER_LOOPS) {
		*ret_mono_ns = *ret_wall_ns = 0;
		return;
	}
	*ret_mono_ns = word_get(&t->shared->beat[loop].mono_ns);
	*ret_wall_ns = word_get(&t->shared->beat[loop].wall_ns);
}

static void port_config_sanitize(struct port_config_fact *c)
{
	TERMINATE(c->bond);
	for (uint32_t i = 0; i < BOND_MEMBERS; i++)
		TERMINATE(c->members[i]);
	if (c->n_members > BOND_MEMBERS)
		c->n_members = BOND_MEMBERS;
	if (c->trust > TRUST_DSCP)
		c->trust = TRUST_UNKNOWN;
	if (c->roce_mode > GID_TYPE_ROCE_V2)
		c->roce_mode = GID_TYPE_UNKNOWN;
}

static void port_fact_sanitize(struct port_fact *p)
{
	port_config_sanitize(&p->config);
	TERMINATE(p->state_text);
	TERMINATE(p->phys_state_text);
	TERMINATE(p->link_layer_text);
	TERMINATE(p->netdev);
	TERMINATE(p->rate_text);
	if (p->link_layer > LINK_LAYER_ETHERNET)
		p->link_layer = LINK_LAYER_UNKNOWN;
	if (p->expected_by > RATE_OF_PARTNER)
		p->expected_by = RATE_OF_NOBODY;
}

static void round_sanitize(struct counter_round *r)
{
	TERMINATE(r->device.name);
	TERMINATE(r->device.firmware);
	TERMINATE(r->device.board);
	TERMINATE(r->device.firmware_stuck_text);
	TERMINATE(r->device.hca_type);
	TERMINATE(r->device.pci_address);
	TERMINATE(r->device.node_guid);
	r->device.n_health = r->device.n_health < HEALTH_MAX ? r->device.n_health : HEALTH_MAX;
	for (uint32_t i = 0; i < r->device.n_health; i++)
		TERMINATE(r->device.health[i].reporter);
	for (uint32_t i = 0; i < r->n_ports; i++)
		port_fact_sanitize(&r->ports[i]);
	for (uint32_t i = 0; i < r->n_gids; i++) {
		TERMINATE(r->gids[i].netdev);
		if (r->gids[i].type > GID_TYPE_ROCE_V2)
			r->gids[i].type = GID_TYPE_UNKNOWN;
	}
	for (uint32_t i = 0; i < r->n_values; i++) {
		TERMINATE(r->values[i].name);
		if (r->values[i].source >= COUNTER_SOURCE_COUNT)
			r->values[i].source = SOURCE_HW_COUNTERS;
	}
	for (uint32_t i = 0; i < RESETS_KEPT; i++) {
		TERMINATE(r->resets[i].name);
		if (r->resets[i].source >= COUNTER_SOURCE_COUNT)
			r->resets[i].source = SOURCE_HW_COUNTERS;
	}
	for (uint32_t i = 0; i < FAILURES_KEPT; i++) {
		struct read_failure *f = &r->failures.kept[i];

		TERMINATE(f->name);
		if (f->source > COUNTER_SOURCE_COUNT)
			f->source = COUNTER_SOURCE_COUNT;
		if (f->error >= READ_ERROR_COUNT)
			f->error = READ_OTHER;
	}
}

/* The head first: it says how much of the arrays is used. */
static bool round_read(const struct twin *twin, uint64_t ticket, struct counter_round *ret)
{
	struct round_part parts[ROUND_PARTS];
	char *bytes = (char *)ret;

	twin_read(twin, ticket, sizeof(*ret), 0, ret, offsetof(struct counter_round, ports));
	ret->n_ports = ret->n_ports < PORT_MAX ? ret->n_ports : PORT_MAX;
	ret->n_gids = ret->n_gids < GID_MAX ? ret->n_gids : GID_MAX;
	ret->n_values = ret->n_values < COUNTER_MAX ? ret->n_values : COUNTER_MAX;
	round_parts(ret, parts);
	for (int i = 1; i < ROUND_PARTS; i++)
		twin_read(twin, ticket, sizeof(*ret), parts[i].offset, bytes + parts[i].offset,
			  parts[i].len);
	return twin_whole(twin, ticket);
}

uint64_t table_counters_published(const struct table *t)
{
	return twin_begin(TWIN(t->shared->counters));
}

bool table_get_counters(const struct table *t, struct counter_round *ret)
{
	const struct twin *twin = TWIN(t->shared->counters);

	for (int i = 0; i < COUNTER_ATTEMPTS; i++) {
		uint64_t ticket = twin_begin(twin);

		if (ticket == 0)
			return false;
		if (round_read(twin, ticket, ret)) {
			round_sanitize(ret);
			return true;
		}
	}
	return false;
}
