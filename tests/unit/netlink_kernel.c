#include "netlink_kernel.h"

#include <sys/socket.h>
#include <unistd.h>

void kernel_begin(struct netlink_kernel *k)
{
	struct timeval patience = {.tv_usec = 1000};
	int fds[2];

	memset(k, 0, sizeof(*k));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	k->asker = (struct netlink){.fd = fds[0], .room = malloc(NETLINK_ROOM)};
	k->fd = fds[1];
}

void kernel_end(struct netlink_kernel *k)
{
	netlink_close(&k->asker);
	close(k->fd);
}

static void append(struct netlink_kernel *k, const void *data, size_t len)
{
	assert_true(k->len + len + 4 < sizeof(k->part));
	if (len > 0)
		memcpy(k->part + k->len, data, len);
	k->len += NLMSG_ALIGN(len);
}

/* The message so far is as long as it is. */
static void close_message(struct netlink_kernel *k)
{
	uint32_t len = (uint32_t)(k->len - k->message);

	memcpy(k->part + k->message, &len, sizeof(len));
}

void kernel_message(struct netlink_kernel *k, uint16_t type, uint16_t flags, const void *header,
		    size_t header_len)
{
	struct nlmsghdr head = {
		.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = k->questions + 1};

	k->message = k->len;
	append(k, &head, sizeof(head));
	append(k, header, header_len);
	close_message(k);
}

void kernel_attr(struct netlink_kernel *k, uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {.nla_type = type, .nla_len = (uint16_t)(NLA_HDRLEN + len)};

	append(k, &head, sizeof(head));
	append(k, data, len);
	close_message(k);
}

void kernel_text(struct netlink_kernel *k, uint16_t type, const char *text)
{
	kernel_attr(k, type, text, strlen(text) + 1);
}

void kernel_u8(struct netlink_kernel *k, uint16_t type, uint8_t value)
{
	kernel_attr(k, type, &value, sizeof(value));
}

void kernel_u16(struct netlink_kernel *k, uint16_t type, uint16_t value)
{
	kernel_attr(k, type, &value, sizeof(value));
}

void kernel_u32(struct netlink_kernel *k, uint16_t type, uint32_t value)
{
	kernel_attr(k, type, &value, sizeof(value));
}

void kernel_u64(struct netlink_kernel *k, uint16_t type, uint64_t value)
{
	kernel_attr(k, type, &value, sizeof(value));
}

void kernel_nest(struct netlink_kernel *k, uint16_t type)
{
	k->nest[k->depth++] = k->len;
	kernel_attr(k, type | NLA_F_NESTED, NULL, 0);
}

void kernel_unnest(struct netlink_kernel *k)
{
	size_t at = k->nest[--k->depth];
	uint16_t len = (uint16_t)(k->len - at);

	memcpy(k->part + at, &len, sizeof(len));
}

void kernel_code(struct netlink_kernel *k, uint16_t type, int32_t code)
{
	kernel_message(k, type, NLM_F_MULTI, &code, sizeof(code));
}

void kernel_answer(struct netlink_kernel *k)
{
	assert_int_equal(send(k->fd, k->part, k->len, 0), k->len);
	k->len = 0;
	k->questions++;
}

uint16_t kernel_question(struct netlink_kernel *k, size_t header_len,
			 struct netlink_attrs *ret_attrs)
{
	ssize_t len = recv(k->fd, k->part, sizeof(k->part), MSG_DONTWAIT);
	struct nlmsghdr head;

	assert_true(len >= (ssize_t)sizeof(head));
	memcpy(&head, k->part, sizeof(head));
	assert_int_equal(head.nlmsg_len, len);
	assert_true(head.nlmsg_flags & NLM_F_REQUEST);
	*ret_attrs = netlink_attrs(k->part + sizeof(head), (size_t)len - sizeof(head), header_len);
	return head.nlmsg_type;
}
