#include "fake_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fabric fabric = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct fake_device *used;
static _Thread_local uint64_t used_process;

void fake_lock(void)
{
	pthread_mutex_lock(&fabric.lock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&fabric.lock);
}

void fake_leave(const int *unused)
{
	(void)unused;
	fake_unlock();
}

void fake_check(bool ok, const char *sentence)
{
	if (ok)
		return;
	fprintf(stderr, "fake fabric: %s\n", sentence);
	abort();
}

/* --- counting and failing --- */

void fabric_use(struct fake_device *dev)
{
	fabric_use_process(dev, 0);
}

void fabric_use_process(struct fake_device *dev, uint64_t process)
{
	used = dev;
	used_process = process;
}

uint64_t fake_process(void)
{
	return used_process;
}

void fabric_process_ends(struct fake_device *dev, uint64_t process)
{
	struct fake_context *next;

	fake_lock();
	for (struct fake_context *c = dev->contexts; c; c = next) {
		next = c->next;
		if (c->cm && c->process == process)
			fake_context_free(c);
	}
	fake_unlock();
}

static uint64_t draw(void)
{
	fabric.random ^= fabric.random << 13;
	fabric.random ^= fabric.random >> 7;
	fabric.random ^= fabric.random << 17;
	return fabric.random * 0x2545f4914f6cdd1dULL >> 16;
}

bool fake_chance(uint32_t permille)
{
	return permille && draw() % 1000 < permille;
}

void fabric_seed(uint64_t seed)
{
	fabric.random = seed | 1;
}

static unsigned slot_of(const struct fake_device *dev)
{
	return dev ? dev->index : FABRIC_DEVICES;
}

int fake_call(enum fabric_call call)
{
	struct fake_failure *f = &fabric.failure[slot_of(used)][call];

	f->calls++;
	if (!f->at || f->calls < f->at || f->calls >= f->at + f->times)
		return 0;
	return f->err;
}

void fabric_fail(struct fake_device *dev, enum fabric_call call, unsigned nth, unsigned times,
		 int err)
{
	struct fake_failure *f = &fabric.failure[slot_of(dev)][call];

	fake_lock();
	f->at = f->calls + nth;
	f->times = times;
	f->err = err;
	fake_unlock();
}

unsigned fabric_calls(const struct fake_device *dev, enum fabric_call call)
{
	unsigned n;

	fake_lock();
	n = fabric.failure[slot_of(dev)][call].calls;
	fake_unlock();
	return n;
}

void fake_made(enum fabric_object kind)
{
	fabric.objects[kind]++;
}

void fake_gone(enum fabric_object kind)
{
	fake_check(fabric.objects[kind], "more was destroyed than made");
	fabric.objects[kind]--;
}

unsigned fabric_objects(enum fabric_object kind)
{
	unsigned n;

	fake_lock();
	n = fabric.objects[kind];
	fake_unlock();
	return n;
}

/* --- descriptors --- */

int signal_open(struct signal *s)
{
	s->fd = eventfd(0, EFD_CLOEXEC);
	s->raised = false;
	return s->fd < 0 ? -errno : 0;
}

void signal_close(struct signal *s)
{
	close(s->fd);
}

void signal_set(struct signal *s, bool readable)
{
	uint64_t v = 1;
	ssize_t n;

	if (s->raised == readable)
		return;
	s->raised = readable;
	n = readable ? write(s->fd, &v, sizeof(v)) : read(s->fd, &v, sizeof(v));
	fake_check(n == sizeof(v), "an event descriptor broke");
}

void signal_must_not_block(const struct signal *s)
{
	fake_check(fcntl(s->fd, F_GETFL) & O_NONBLOCK, "a read of an event would block for ever");
}

/* --- what is to happen --- */

static bool before(const struct action *a, const struct action *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->seq < b->seq);
}

static struct action *action_new(void)
{
	struct action *a = fabric.spare;

	if (!a)
		return malloc(sizeof(*a));
	fabric.spare = a->next;
	return a;
}

static void action_free(struct action *a)
{
	a->next = fabric.spare;
	fabric.spare = a;
}

