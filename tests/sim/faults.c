#include "faults.h"

#include <errno.h>
#include <string.h>

#include "host.h"

#define FAULTS_MAX 256
#define REPAIRS_MAX 256

/* What ends a fault, at its time or when everything is repaired. */
struct repair {
	uint64_t at_ns; /* 0: free */
	void (*run)(struct host *a, struct host *b);
	struct host *a, *b;
};

static const struct simulation_options *opt;
static uint64_t next_ns, end_ns;
static unsigned n_faults;
static struct repair repairs[REPAIRS_MAX];
static uint64_t next_repair_ns; /* the earliest of them */
static struct chance pace;	/* when the next one comes */
static struct chance dice;	/* of the fault that happens now */
static uint64_t lasts_ns;	/* it is repaired after that */

/* --- drawing --- */

static unsigned below(unsigned n)
{
	return chance_below(&dice, n);
}

static struct host *any_host(void)
{
	return &hosts[below(n_hosts)];
}

static struct host *other_than(const struct host *h)
{
	return &hosts[(h->index + 1 + below(n_hosts - 1)) % n_hosts];
}

static uint64_t any_time(void)
{
	static const uint64_t spans[] = {50 * NSEC_PER_MSEC, NSEC_PER_SEC, 4 * NSEC_PER_SEC,
					 15 * NSEC_PER_SEC};

	return 1 + chance_u64(&dice) % spans[below(4)];
}

static void repair_later(void (*run)(struct host *a, struct host *b), struct host *a,
			 struct host *b)
{
	for (unsigned i = 0; i < REPAIRS_MAX; i++) {
		if (repairs[i].at_ns)
			continue;
		repairs[i] = (struct repair){simulation_now_ns() + lasts_ns, run, a, b};
		if (repairs[i].at_ns < next_repair_ns)
			next_repair_ns = repairs[i].at_ns;
		return;
	}
	simulation_fail("too many faults at once");
}

/* --- paths --- */

static void repair_path(struct host *a, struct host *b)
{
	fabric_set_path(a->dev, b->dev, &(struct fabric_path){.delay_ns = FABRIC_DELAY_NS});
}

static void path_fault(void)
{
	struct host *a = any_host(), *b = other_than(a);
	struct fabric_path path = {.delay_ns = FABRIC_DELAY_NS};

	switch (below(4)) {
	case 0:
		path.drop = true;
		break;
	case 1:
		path.delay_ns = below(400) * NSEC_PER_MSEC;
		break;
	case 2:
		path.loss_permille = 1 + below(600);
		break;
	default:
		path.jitter_ns = 1 + below(200) * NSEC_PER_MSEC;
		break;
	}
	simulation_note("path %s -> %s: %s%u ms, %u/1000 lost, for %.3f s", a->name, b->name,
			path.drop ? "drop " : "", (unsigned)(path.delay_ns / NSEC_PER_MSEC),
			path.loss_permille, (double)lasts_ns / 1e9);
	fabric_set_path(a->dev, b->dev, &path);
	repair_later(repair_path, a, b);
}

static void repair_dark(struct host *a, struct host *b)
{
	(void)b;
	fabric_set_dark(a->dev, false);
}

static void dark_fault(void)
{
	struct host *h = any_host();

	simulation_note("%s: nothing gets in or out for %.3f s", h->name, (double)lasts_ns / 1e9);
	fabric_set_dark(h->dev, true);
	repair_later(repair_dark, h, NULL);
}

/* --- ports and addresses --- */

static void repair_port(struct host *a, struct host *b)
{
	(void)b;
	fabric_set_port(a->dev, true);
}

static void port_fault(void)
{
	struct host *h = any_host();

	simulation_note("%s: link down for %.3f s", h->name, (double)lasts_ns / 1e9);
	fabric_set_port(h->dev, false);
	repair_later(repair_port, h, NULL);
}

static void repair_address(struct host *a, struct host *b)
{
	(void)b;
	fabric_remove_address(a->dev, a->address);
	fabric_add_address(a->dev, a->address, IBV_GID_TYPE_ROCE_V2);
}

static void address_fault(void)
{
	struct host *h = any_host();
	bool elsewhere = below(2);

	simulation_note("%s: the address is gone for %.3f s%s", h->name, (double)lasts_ns / 1e9,
			elsewhere ? ", and will have another index" : "");
	fabric_remove_address(h->dev, h->address);
	if (elsewhere) {
		fabric_remove_address(h->dev, "fe80::1");
		fabric_add_address(h->dev, "fe80::1", IBV_GID_TYPE_ROCE_V1);
	}
	repair_later(repair_address, h, NULL);
}

