/* A client and a listener of rdma_cm that misbehave on purpose, for scenarios in the lab:
 *
 *   stranger FROM TO flood N       N requests that are none of ours; prints how many were rejected
 *   stranger FROM TO mute N        N requests as of N hosts, and then not a word
 *   stranger FROM TO garbage       one connection, and nonsense on it; so half, long: half a HELLO,
 *                                  more than a receive holds
 *   stranger FROM TO hello N MS    N connections as of N hosts, each with a HELLO that states a
 *                                  keep-alive of MS; "up" as they are answered
 *   stranger AT - close            accepts whoever comes, and closes at once
 *   stranger AT - garble           accepts, and answers the HELLO with nonsense
 *
 * It prints "rejected N", "closed N" and "up N" as that happens, and stays until it is killed or,
 * as a client, until nothing is left to wait for. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/wire.h"

#define PORT 10480
#define CONNS_MAX 4096
#define WINDOW 64 /* requests on their way at once */
#define POLITE 8  /* the same, of those that say hello: those that have not are bounded there */
#define RX_SIZE 512
#define RX_COUNT 4
#define TX_SIZE 4096
#define RESOLVE_MS 2000

enum mode { FLOOD, MUTE, GARBAGE, HALF, LONG, HELLO, CLOSE, GARBLE };
static const char *const mode_names[] = {"flood", "mute",  "garbage", "half",
					 "long",  "hello", "close",   "garble"};

struct peer {
	struct rdma_cm_id *id;
	uint8_t *memory; /* TX_SIZE to send from, then the receives */
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	unsigned number;
	bool answered;
};

static struct {
	enum mode mode;
	unsigned n, keepalive_ms;
	struct sockaddr_in from, to;
	struct rdma_event_channel *channel;
	struct ibv_pd *pd;
	struct peer peers[CONNS_MAX];
	unsigned begun, over, established, rejected, closed, answered;
	unsigned silent; /* over without an answer */
} st;

static void die(const char *what)
{
	fprintf(stderr, "stranger: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address(const char *text, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1)
		die(text);
	return a;
}

/* --- a connection --- */

static void post_receive(struct peer *p, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)(p->memory + TX_SIZE + i * RX_SIZE), RX_SIZE, p->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

	if (ibv_post_recv(p->id->qp, &wr, &bad))
		die("ibv_post_recv");
}

static void make_qp(struct peer *p)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 3,
			.max_recv_wr = RX_COUNT,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	if (!st.pd)
		st.pd = ibv_alloc_pd(p->id->verbs);
	p->memory = calloc(1, TX_SIZE + RX_COUNT * RX_SIZE);
	p->cq = ibv_create_cq(p->id->verbs, 16, NULL, NULL, 0);
	if (!st.pd || !p->memory || !p->cq)
		die("verbs");
	p->mr = ibv_reg_mr(st.pd, p->memory, TX_SIZE + RX_COUNT * RX_SIZE, IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = attr.recv_cq = p->cq;
	if (!p->mr || rdma_create_qp(p->id, st.pd, &attr))
		die("rdma_create_qp");
	for (unsigned i = 0; i < RX_COUNT; i++)
		post_receive(p, i);
}

static void send_bytes(struct peer *p, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)p->memory, len, p->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	if (ibv_post_send(p->id->qp, &wr, &bad))
		die("ibv_post_send");
}

static uint32_t put_hello(const struct peer *p, enum wire_type type)
{
	struct wire_hello h = {.instance = 1 + p->number,
			       .rx_size = RX_SIZE,
			       .keepalive_ms = st.keepalive_ms,
			       .rail = "stranger"};

	snprintf(h.host, sizeof(h.host), "stranger-%u", p->number);
	return (uint32_t)wire_put_hello(type, &h, p->memory, TX_SIZE);
}

static void speak(struct peer *p)
{
	uint32_t len;

	switch (st.mode) {
	case GARBAGE:
		memset(p->memory, 0xee, 100);
		send_bytes(p, 100);
		break;
	case HALF:
		send_bytes(p, put_hello(p, WIRE_HELLO) / 2);
		break;
	case LONG:
		put_hello(p, WIRE_HELLO);
		send_bytes(p, TX_SIZE);
		break;
	case HELLO:
		send_bytes(p, put_hello(p, WIRE_HELLO));
		break;
	case GARBLE:
		len = put_hello(p, WIRE_HELLO_REPLY);
		memset(p->memory + WIRE_HEADER_LEN, 0xee, len - WIRE_HEADER_LEN);
		send_bytes(p, len);
		break;
	case FLOOD:
	case MUTE:
	case CLOSE:
		break;
	}
}

/* --- as a client --- */