void fake_later(const struct action *a, uint64_t delay_ns)
{
	struct action *copy = action_new();
	size_t i = fabric.n_queue++;

	*copy = *a;
	copy->at_ns = fabric.now_ns() + delay_ns;
	copy->seq = fabric.next_action++;
	if (fabric.n_queue > fabric.queue_cap) {
		fabric.queue_cap = 2 * fabric.queue_cap + 64;
		fabric.queue =
			reallocarray(fabric.queue, fabric.queue_cap, sizeof(struct action *));
	}
	for (; i > 0 && before(copy, fabric.queue[(i - 1) / 2]); i = (i - 1) / 2)
		fabric.queue[i] = fabric.queue[(i - 1) / 2];
	fabric.queue[i] = copy;
}

static struct action *take_first(void)
{
	struct action *first = fabric.queue[0], *last = fabric.queue[--fabric.n_queue];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < fabric.n_queue; i = child) {
		if (child + 1 < fabric.n_queue &&
		    before(fabric.queue[child + 1], fabric.queue[child]))
			child++;
		if (!before(fabric.queue[child], last))
			break;
		fabric.queue[i] = fabric.queue[child];
	}
	fabric.queue[i] = last;
	return first;
}

uint64_t fabric_step(void)
{
	uint64_t next;

	fake_lock();
	while (fabric.n_queue && fabric.queue[0]->at_ns <= fabric.now_ns()) {
		struct action *a = take_first();

		a->run(a);
		action_free(a);
	}
	next = fabric.n_queue ? fabric.queue[0]->at_ns : UINT64_MAX;
	fake_unlock();
	return next;
}

uint64_t fabric_when(void)
{
	uint64_t at;

	fake_lock();
	at = fabric.n_queue ? fabric.queue[0]->at_ns : UINT64_MAX;
	fake_unlock();
	return at;
}

