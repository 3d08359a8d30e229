#include "probes/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RX_SIZE_MIN 512 /* a HELLO fits */
#define REGION_LEN_MIN 4096
#define RX_CHUNK 64	/* receive buffers registered at once */
#define MEMORY_CHUNK 16 /* connections' memory registered at once */

struct chunk {
	uint8_t *memory;
	struct ibv_mr *mr;
};

struct endpoint {
	struct endpoint_limits limits;
	struct ibv_context *own, *verbs;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct queue_sets sets;
	uint8_t *pattern, *scratch;
	uint32_t region_len; /* bytes of each */
	struct ibv_mr *pattern_mr, *scratch_mr;
	struct rx_buffers rx;
	struct chunk *chunk; /* all registered memory, for the end */
	uint32_t n_chunks;
	struct conn_memory *free_memory;
	uint32_t n_free, memory_cap;
};

void endpoint_error_text(const char *what, int err, char *out, size_t len)
{
	struct rlimit rl;

	if (err == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &rl) == 0 && rl.rlim_cur != RLIM_INFINITY)
		snprintf(out, len,
			 "%s: %s; RLIMIT_MEMLOCK is %llu KiB: raise LimitMEMLOCK= in the unit",
			 what, strerror(err), (unsigned long long)rl.rlim_cur / 1024);
	else if (err == EACCES || err == EPERM)
		snprintf(out, len,
			 "%s: %s; the service's user must be able to open /dev/infiniband/* "
			 "(group rdma, or DeviceAllow= in the unit)",
			 what, strerror(err));
	else
		snprintf(out, len, "%s: %s", what, strerror(err));
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

struct endpoint *endpoint_new(const struct endpoint_limits *l)
{
	struct endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->limits = *l;
	e->rx.size = max_u32(RX_SIZE_MIN, l->send_size);
	e->memory_cap = l->qps + MEMORY_CHUNK;
	e->rx.address = calloc(queue_sets_receives(l->qps), sizeof(*e->rx.address));
	e->rx.lkey = calloc(queue_sets_receives(l->qps), sizeof(*e->rx.lkey));
	e->free_memory = calloc(e->memory_cap, sizeof(*e->free_memory));
	if (!e->rx.address || !e->rx.lkey || !e->free_memory) {
		endpoint_free(e);
		errno = ENOMEM;
		return NULL;
	}
	return e;
}

static void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int endpoint_open_device(struct endpoint *e, const char *device, char *err, size_t errlen)
{
	struct ibv_device **list;
	char what[128];
	int n, r = ENODEV;

	list = ibv_get_device_list(&n);
	if (!list) {
		r = errno;
		endpoint_error_text("RDMA devices cannot be listed", r, err, errlen);
		return -r;
	}
	snprintf(what, sizeof(what), "%.64s cannot be opened for verbs", device);
	for (int i = 0; list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), device))
			continue;
		snprintf(what, sizeof(what),
			 "%.64s (/dev/infiniband/%.32s) cannot be opened for verbs", device,
			 list[i]->dev_name);
		errno = 0;
		e->own = ibv_open_device(list[i]);
		r = e->own ? 0 : errno ? errno : EIO;
		break;
	}
	ibv_free_device_list(list);
	if (!r)
		r = ibv_query_device(e->own, &e->attr);
	if (r) {
		/* Half open is closed: the next try begins anew. */
		if (e->own)
			ibv_close_device(e->own);
		e->own = NULL;
		endpoint_error_text(what, r, err, errlen);
		return -r;
	}
	set_nonblock(e->own->async_fd);
	return 0;
}

static int open_failed(const char *what, char *err, size_t errlen)
{
	int e = errno ? errno : EIO;

	endpoint_error_text(what, e, err, errlen);
	return -e;
}

static int make_pattern(struct endpoint *e)
{
	if (posix_memalign((void **)&e->pattern, 4096, e->region_len))
		return -1;
	wire_fill_pattern(e->pattern, e->region_len);
	e->pattern_mr = ibv_reg_mr(e->pd, e->pattern, e->region_len, IBV_ACCESS_REMOTE_READ);
	return e->pattern_mr ? 0 : -1;
}

static bool has_atomics(const struct endpoint *e)
{
	return e->attr.atomic_cap != IBV_ATOMIC_NONE;
}

/* An rkey is good for the whole PD: nobody reads what stands here. */
static int make_scratch(struct endpoint *e)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	if (posix_memalign((void **)&e->scratch, 4096, e->region_len))
		return -1;
	memset(e->scratch, 0, e->region_len);
	if (has_atomics(e))
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	e->scratch_mr = ibv_reg_mr(e->pd, e->scratch, e->region_len, access);
	return e->scratch_mr ? 0 : -1;
}

static void drop_regions(struct endpoint *e)
{
	if (e->pattern_mr)
		ibv_dereg_mr(e->pattern_mr);
	if (e->scratch_mr)
		ibv_dereg_mr(e->scratch_mr);
	free(e->pattern);
	free(e->scratch);
	e->pattern = e->scratch = NULL;
	e->pattern_mr = e->scratch_mr = NULL;
}

