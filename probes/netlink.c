#include "probes/netlink.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_S 2
/* Rounds of receiving for one question; a dump of 1,000 devices takes a few dozen. */
#define PARTS_MAX 4096

int netlink_open(struct netlink *n, int protocol, uint32_t groups)
{
	struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = groups};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct timeval patience = {.tv_sec = ANSWER_S};
	int r;

	*n = (struct netlink){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)};
	if (n->fd < 0)
		return -errno;
	n->room = malloc(NETLINK_ROOM);
	if (!n->room) {
		netlink_close(n);
		return -ENOMEM;
	}
	/* Connected to the kernel: nobody else can answer. */
	if (bind(n->fd, (struct sockaddr *)&own, sizeof(own)) == 0 &&
	    connect(n->fd, (struct sockaddr *)&kernel, sizeof(kernel)) == 0 &&
	    setsockopt(n->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	    setsockopt(n->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0)
		return 0;
	r = -errno;
	netlink_close(n);
	return r;
}

void netlink_close(struct netlink *n)
{
	if (n->fd >= 0)
		close(n->fd);
	free(n->room);
	*n = (struct netlink){.fd = -1};
}

static void append(struct netlink_request *q, const void *data, size_t len)
{
	assert(q->len + NLMSG_ALIGN(len) <= sizeof(q->bytes));
	if (len > 0)
		memcpy(q->bytes + q->len, data, len);
	memset(q->bytes + q->len + len, 0, NLMSG_ALIGN(len) - len);
	q->len += NLMSG_ALIGN(len);
}

void netlink_begin(struct netlink_request *q, uint16_t type, uint16_t flags, const void *header,
		   size_t header_len)
{
	struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_flags = flags | NLM_F_REQUEST};

	q->len = 0;
	append(q, &head, sizeof(head));
	append(q, header, header_len);
}

void netlink_put(struct netlink_request *q, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = {.nla_type = type, .nla_len = (uint16_t)(NLA_HDRLEN + len)};

	append(q, &attr, sizeof(attr));
	append(q, data, len);
}

void netlink_put_u32(struct netlink_request *q, uint16_t type, uint32_t value)
{
	netlink_put(q, type, &value, sizeof(value));
}

void netlink_put_text(struct netlink_request *q, uint16_t type, const char *text)
{
	netlink_put(q, type, text, strlen(text) + 1);
}

