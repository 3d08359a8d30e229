/* Answers of the kernel by netlink, as whatever sits behind the socket may give them. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "probes/dcb.h"
#include "probes/devlink.h"
#include "probes/link_modes.h"
#include "probes/link_watch.h"
#include "probes/optional_counters.h"

struct pair {
	struct netlink n;
	int kernel;
};

static void pair_open(struct pair *p)
{
	struct timeval patience = {.tv_usec = 1};
	int fds[2];

	must_hold(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	p->n = (struct netlink){.fd = fds[0]};
	p->kernel = fds[1];
}

/* It answers the next question, whatever number it says; what is missing is not waited for. The
 * room is of just the size of what comes, so that a sanitizer sees who reads behind it. */
static void answer(struct pair *p, const uint8_t *data, size_t size)
{
	struct nlmsghdr head = {0}, end = {.nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_DONE};

	free(p->n.room);
	p->n.room = malloc(size > sizeof(end) ? size : sizeof(end));
	memcpy(&head, data, size < sizeof(head) ? size : sizeof(head));
	p->n.sequence = head.nlmsg_seq - 1;
	end.nlmsg_seq = head.nlmsg_seq;
	if (size > 0)
		must_hold(send(p->kernel, data, size, 0) == (ssize_t)size);
	must_hold(send(p->kernel, &end, sizeof(end), 0) == (ssize_t)sizeof(end));
}

static void drain(struct pair *p)
{
	uint8_t rest[4096];

	while (recv(p->kernel, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	while (recv(p->n.fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
}

static void on_link(void *arg, const char *netdev)
{
	(void)arg;
	must_hold(!netdev || (netdev[0] && strlen(netdev) < FACT_NETDEV));
}

static void check_counters(const struct optional_counters *o)
{
	must_hold(o->n <= OPTIONAL_MAX);
	for (uint32_t i = 0; i < o->n; i++)
		must_hold(o->counter[i].name[0] && strlen(o->counter[i].name) < FACT_NAME);
}

static void check_config(const struct port_config_fact *c)
{
	must_hold(c->trust <= TRUST_DSCP);
	for (unsigned i = 0; i < DSCP_COUNT; i++)
		must_hold(c->dscp_priority[i] < PRIORITIES || c->dscp_priority[i] == DSCP_UNMAPPED);
}

static void dcb(struct pair *p, const uint8_t *data, size_t size)
{
	struct port_config_fact c;

	memset(&c, 0, sizeof(c));
	answer(p, data, size);
	dcb_ask(&p->n, "eth0", &c);
	check_config(&c);
	drain(p);
	/* The bytes as the payload alone: what a message may hold is found sooner. */
	dcb_take(data, size, &c);
	check_config(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct optional_counters o;
	struct devlink_health h;
	struct link_fact link;
	struct link_watch w;
	struct pair p;
	uint16_t family;
	uint32_t index;

	pair_open(&p);
	memset(&o, 0, sizeof(o));
	answer(&p, data, size);
	optional_list(&o, &p.n, 1, 1);
	check_counters(&o);
	drain(&p);
	answer(&p, data, size);
	optional_read(&o, &p.n, 1, "mlx5_0", 1);
	check_counters(&o);
	drain(&p);
	answer(&p, data, size);
	optional_device(&p.n, "mlx5_0", &index);
	drain(&p);
	answer(&p, data, size);
	devlink_family(&p.n, &family);
	drain(&p);
	answer(&p, data, size);
	devlink_health_read(&h, &p.n, 0x15, "0000:3b:00.0");
	must_hold(h.n <= HEALTH_MAX);
	drain(&p);
	dcb(&p, data, size);
	answer(&p, data, size);
	link_modes_ask(&p.n, 0x15, "ens1f0np0", &link);
	must_hold(link.common_megabits <= link.possible_megabits);
	must_hold(!link.common_megabits == !link.common_lanes);
	drain(&p);
	answer(&p, data, size);
	w = (struct link_watch){.netlink = p.n};
	link_watch_read(&w, on_link, NULL);
	netlink_close(&p.n);
	close(p.kernel);
	return 0;
}