/* Where little memory may be locked, small ones do: the worker lives and says what it lacks, and
 * the peers leave out what does not fit. */
static int make_regions(struct endpoint *e)
{
	static const uint32_t lengths[] = {WIRE_PATTERN_LEN, REGION_LEN_MIN};

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		int saved;

		e->region_len = lengths[i];
		if (make_pattern(e) == 0 && make_scratch(e) == 0)
			return 0;
		saved = errno;
		drop_regions(e);
		errno = saved;
	}
	return -1;
}

int endpoint_open(struct endpoint *e, struct ibv_context *verbs, char *err, size_t errlen)
{
	const char *what;
	int r;

	queue_sets_plan(&e->sets, &e->attr, e->limits.qps);
	if (!e->sets.qps) {
		snprintf(err, errlen, "%s has too short a completion queue to be probed",
			 ibv_get_device_name(verbs->device));
		return -EOPNOTSUPP;
	}
	errno = 0;
	e->verbs = verbs;
	set_nonblock(verbs->async_fd);
	e->pd = ibv_alloc_pd(verbs);
	if (!e->pd)
		return open_failed("no protection domain", err, errlen);
	e->channel = ibv_create_comp_channel(verbs);
	if (!e->channel)
		return open_failed("no completion channel", err, errlen);
	set_nonblock(e->channel->fd);
	/* The first one at once: a device that has none is no use. */
	r = queue_sets_add(&e->sets, e->pd, e->channel, &what);
	if (r < 0) {
		errno = -r;
		return open_failed(what, err, errlen);
	}
	if (make_regions(e) < 0)
		return open_failed("memory cannot be registered", err, errlen);
	return 0;
}

void endpoint_free(struct endpoint *e)
{
	if (!e)
		return;
	drop_regions(e);
	for (uint32_t i = 0; i < e->n_chunks; i++)
		ibv_dereg_mr(e->chunk[i].mr);
	queue_sets_free(&e->sets);
	if (e->channel)
		ibv_destroy_comp_channel(e->channel);
	if (e->pd)
		ibv_dealloc_pd(e->pd);
	if (e->own)
		ibv_close_device(e->own);
	for (uint32_t i = 0; i < e->n_chunks; i++)
		free(e->chunk[i].memory);
	free(e->chunk);
	free(e->free_memory);
	free(e->rx.address);
	free(e->rx.lkey);
	free(e);
}

struct ibv_context *endpoint_own(const struct endpoint *e)
{
	return e->own;
}

struct ibv_context *endpoint_verbs(const struct endpoint *e)
{
	return e->scratch_mr ? e->verbs : NULL;
}

const struct ibv_device_attr *endpoint_attr(const struct endpoint *e)
{
	return &e->attr;
}

struct ibv_pd *endpoint_pd(const struct endpoint *e)
{
	return e->pd;
}

bool endpoint_has_srq(const struct endpoint *e)
{
	return e->sets.has_srq;
}

uint32_t endpoint_sets(const struct endpoint *e)
{
	return e->sets.n;
}

const struct queue_set *endpoint_set(const struct endpoint *e, uint32_t set)
{
	return &e->sets.set[set];
}

int endpoint_take_place(struct endpoint *e, uint32_t *ret_set)
{
	struct queue_set *s = queue_sets_free_place(&e->sets);
	const char *what;

	if (!s) {
		int r = queue_sets_add(&e->sets, e->pd, e->channel, &what);

		if (r < 0)
			return r;
		s = queue_sets_free_place(&e->sets);
	}
	s->used++;
	*ret_set = (uint32_t)(s - e->sets.set);
	return 0;
}

void endpoint_give_place(struct endpoint *e, uint32_t set)
{
	e->sets.set[set].used--;
}

uint32_t endpoint_qps(const struct endpoint *e)
{
	return e->sets.qps;
}

struct ibv_comp_channel *endpoint_channel(const struct endpoint *e)
{
	return e->channel;
}

const struct rx_buffers *endpoint_rx(const struct endpoint *e)
{
	return &e->rx;
}

void endpoint_pattern(const struct endpoint *e, struct wire_region *ret)
{
	*ret = (struct wire_region){
		.addr = (uintptr_t)e->pattern,
		.rkey = e->pattern_mr->rkey,
		.len = e->region_len,
	};
}

void endpoint_scratch(const struct endpoint *e, struct wire_region *ret, bool *ret_atomics)
{
	*ret = (struct wire_region){
		.addr = (uintptr_t)e->scratch,
		.rkey = e->scratch_mr->rkey,
		.len = e->region_len,
	};
	*ret_atomics = has_atomics(e) && e->attr.max_qp_rd_atom > 0;
}

enum op_lack endpoint_op_lack(const struct endpoint *e, enum op op)
{
	/* READs and atomics share what a QP may have outstanding. */
	bool initiates = e->attr.max_qp_init_rd_atom > 0;

