/* Answers of the kernel as bytes, good and hostile ones, by a socket pair in the kernel's place. */
#include "support.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/link_watch.h"
#include "probes/netlink.h"

#define TYPE 0x40
#define ATTR 7

struct fixture {
	struct netlink n;
	int kernel;
	uint8_t part[256];
	size_t len;
	struct netlink_request request;
	unsigned seen;
	uint32_t sum;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct timeval patience = {.tv_usec = 1000};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	f->n = (struct netlink){.fd = fds[0], .room = malloc(NETLINK_ROOM)};
	f->kernel = fds[1];
	netlink_begin(&f->request, TYPE, NLM_F_DUMP, NULL, 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	netlink_close(&f->n);
	close(f->kernel);
	free(f);
	return 0;
}

/* A message of the answer to the next question; extra: by how much its length lies. */
static void add(struct fixture *f, uint16_t type, uint16_t flags, const void *payload, size_t len,
		int extra)
{
	struct nlmsghdr head = {
		.nlmsg_len = (uint32_t)((int)(sizeof(head) + len) + extra),
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = f->n.sequence + 1,
	};

	memcpy(f->part + f->len, &head, sizeof(head));
	if (len > 0)
		memcpy(f->part + f->len + sizeof(head), payload, len);
	f->len += sizeof(head) + NLMSG_ALIGN(len);
}

static void add_code(struct fixture *f, uint16_t type, int32_t code)
{
	add(f, type, NLM_F_MULTI, &code, sizeof(code), 0);
}

static void add_number(struct fixture *f, uint16_t flags, uint32_t value)
{
	uint32_t attr[2] = {(NLA_HDRLEN + sizeof(value)) | ATTR << 16, value};

	add(f, TYPE, flags, attr, sizeof(attr), 0);
}

static void answer(struct fixture *f)
{
	assert_int_equal(send(f->kernel, f->part, f->len, 0), f->len);
	f->len = 0;
}

static int take(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	struct fixture *f = arg;
	struct netlink_attr attr;
	uint32_t value;

	assert_int_equal(type, TYPE);
	f->seen++;
	if (!netlink_find(netlink_attrs(payload, len, 0), ATTR, &attr) ||
	    !netlink_u32(&attr, &value))
		return -EBADMSG;
	f->sum += value;
	return 0;
}

static int ask(struct fixture *f)
{
	return netlink_ask(&f->n, &f->request, take, f);
}

static void test_parts_of_an_answer_are_taken_together(void **state)
{
	struct fixture *f = *state;

	add_number(f, NLM_F_MULTI, 1);
	add_number(f, NLM_F_MULTI, 20);
	answer(f);
	add_number(f, NLM_F_MULTI, 300);
	add_code(f, NLMSG_DONE, 0);
	answer(f);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->sum, 321);
}

static void test_a_lone_message_is_a_whole_answer(void **state)
{
	struct fixture *f = *state;

	add_number(f, 0, 5);
	answer(f);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->sum, 5);
}

static void test_what_the_kernel_refuses_is_told(void **state)
{
	struct fixture *f = *state;

	add_code(f, NLMSG_ERROR, -EOPNOTSUPP);
	answer(f);
	assert_int_equal(ask(f), -EOPNOTSUPP);
	add_number(f, NLM_F_MULTI, 1);
	add_code(f, NLMSG_DONE, -EINVAL);
	answer(f);
	assert_int_equal(ask(f), -EINVAL);
	add_number(f, NLM_F_MULTI | NLM_F_DUMP_INTR, 1);
	add_code(f, NLMSG_DONE, 0);
	answer(f);
	assert_int_equal(ask(f), -EAGAIN);
	assert_int_equal(ask(f), -ETIMEDOUT);
}

static void test_answers_to_older_questions_are_not_taken(void **state)
{
	struct fixture *f = *state;

	f->n.sequence = 7;
	add_number(f, NLM_F_MULTI, 1000);
	answer(f);
	f->n.sequence = 8;
	add_number(f, 0, 2);
	answer(f);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->sum, 2);
}