static const char *second_address(const struct host *h)
{
	static const char *const second[HOSTS_MAX] = {"10.0.1.1", "10.0.1.2", "10.0.1.3"};

	return second[h->index];
}

static void repair_second(struct host *a, struct host *b)
{
	(void)b;
	fabric_remove_address(a->dev, second_address(a));
}

static void second_address_fault(void)
{
	struct host *h = any_host();

	simulation_note("%s: a second address for %.3f s", h->name, (double)lasts_ns / 1e9);
	fabric_remove_address(h->dev, second_address(h));
	fabric_add_address(h->dev, second_address(h), IBV_GID_TYPE_ROCE_V2);
	repair_later(repair_second, h, NULL);
}

/* --- devices --- */

static void repair_device(struct host *a, struct host *b)
{
	(void)b;
	if (a->present)
		return;
	fabric_return_device(a->dev);
	host_set_present(a, true, true);
}

static void removal_fault(void)
{
	struct host *h = any_host();
	bool events = below(2), told = below(2);

	if (!h->present)
		return;
	simulation_note("%s: device removed for %.3f s, %s, %s", h->name, (double)lasts_ns / 1e9,
			events ? "with events" : "without a word",
			told ? "main hears" : "silently");
	fabric_remove_device(h->dev, events);
	host_set_present(h, false, told);
	repair_later(repair_device, h, NULL);
}

static void repair_knobs(struct host *a, struct host *b)
{
	(void)b;
	fabric_set_knobs(a->dev, &a->nature);
}

static void knobs_fault(void)
{
	struct host *h = any_host();
	struct fake_knobs k = {
		.no_srq = h->nature.no_srq,
		.last_wqe = (enum last_wqe)below(4),
		.last_wqe_late_ns = below(300) * NSEC_PER_MSEC,
		.lose_marker = !below(4),
		.no_receives = !below(6),
		.corrupt_reads = !below(5),
		.shift_reads = !below(8),
		.refuse_reads = !below(5),
		.double_completions = !below(5),
		.lose_rtu = !below(4),
		.deaf_cm = !below(5),
		.hardware = below(2),
	};

	simulation_note(
		"%s: an odd device for %.3f s: last_wqe %u%s%s%s%s%s%s%s%s%s", h->name,
		(double)lasts_ns / 1e9, k.last_wqe, k.lose_marker ? " lose_marker" : "",
		k.no_receives ? " no_receives" : "", k.corrupt_reads ? " corrupt_reads" : "",
		k.shift_reads ? " shift_reads" : "", k.refuse_reads ? " refuse_reads" : "",
		k.double_completions ? " double_completions" : "", k.lose_rtu ? " lose_rtu" : "",
		k.deaf_cm ? " deaf_cm" : "", k.hardware ? " hardware" : "");
	fabric_set_knobs(h->dev, &k);
	repair_later(repair_knobs, h, NULL);
}

/* --- calls, answers, events --- */

static void repair_calls(struct host *a, struct host *b)
{
	(void)b;
	for (unsigned call = 0; call < CALL_COUNT; call++)
		fabric_fail(a->dev, (enum fabric_call)call, 1, 0, 0);
	fabric_answer(a->dev, RDMA_CM_EVENT_REJECTED, 0, 0, NULL, 0);
}

static void call_fault(void)
{
	static const int errors[] = {ENOMEM, EINVAL, EIO, EAGAIN, EADDRNOTAVAIL, ENODEV};
	struct host *h = any_host();
	enum fabric_call call = (enum fabric_call)below(CALL_COUNT);
	unsigned nth = 1 + below(10), times = 1 + below(6);
	int err = errors[below(6)];

	simulation_note("%s: call %u fails, from the %u. on, %u times, errno %d", h->name, call,
			nth, times, err);
	fabric_fail(h->dev, call, nth, times, err);
	repair_later(repair_calls, h, NULL);
}

static void answer_fault(void)
{
	static const enum rdma_cm_event_type answers[] = {
		RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_CONNECT_ERROR,
		RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED};
	static const int rejects[] = {8, 10, 28};
	struct host *h = any_host();
	enum rdma_cm_event_type event = answers[below(5)];
	int status = rejects[below(3)];
	unsigned times = 1 + below(4);

	simulation_note("%s: rdma_cm answers %d, status %d, %u times", h->name, event, status,
			times);
	fabric_answer(h->dev, event, status, times, NULL, 0);
	repair_later(repair_calls, h, NULL);
}