static void begin_next(void)
{
	struct peer *p = &st.peers[st.begun];

	p->number = st.begun++;
	if (rdma_create_id(st.channel, &p->id, p, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_resolve_addr(p->id, (struct sockaddr *)&st.from, (struct sockaddr *)&st.to,
			      RESOLVE_MS))
		die("rdma_resolve_addr");
}

static void request(struct peer *p)
{
	struct wire_request r = {.instance = 1 + p->number, .generation = 1, .rail_hash = 1};
	uint8_t data[WIRE_REQUEST_LEN];
	struct rdma_conn_param param = {.private_data = data,
					.private_data_len = sizeof(data),
					.retry_count = 6,
					.rnr_retry_count = 3};

	r.host_hash = 0x5174a0000 + p->number;
	wire_put_request(&r, data);
	if (st.mode == FLOOD)
		memset(data, 0xee, sizeof(data));
	make_qp(p);
	if (rdma_connect(p->id, &param))
		die("rdma_connect");
}

static void end(struct peer *p)
{
	st.over++;
	st.silent += !p->answered;
	rdma_destroy_qp(p->id);
	rdma_destroy_id(p->id);
	ibv_dereg_mr(p->mr);
	ibv_destroy_cq(p->cq);
	free(p->memory);
	*p = (struct peer){0};
}

/* --- as a listener --- */

static void accept_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.rnr_retry_count = 3};
	struct peer *p = &st.peers[st.begun++ % CONNS_MAX];

	p->id = id;
	id->context = p;
	make_qp(p);
	if (rdma_accept(id, &param))
		perror("stranger: rdma_accept");
}

static void come_up(struct peer *p)
{
	st.established++;
	if (st.mode == CLOSE)
		rdma_disconnect(p->id);
	else
		speak(p);
}

/* --- both --- */

static void take_event(struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	struct peer *p = id->context;

	switch ((int)event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, RESOLVE_MS))
			die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		request(p);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		accept_it(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		come_up(p);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR: /* what it was to connect to has been given up */
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		printf("rejected %u\n", ++st.rejected);
		end(p);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		printf("closed %u\n", ++st.closed);
		end(p);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		fprintf(stderr, "stranger: %s\n", rdma_event_str(event));
		exit(1);
	}
}

static void take_events(int wait_ms)
{
	struct pollfd fd = {.fd = st.channel->fd, .events = POLLIN};
	struct rdma_cm_event *ev;

	while (poll(&fd, 1, wait_ms) == 1) {
		struct rdma_cm_id *id;
		enum rdma_cm_event_type event;

		if (rdma_get_cm_event(st.channel, &ev))
			die("rdma_get_cm_event");
		id = ev->id;
		event = ev->event;
		rdma_ack_cm_event(ev);
		take_event(id, event);
		wait_ms = 0;
	}
}

/* Replies; and the room for what else comes. */
static void take_completions(void)
{
	struct ibv_wc wc;

	for (unsigned i = 0; i < st.begun && i < CONNS_MAX; i++) {
		struct peer *p = &st.peers[i];

		while (p->cq && ibv_poll_cq(p->cq, 1, &wc) == 1) {
			if (wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV))
				continue;
			post_receive(p, (unsigned)wc.wr_id);
			if (!p->answered)
				printf("up %u\n", ++st.answered);
			p->answered = true;
		}
	}
}

static void serve(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(st.channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&st.from) || rdma_listen(id, 64))
		die("listening");
	for (;;)
		take_events(1000);
}

static bool may_begin(void)
{
	if (st.begun == st.n)
		return false;
	if (st.mode == HELLO)
		return st.begun < st.answered + st.silent + POLITE;
	return st.begun < st.established + st.over + WINDOW;
}

static void attack(void)
{
	st.from.sin_port = 0;
	while (st.over < st.n) {
		while (may_begin())
			begin_next();
		take_events(50);
		take_completions();
	}
}

int main(int argc, char **argv)
{
	int mode = 0, modes = sizeof(mode_names) / sizeof(mode_names[0]);

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (argc > 3 && mode < modes && strcmp(argv[3], mode_names[mode]))
		mode++;
	if (argc < 4 || mode == modes) {
		fprintf(stderr, "stranger: see the head of stranger.c\n");
		return 64;
	}
	st.mode = (enum mode)mode;
	st.n = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	st.keepalive_ms = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	st.from = address(argv[1], PORT);
	st.channel = rdma_create_event_channel();
	if (!st.channel || st.n > CONNS_MAX)
		die("rdma_create_event_channel");
	if (st.mode == CLOSE || st.mode == GARBLE)
		serve();
	st.to = address(argv[2], PORT);
	attack();
	return 0;
}