static void test_lengths_that_lie_are_no_answer(void **state)
{
	static const int extra[] = {-16, -9, -8, 1, 8, 100000, INT32_MAX - 32};
	struct fixture *f = *state;
	uint32_t attr[2] = {(NLA_HDRLEN + 4) | ATTR << 16, 1};

	for (size_t i = 0; i < sizeof(extra) / sizeof(extra[0]); i++) {
		add(f, TYPE, 0, attr, sizeof(attr), extra[i]);
		answer(f);
		assert_int_equal(ask(f), -EBADMSG);
	}
	/* An attribute that says it is longer, or shorter than its head, than it is. */
	for (uint32_t len = 0; len < 70000; len += len < 16 ? 1 : 9999) {
		attr[0] = (len & 0xffff) | ATTR << 16;
		add(f, TYPE, 0, attr, sizeof(attr), 0);
		answer(f);
		assert_int_equal(ask(f), len == NLA_HDRLEN + 4 ? 0 : -EBADMSG);
	}
	add(f, NLMSG_ERROR, 0, "ab", 2, 0);
	answer(f);
	assert_int_equal(ask(f), -EBADMSG);
	add_code(f, NLMSG_ERROR, 5);
	answer(f);
	assert_int_equal(ask(f), -EBADMSG);
	add_code(f, NLMSG_ERROR, INT32_MIN);
	answer(f);
	assert_int_equal(ask(f), -EBADMSG);
	assert_int_equal(send(f->kernel, "short", 5, 0), 5);
	assert_int_equal(ask(f), -EBADMSG);
}

static void test_texts_are_printable_or_none(void **state)
{
	char text[8];
	struct netlink_attr attr = {.len = 4, .data = "abc"};

	(void)state;
	assert_true(netlink_text(&attr, text, sizeof(text)));
	assert_string_equal(text, "abc");
	assert_true(netlink_text(&attr, text, 4));
	assert_false(netlink_text(&attr, text, 3));
	attr = (struct netlink_attr){.len = 3, .data = "abcdef"};
	assert_true(netlink_text(&attr, text, sizeof(text)));
	assert_string_equal(text, "abc");
	attr = (struct netlink_attr){.len = 3, .data = "a\nc"};
	assert_false(netlink_text(&attr, text, sizeof(text)));
	attr = (struct netlink_attr){.len = 0, .data = ""};
	assert_false(netlink_text(&attr, text, sizeof(text)));
}

static int count(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	unsigned *n = arg;

	(void)payload;
	(void)len;
	*n += type == RTM_NEWLINK;
	return 0;
}

static void test_the_kernel_itself_answers(void **state)
{
	struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
	struct netlink_request q;
	struct netlink n;
	unsigned links = 0;

	(void)state;
	assert_int_equal(netlink_open(&n, NETLINK_ROUTE, 0), 0);
	netlink_begin(&q, RTM_GETLINK, NLM_F_DUMP, &all, sizeof(all));
	assert_int_equal(netlink_ask(&n, &q, count, &links), 0);
	assert_true(links >= 1); /* lo */
	netlink_begin(&q, RTM_GETLINK, 0, &all, sizeof(all));
	netlink_put_text(&q, IFLA_IFNAME, "no-such-netdev");
	assert_int_equal(netlink_ask(&n, &q, count, &links), -ENODEV);
	netlink_close(&n);
}

struct told {
	unsigned n, lost;
	char last[16];
};

static void tell(void *arg, const char *netdev)
{
	struct told *t = arg;

	if (netdev) {
		t->n++;
		snprintf(t->last, sizeof(t->last), "%s", netdev);
	} else {
		t->lost++;
	}
}

static void test_links_that_change_are_told_by_name(void **state)
{
	struct fixture *f = *state;
	struct link_watch w = {.netlink = f->n};
	struct {
		struct ifinfomsg info;
		struct nlattr attr;
		char name[8];
	} link = {.attr = {.nla_len = NLA_HDRLEN + 5, .nla_type = IFLA_IFNAME}, .name = "eth1"};
	struct told t = {0};

	add(f, RTM_NEWLINK, 0, &link, sizeof(link), 0);
	add(f, RTM_NEWADDR, 0, &link, sizeof(link), 0);
	add(f, RTM_DELLINK, 0, &link, sizeof(link), 0);
	answer(f);
	add(f, RTM_NEWLINK, 0, &link, 3, 0);
	answer(f);
	link_watch_read(&w, tell, &t);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.last, "eth1");
	assert_int_equal(t.lost, 0);
	link_watch_read(&w, tell, &t);
	assert_int_equal(t.n, 2);
	shutdown(f->kernel, SHUT_RDWR);
	link_watch_read(&w, tell, &t);
}

#define NETLINK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NETLINK_TEST(test_parts_of_an_answer_are_taken_together),
		NETLINK_TEST(test_a_lone_message_is_a_whole_answer),
		NETLINK_TEST(test_what_the_kernel_refuses_is_told),
		NETLINK_TEST(test_answers_to_older_questions_are_not_taken),
		NETLINK_TEST(test_lengths_that_lie_are_no_answer),
		cmocka_unit_test(test_texts_are_printable_or_none),
		cmocka_unit_test(test_the_kernel_itself_answers),
		NETLINK_TEST(test_links_that_change_are_told_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