static void cm_event_fault(void)
{
	static const enum rdma_cm_event_type events[] = {
		RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_ADDR_CHANGE,
		RDMA_CM_EVENT_TIMEWAIT_EXIT};
	struct host *h = any_host();
	enum rdma_cm_event_type event = events[below(4)];

	simulation_note("%s: every connection hears %d", h->name, event);
	fabric_cm_event(h->dev, event, 0);
}

static void async_fault(void)
{
	static const enum ibv_event_type events[] = {
		IBV_EVENT_GID_CHANGE,  IBV_EVENT_LID_CHANGE,	    IBV_EVENT_SM_CHANGE,
		IBV_EVENT_PKEY_CHANGE, IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_PORT_ACTIVE,
		IBV_EVENT_PORT_ERR,    IBV_EVENT_DEVICE_FATAL};
	struct host *h = any_host();
	enum ibv_event_type event = events[below(8)];

	simulation_note("%s: asynchronous event %d", h->name, event);
	fabric_async_event(h->dev, event, 0);
}

static void qp_fault(void)
{
	struct host *h = any_host();
	uint32_t qpn = fabric_last_qpn(h->dev) - below(6);

	if (!fabric_has_qp(h->dev, qpn))
		return;
	simulation_note("%s: QP %u breaks", h->name, qpn);
	if (below(3))
		fabric_break_qp(h->dev, qpn);
	else
		fabric_async_event(
			h->dev, below(2) ? IBV_EVENT_QP_FATAL : IBV_EVENT_QP_LAST_WQE_REACHED, qpn);
}

static void message_fault(void)
{
	struct host *h = any_host();
	uint32_t qpn = fabric_last_qpn(h->dev) - below(6);
	uint8_t data[64];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = below(4) ? 0 : (uint8_t)below(256);
	simulation_note("%s: a message out of nowhere on QP %u", h->name, qpn);
	fabric_deliver(h->dev, qpn, data, below(sizeof(data) + 1));
}

/* --- threads, processes, hosts --- */

static void freeze_fault(void)
{
	struct host *h = any_host();
	struct process *p = process_of(h);
	unsigned who = 1 + below(7);
	uint64_t until = simulation_now_ns() + lasts_ns;

	simulation_note("%s: frozen for %.3f s:%s%s%s", h->name, (double)lasts_ns / 1e9,
			who & 1 ? " rail" : "", who & 2 ? " control" : "", who & 4 ? " main" : "");
	if (p)
		process_freeze(p, who & 1, who & 2, until);
	if (who & 4)
		thread_freeze(&h->main, until);
}

static void crash_fault(void)
{
	struct host *h = any_host();
	struct process *p = process_of(h);
	bool loud = below(2);

	if (!p)
		return;
	simulation_note("%s: its worker dies%s", h->name, loud ? "" : " without a word");
	if (loud)
		process_kill(p, below(40) * NSEC_PER_MSEC);
	else
		process_power_off(p);
}

static void repair_main(struct host *a, struct host *b)
{
	(void)b;
	a->boots = true;
	host_boot(a);
}

static void main_fault(void)
{
	struct host *h = any_host();

	if (!h->up)
		return;
	switch (below(3)) {
	case 0:
		host_terminate(h);
		break;
	case 1:
		simulation_note("%s: main dies", h->name);
		host_crash(h, true);
		break;
	default:
		simulation_note("%s: power off", h->name);
		host_crash(h, false);
		break;
	}
	repair_later(repair_main, h, NULL);
}

static void wall_fault(void)
{
	int64_t by = (int64_t)(below(7200)) - 3600;

	simulation_note("the wall clock jumps by %d s", (int)by);
	simulation_shift_wall(by * (int64_t)NSEC_PER_SEC);
}

/* --- the operator --- */

static void repair_peers(struct host *a, struct host *b)
{
	(void)b;
	host_list_peers(a, ~0u);
	host_reload(a);
}

static void peers_fault(void)
{
	struct host *h = any_host();
	unsigned mask = below(1u << n_hosts);

	simulation_note("%s: peers %x listed for %.3f s", h->name, mask, (double)lasts_ns / 1e9);
	host_list_peers(h, mask);
	host_reload(h);
	repair_later(repair_peers, h, NULL);
}

static void settings_fault(void)
{
	static const uint64_t intervals[] = {100, 150, 300, 700};
	struct host *h = any_host();
	struct config *f = &h->file;
	unsigned op = below(OP_COUNT);
	/* The larger ones a peer with the smaller cannot take: it lacks the operation. */
	uint32_t size = below(2) ? 64 : 4096;

	switch (below(5)) {
	case 0:
		f->op[op] = (struct op_config){intervals[below(4)] * NSEC_PER_MSEC,
					       (10 + below(300)) * NSEC_PER_MSEC,
					       op == OP_ATOMIC ? 8 : size, 0};
		break;
	case 1:
		if (op != OP_SEND)
			f->op[op].interval_ns = 0;
		break;
	case 2:
		f->connects = 1 + below(4);
		break;
	case 3:
		f->accept_any = !f->accept_any;
		break;
	default:
		f->ack_timeout = 12 + below(6);
		break;
	}
	simulation_note("%s: other settings, %s", h->name, op_name((enum op)op));
	host_reload(h);
}