static int send_request(struct netlink *n, struct netlink_request *q)
{
	struct nlmsghdr head;

	memcpy(&head, q->bytes, sizeof(head));
	head.nlmsg_len = (uint32_t)q->len;
	head.nlmsg_seq = ++n->sequence;
	memcpy(q->bytes, &head, sizeof(head));
	return send(n->fd, q->bytes, q->len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static ssize_t receive(struct netlink *n, int flags)
{
	ssize_t len;

	do {
		len = recv(n->fd, n->room, NETLINK_ROOM, flags | MSG_TRUNC);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return len > NETLINK_ROOM ? -EMSGSIZE : len;
}

/* The next message in what was received; false at the end. */
static bool next_message(const uint8_t **at, size_t *left, struct nlmsghdr *ret_head,
			 const uint8_t **ret_payload)
{
	size_t step;

	if (*left < sizeof(*ret_head))
		return false;
	memcpy(ret_head, *at, sizeof(*ret_head));
	if (ret_head->nlmsg_len < sizeof(*ret_head) || ret_head->nlmsg_len > *left)
		return false;
	*ret_payload = *at + sizeof(*ret_head);
	step = NLMSG_ALIGN((size_t)ret_head->nlmsg_len);
	step = step < *left ? step : *left;
	*at += step;
	*left -= step;
	return true;
}

struct answer {
	uint32_t sequence;
	netlink_fn fn;
	void *arg;
	int result;
	bool done;
};

/* The number that ends an answer: 0 or -errno. */
static int verdict_of(const uint8_t *payload, size_t len)
{
	int32_t code;

	if (len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, payload, sizeof(code));
	return code > 0 || code < -4095 ? -EBADMSG : code;
}

static void take_message(struct answer *a, const struct nlmsghdr *head, const uint8_t *payload)
{
	size_t len = head->nlmsg_len - sizeof(*head);

	if (head->nlmsg_flags & NLM_F_DUMP_INTR && a->result == 0)
		a->result = -EAGAIN;
	if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE) {
		int code =
			head->nlmsg_type == NLMSG_DONE && len == 0 ? 0 : verdict_of(payload, len);

		a->done = true;
		a->result = a->result ? a->result : code;
		return;
	}
	if (head->nlmsg_type < NLMSG_MIN_TYPE)
		return;
	if (a->result == 0)
		a->result = a->fn(a->arg, head->nlmsg_type, payload, len);
	a->done = !(head->nlmsg_flags & NLM_F_MULTI);
}

static void take_part(struct answer *a, const uint8_t *at, size_t left)
{
	const uint8_t *payload;
	struct nlmsghdr head;

	while (!a->done && next_message(&at, &left, &head, &payload)) {
		/* What comes late belongs to a question that was given up. */
		if (head.nlmsg_seq == a->sequence)
			take_message(a, &head, payload);
	}
	if (!a->done && left > 0) {
		a->done = true;
		a->result = -EBADMSG;
	}
}

int netlink_ask(struct netlink *n, struct netlink_request *q, netlink_fn fn, void *arg)
{
	struct answer a = {.fn = fn, .arg = arg};
	int r = send_request(n, q);

	if (r < 0)
		return r;
	a.sequence = n->sequence;
	for (unsigned i = 0; !a.done && i < PARTS_MAX; i++) {
		ssize_t len = receive(n, 0);

		if (len < 0)
			return (int)len;
		take_part(&a, n->room, (size_t)len);
	}
	return a.done ? a.result : -EBADMSG;
}

bool netlink_hear(struct netlink *n, netlink_fn fn, void *arg)
{
	for (;;) {
		ssize_t received = receive(n, MSG_DONTWAIT);
		const uint8_t *at = n->room, *payload;
		size_t left = received > 0 ? (size_t)received : 0;
		struct nlmsghdr head;

		if (received < 0)
			return received == -ETIMEDOUT;
		if (received == 0)
			return true;
		while (next_message(&at, &left, &head, &payload))
			fn(arg, head.nlmsg_type, payload, head.nlmsg_len - sizeof(head));
	}
}

struct netlink_attrs netlink_attrs(const uint8_t *payload, size_t len, size_t header_len)
{
	size_t skip = NLMSG_ALIGN(header_len);

	if (len <= skip)
		return (struct netlink_attrs){0};
	return (struct netlink_attrs){.at = payload + skip, .left = len - skip};
}

struct netlink_attrs netlink_inside(const struct netlink_attr *attr)
{
	return (struct netlink_attrs){.at = attr->data, .left = attr->len};
}

bool netlink_next(struct netlink_attrs *attrs, struct netlink_attr *ret)
{
	struct nlattr head;
	size_t step;

	if (attrs->left < sizeof(head))
		return false;
	memcpy(&head, attrs->at, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > attrs->left)
		return false;
	ret->type = head.nla_type & NLA_TYPE_MASK;
	ret->len = (uint16_t)(head.nla_len - sizeof(head));
	ret->data = attrs->at + sizeof(head);
	step = NLA_ALIGN((size_t)head.nla_len);
	step = step < attrs->left ? step : attrs->left;
	attrs->at += step;
	attrs->left -= step;
	return true;
}

bool netlink_whole(struct netlink_attrs attrs)
{
	struct netlink_attr attr;

	while (netlink_next(&attrs, &attr))
		;
	return attrs.left == 0;
}

bool netlink_find(struct netlink_attrs attrs, uint16_t type, struct netlink_attr *ret)
{
	struct netlink_attr attr;

	while (netlink_next(&attrs, &attr)) {
		if (attr.type == type) {
			*ret = attr;
			return true;
		}
	}
	return false;
}

static bool number(const struct netlink_attr *attr, void *ret, size_t size)
{
	if (attr->len != size)
		return false;
	memcpy(ret, attr->data, size);
	return true;
}

bool netlink_u8(const struct netlink_attr *attr, uint8_t *ret)
{
	return number(attr, ret, sizeof(*ret));
}

bool netlink_u16(const struct netlink_attr *attr, uint16_t *ret)
{
	return number(attr, ret, sizeof(*ret));
}

bool netlink_u32(const struct netlink_attr *attr, uint32_t *ret)
{
	return number(attr, ret, sizeof(*ret));
}

bool netlink_u64(const struct netlink_attr *attr, uint64_t *ret)
{
	return number(attr, ret, sizeof(*ret));
}

bool netlink_text(const struct netlink_attr *attr, char *ret, size_t size)
{
	const char *text = attr->data;
	size_t len = strnlen(text, attr->len);

	if (len == 0 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}