static void forget_actions(void)
{
	while (fabric.n_queue)
		action_free(fabric.queue[--fabric.n_queue]);
	for (struct action *a = fabric.spare, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	free(fabric.queue);
	fabric.queue = NULL;
	fabric.spare = NULL;
	fabric.queue_cap = 0;
}

uint64_t fake_delay(const struct fake_device *from, const struct fake_device *to)
{
	const struct fabric_path *p = &fabric.path[from->index][to->index];

	return p->delay_ns + (p->jitter_ns ? draw() % p->jitter_ns : 0);
}

bool fake_dropped(const struct fake_device *from, const struct fake_device *to)
{
	const struct fabric_path *p = &fabric.path[from->index][to->index];

	return p->drop || from->dark || to->dark || !from->port_active || !to->port_active ||
	       from->removed || to->removed || fake_chance(p->loss_permille);
}

/* --- devices and addresses --- */

struct in6_addr fake_parse(const char *address)
{
	struct in6_addr a = {0};

	if (strchr(address, ':')) {
		fake_check(inet_pton(AF_INET6, address, &a) == 1, "no IPv6 address");
		return a;
	}
	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	fake_check(inet_pton(AF_INET, address, &a.s6_addr[12]) == 1, "no IPv4 address");
	return a;
}

struct fake_device *fake_device_of(const struct in6_addr *addr, unsigned *ret_gid)
{
	struct fake_device *found = NULL;

	for (unsigned d = 0; d < fabric.n_devices; d++)
		for (unsigned i = 0; i < fabric.device[d].n_gids; i++) {
			const struct fake_gid *g = &fabric.device[d].gid[i];

			if (!g->present || memcmp(&g->addr, addr, sizeof(*addr)))
				continue;
			/* The CM takes v2 where there are both. */
			if (found &&
			    (g->type == IBV_GID_TYPE_ROCE_V1) != fabric.device[d].knobs.prefer_v1)
				continue;
			found = &fabric.device[d];
			*ret_gid = i;
		}
	return found;
}

static void raise_everywhere(struct fake_device *dev, enum ibv_event_type event)
{
	struct ibv_async_event ev = {.event_type = event, .element.port_num = 1};

	for (struct fake_context *c = dev->contexts; c; c = c->next)
		fake_raise(c, &ev);
}

struct fake_device *fabric_add_device(const char *name, const char *address)
{
	struct fake_device *dev;

	fake_lock();
	fake_check(fabric.n_devices < FABRIC_DEVICES, "too many devices");
	dev = &fabric.device[fabric.n_devices];
	dev->index = fabric.n_devices++;
	dev->port_active = true;
	dev->next_qpn = 17; /* the same on all: only with its device does a number mean a QP */
	snprintf(dev->dev.name, sizeof(dev->dev.name), "%s", name);
	snprintf(dev->dev.dev_name, sizeof(dev->dev.dev_name), "uverbs-%s", name);
	fake_unlock();
	if (address)
		fabric_add_address(dev, address, IBV_GID_TYPE_ROCE_V2);
	return dev;
}

unsigned fabric_add_address(struct fake_device *dev, const char *address, enum ibv_gid_type type)
{
	unsigned i;

	fake_lock();
	for (i = 0; i < dev->n_gids && dev->gid[i].present; i++)
		;
	fake_check(i < FABRIC_GIDS, "too many addresses");
	dev->gid[i] = (struct fake_gid){true, type, fake_parse(address)};
	if (i == dev->n_gids)
		dev->n_gids++;
	raise_everywhere(dev, IBV_EVENT_GID_CHANGE);
	fake_unlock();
	return i;
}

void fabric_remove_address(struct fake_device *dev, const char *address)
{
	struct in6_addr a = fake_parse(address);

	fake_lock();
	for (unsigned i = 0; i < dev->n_gids; i++)
		if (dev->gid[i].present && !memcmp(&dev->gid[i].addr, &a, sizeof(a)))
			dev->gid[i].present = false;
	raise_everywhere(dev, IBV_EVENT_GID_CHANGE);
	fake_unlock();
}

void fabric_set_port(struct fake_device *dev, bool active)
{
	fake_lock();
	dev->port_active = active;
	raise_everywhere(dev, active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
	fake_unlock();
}

void fabric_set_knobs(struct fake_device *dev, const struct fake_knobs *knobs)
{
	fake_lock();
	dev->knobs = *knobs;
	dev->dev.transport_type = knobs->iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
	fake_unlock();
}

void fabric_set_path(struct fake_device *from, struct fake_device *to,
		     const struct fabric_path *path)
{
	fake_lock();
	fabric.path[from->index][to->index] = *path;
	fake_unlock();
}

void fabric_set_dark(struct fake_device *dev, bool dark)
{
	fake_lock();
	dev->dark = dark;
	fake_unlock();
}

void fabric_remove_device(struct fake_device *dev, bool events)
{
	fake_lock();
	dev->removed = true;
	if (events)
		raise_everywhere(dev, IBV_EVENT_DEVICE_FATAL);
	for (struct fake_id *id = events ? fabric.ids : NULL; id; id = id->next)
		if (id->dev == dev)
			fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	fake_unlock();
}

void fabric_return_device(struct fake_device *dev)
{
	fake_lock();
	dev->removed = false;
	dev->life++;
	for (struct fake_qp *qp = dev->qps; qp; qp = qp->next)
		fake_qp_gone(qp);
	for (struct fake_id *id = fabric.ids; id; id = id->next)
		if (id->dev == dev)
			id->state = ID_CLOSED;
	fake_unlock();
}

void fabric_async_event(struct fake_device *dev, enum ibv_event_type event, uint32_t qpn)
{
	struct ibv_async_event ev = {.event_type = event};
	struct fake_qp *qp;

	fake_lock();
	qp = fake_qp_find(dev, qpn);
	if (event == IBV_EVENT_CQ_ERR) {
		ev.element.cq = &dev->cq->cq;
		fake_raise((struct fake_context *)dev->cq->cq.context, &ev);
	} else if (event == IBV_EVENT_SRQ_ERR) {
		ev.element.srq = &dev->srqs->srq;
		fake_raise((struct fake_context *)dev->srqs->srq.context, &ev);
	} else if (qpn) {
		fake_check(qp, "an event of a QP that is not there");
		ev.element.qp = &qp->qp;
		fake_raise((struct fake_context *)qp->qp.context, &ev);
	} else {
		raise_everywhere(dev, event);
	}
	fake_unlock();
}

void fabric_break_qp(struct fake_device *dev, uint32_t qpn)
{
	struct fake_qp *qp;

	fake_lock();
	qp = fake_qp_find(dev, qpn);
	fake_check(qp, "a QP that is not there cannot break");
	fake_qp_error(qp);
	fake_unlock();
}

void fabric_complete(struct fake_device *dev, const struct ibv_wc *wc)
{
	fake_lock();
	fake_push(dev->cq, wc);
	fake_unlock();
}

bool fabric_deliver(struct fake_device *dev, uint32_t qpn, const void *data, uint32_t len)
{
	struct fake_qp *qp;
	bool done;

	fake_lock();
	qp = fake_qp_find(dev, qpn);
	done = qp && fake_receive(qp, data, len);
	fake_unlock();
	return done;
}

/* --- questions --- */

uint64_t fabric_send_completions(const struct fake_device *dev)
{
	FAKE_GUARD;

	return dev->send_completions;
}

uint64_t fabric_reads(const struct fake_device *dev)
{
	FAKE_GUARD;

	return dev->reads;
}

uint64_t fabric_writes(const struct fake_device *dev)
{
	FAKE_GUARD;

	return dev->writes;
}

uint64_t fabric_atomics(const struct fake_device *dev)
{
	FAKE_GUARD;

	return dev->atomics;
}

uint32_t fabric_srq_posted(const struct fake_device *dev)
{
	uint32_t n = 0;

	fake_lock();
	for (const struct fake_srq *srq = dev->srqs; srq; srq = srq->next)
		n += srq->queue.n;
	fake_unlock();
	return n;
}

uint64_t fabric_srq_taken(const struct fake_device *dev)
{
	uint64_t n;

	fake_lock();
	n = dev->srq_taken;
	fake_unlock();
	return n;
}

uint32_t fabric_qps(const struct fake_device *dev)
{
	uint32_t n;

	fake_lock();
	n = dev->n_qps;
	fake_unlock();
	return n;
}

bool fabric_has_qp(const struct fake_device *dev, uint32_t qpn)
{
	bool has;

	fake_lock();
	has = fake_qp_find(dev, qpn);
	fake_unlock();
	return has;
}

uint32_t fabric_last_qpn(const struct fake_device *dev)
{
	uint32_t n;

	fake_lock();
	n = dev->next_qpn - 1;
	fake_unlock();
	return n;
}

uint8_t fabric_tos(const struct fake_device *dev)
{
	return dev->tos;
}

unsigned fabric_rejects(const struct fake_device *dev, uint8_t *ret_data, size_t len)
{
	unsigned n;

	fake_lock();
	n = dev->rejects;
	memcpy(ret_data, dev->rejected, len < REJ_DATA ? len : REJ_DATA);
	fake_unlock();
	return n;
}

/* --- begin and end --- */

void fabric_begin(uint64_t (*now_ns)(void))
{
	fabric = (struct fabric){.lock = PTHREAD_MUTEX_INITIALIZER,
				 .now_ns = now_ns,
				 .next_uid = 1,
				 .random = 1,
				 .next_key = 0x100,
				 .next_port = 32768};
	for (unsigned i = 0; i < FABRIC_DEVICES; i++)
		for (unsigned j = 0; j < FABRIC_DEVICES; j++)
			fabric.path[i][j].delay_ns = FABRIC_DELAY_NS;
}

void fabric_end(void)
{
	static const char *const kinds[OBJECT_COUNT] = {
		[OBJECT_CONTEXT] = "contexts",
		[OBJECT_PD] = "protection domains",
		[OBJECT_COMP_CHANNEL] = "completion channels",
		[OBJECT_CQ] = "completion queues",
		[OBJECT_SRQ] = "shared receive queues",
		[OBJECT_MR] = "memory regions",
		[OBJECT_QP] = "queue pairs",
		[OBJECT_EVENT_CHANNEL] = "event channels",
		[OBJECT_ID] = "ids",
		[OBJECT_CM_EVENT] = "events of ids",
	};

	for (unsigned i = 0; i < OBJECT_COUNT; i++) {
		if (fabric.objects[i])
			fprintf(stderr, "fake fabric: %u %s are left\n", fabric.objects[i],
				kinds[i]);
		fake_check(!fabric.objects[i], "not everything that was made is gone");
	}
	fake_check(!fabric.async_unacked, "an asynchronous event was not acknowledged");
	forget_actions();
	for (unsigned i = 0; i < fabric.n_devices; i++)
		while (fabric.device[i].contexts) /* librdmacm's, which it never closes */
			fake_context_free(fabric.device[i].contexts);
	fabric.n_devices = 0;
}