	switch (op) {
	case OP_SEND:
	case OP_WRITE:
		return OP_LACK_NONE;
	case OP_READ:
		return initiates ? OP_LACK_NONE : OP_LACK_DEVICE;
	case OP_ATOMIC:
		return initiates && has_atomics(e) ? OP_LACK_NONE : OP_LACK_DEVICE;
	}
	return OP_LACK_NONE;
}

static int add_chunk(struct endpoint *e, size_t bytes, int access, struct chunk *ret)
{
	struct chunk *all = reallocarray(e->chunk, e->n_chunks + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	e->chunk = all;
	if (posix_memalign((void **)&ret->memory, 4096, bytes))
		return -ENOMEM;
	memset(ret->memory, 0, bytes);
	errno = 0;
	ret->mr = ibv_reg_mr(e->pd, ret->memory, bytes, IBV_ACCESS_LOCAL_WRITE | access);
	if (!ret->mr) {
		int err = errno ? errno : ENOMEM;

		free(ret->memory);
		return -err;
	}
	e->chunk[e->n_chunks++] = *ret;
	return 0;
}

int endpoint_receives(struct endpoint *e, uint32_t set, uint32_t *ret_more)
{
	struct queue_set *s = &e->sets.set[set];
	uint32_t spare = s->q.rx_len - RX_PER_PLACE * s->places;
	uint32_t want = s->q.rx_len ? RX_PER_PLACE * s->used + spare : 0, before = s->rx_ready;
	int r = 0;

	while (s->rx_ready < want) {
		uint32_t n = min_u32(RX_CHUNK, s->q.rx_len - s->rx_ready);
		struct chunk c;

		r = add_chunk(e, (size_t)n * e->rx.size, 0, &c);
		if (r < 0)
			break;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = s->q.rx_first + s->rx_ready++;

			e->rx.address[at] = c.memory + (size_t)i * e->rx.size;
			e->rx.lkey[at] = c.mr->lkey;
		}
	}
	/* Also those that came before the failure: nobody else tells the rail of them. */
	*ret_more = s->rx_ready - before;
	return r;
}

void endpoint_arm_limits(struct endpoint *e)
{
	for (uint32_t i = 0; i < e->sets.n; i++) {
		struct queue_set *s = &e->sets.set[i];
		struct ibv_srq_attr attr = {.srq_limit = s->rx_ready / 4};

		if (s->rx_ready)
			ibv_modify_srq(s->q.srq, &attr, IBV_SRQ_LIMIT);
	}
}

static uint32_t rounded(uint32_t bytes)
{
	return (bytes + 63) & ~63u;
}

/* On iWARP a READ's answer is a WRITE into our memory, by the peer: that part alone it may reach,
 * and only there. Elsewhere nothing but the pattern and the scratch page is open to anybody. */
static int add_sinks(struct endpoint *e, const struct chunk *others, uint32_t sink,
		     struct chunk *ret)
{
	*ret = *others;
	if (e->verbs->device->transport_type != IBV_TRANSPORT_IWARP)
		return 0;
	return add_chunk(e, (size_t)MEMORY_CHUNK * sink, IBV_ACCESS_REMOTE_WRITE, ret);
}

/* Memory of some connections: for each what it sends from and receives into; then all sinks. */
static int more_memory(struct endpoint *e)
{
	uint32_t tx = rounded(max_u32(TX_SLOT_MIN, e->limits.send_size));
	uint32_t sink = rounded(max_u32(64, e->limits.sink_size));
	uint32_t rx = e->sets.has_srq ? 0 : rounded(e->rx.size);
	uint32_t each = TX_SLOTS * tx + RX_PER_QP * rx;
	struct chunk c, sinks;
	int r = add_chunk(e, (size_t)MEMORY_CHUNK * (each + sink), 0, &c);

	if (r == 0)
		r = add_sinks(e, &c, sink, &sinks);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < MEMORY_CHUNK && e->n_free < e->memory_cap; i++) {
		uint8_t *m = c.memory + (size_t)i * each;
		size_t at = (sinks.mr == c.mr ? (size_t)MEMORY_CHUNK * each : 0) + (size_t)i * sink;

		e->free_memory[e->n_free++] = (struct conn_memory){
			.tx = m,
			.rx = rx ? m + TX_SLOTS * tx : NULL,
			.sink = sinks.memory + at,
			.tx_size = tx,
			.rx_size = rx,
			.sink_size = sink,
			.lkey = c.mr->lkey,
			.sink_lkey = sinks.mr->lkey,
		};
	}
	return 0;
}

int endpoint_take_memory(struct endpoint *e, struct conn_memory *ret)
{
	int r = e->n_free ? 0 : more_memory(e);

	if (r < 0)
		return r;
	*ret = e->free_memory[--e->n_free];
	return 0;
}

void endpoint_give_memory(struct endpoint *e, const struct conn_memory *m)
{
	if (e->n_free < e->memory_cap)
		e->free_memory[e->n_free++] = *m;
}