static void repair_release(struct host *a, struct host *b)
{
	(void)b;
	host_release(a, false);
}

static void release_fault(void)
{
	struct host *h = any_host();

	simulation_note("%s: device released for %.3f s", h->name, (double)lasts_ns / 1e9);
	host_release(h, true);
	repair_later(repair_release, h, NULL);
}

static void reload_fault(void)
{
	struct host *h = any_host();

	simulation_note("%s: reload", h->name);
	host_reload(h);
}

/* --- one of them --- */

static void happen(void)
{
	static void (*const kinds[])(void) = {
		path_fault,	      path_fault,     path_fault,   path_fault,
		dark_fault,	      dark_fault,     port_fault,   port_fault,
		address_fault,	      removal_fault,  knobs_fault,  knobs_fault,
		call_fault,	      call_fault,     answer_fault, cm_event_fault,
		async_fault,	      qp_fault,	      qp_fault,	    freeze_fault,
		freeze_fault,	      freeze_fault,   crash_fault,  crash_fault,
		main_fault,	      main_fault,     wall_fault,   peers_fault,
		peers_fault,	      settings_fault, reload_fault, release_fault,
		second_address_fault, message_fault};
	unsigned i = n_faults++;

	dice.state = (opt->seed + 1) * 0x9e3779b97f4a7c15ULL + (i + 1) * 0xbf58476d1ce4e5b9ULL;
	chance_u64(&dice);
	chance_u64(&dice);
	lasts_ns = any_time();
	if (i < 256 && opt->skip[i / 64] >> i % 64 & 1)
		return;
	kinds[below(sizeof(kinds) / sizeof(kinds[0]))]();
}

static void draw_next(void)
{
	static const uint64_t gaps[] = {20 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC, 3 * NSEC_PER_SEC,
					6 * NSEC_PER_SEC};

	next_ns = simulation_now_ns() + 1 + chance_u64(&pace) % gaps[chance_below(&pace, 4)];
	if (next_ns >= end_ns || n_faults >= FAULTS_MAX)
		next_ns = UINT64_MAX;
}

void faults_begin(const struct simulation_options *o, uint64_t until_ns)
{
	opt = o;
	end_ns = until_ns;
	n_faults = 0;
	memset(repairs, 0, sizeof(repairs));
	next_repair_ns = UINT64_MAX;
	pace.state = o->seed * 0x94d049bb133111ebULL + 7;
	chance_u64(&pace);
	draw_next();
}

uint64_t faults_when(void)
{
	return next_ns < next_repair_ns ? next_ns : next_repair_ns;
}

static void run_repair(struct repair *r)
{
	struct repair copy = *r;

	r->at_ns = 0;
	copy.run(copy.a, copy.b);
}

static void run_repairs(uint64_t until_ns)
{
	next_repair_ns = UINT64_MAX;
	for (unsigned i = 0; i < REPAIRS_MAX; i++)
		if (repairs[i].at_ns && repairs[i].at_ns <= until_ns)
			run_repair(&repairs[i]);
	for (unsigned i = 0; i < REPAIRS_MAX; i++)
		if (repairs[i].at_ns && repairs[i].at_ns < next_repair_ns)
			next_repair_ns = repairs[i].at_ns;
}

void faults_step(void)
{
	uint64_t now = simulation_now_ns();

	if (next_repair_ns <= now)
		run_repairs(now);
	if (next_ns > now)
		return;
	happen();
	draw_next();
}

unsigned faults_count(void)
{
	return n_faults;
}

void faults_end(void)
{
	next_ns = next_repair_ns = UINT64_MAX;
	memset(repairs, 0, sizeof(repairs));
}

static void thaw_all(void)
{
	for (struct process *p = processes; p; p = p->next)
		process_freeze(p, true, true, 0);
	for (unsigned i = 0; i < n_hosts; i++)
		thread_freeze(&hosts[i].main, 0);
}

void faults_heal(void)
{
	simulation_note("everything is repaired");
	next_ns = UINT64_MAX;
	run_repairs(UINT64_MAX);
	thaw_all();
	for (unsigned i = 0; i < n_hosts; i++) {
		hosts[i].file.accept_any = true;
		host_reload(&hosts[i]);
	}
}
