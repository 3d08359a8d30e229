#include "support.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/wish.h"

struct pair {
	int fd[2];
};

static int setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	*state = p;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->fd);
}

static int teardown(void **state)
{
	struct pair *p = *state;

	close(p->fd[0]);
	close(p->fd[1]);
	free(p);
	return 0;
}

static struct wish config_wish(void)
{
	struct wish w = {.type = WISH_CONFIG, .config = {.n_classes = 1, .ack_timeout = 17}};

	return w;
}

static struct wish session_wish(uint32_t type)
{
	struct wish w = {.type = type, .session = {.id = 1, .peer = "host2"}};

	w.session.address.in.sin_family = AF_INET;
	return w;
}

static bool checks(const struct wish *w)
{
	return wish_check(w, wish_length(w->type));
}

static void test_every_wish_passes_through_the_socket(void **state)
{
	struct pair *p = *state;
	struct wish wishes[] = {
		config_wish(),
		{.type = WISH_ACCEPT, .accept = {.first = 1, .n = ACCEPT_CHUNK}},
		session_wish(WISH_SESSION_ADD),
		session_wish(WISH_SESSION_REMOVE),
		{.type = WISH_STOP},
	};
	struct wish got;

	for (size_t i = 0; i < COUNT(wishes); i++) {
		assert_int_equal(wish_send(p->fd[0], &wishes[i]), 0);
		assert_int_equal(wish_recv(p->fd[1], &got), 1);
		assert_memory_equal(&got, &wishes[i], wish_length(wishes[i].type));
	}
	assert_int_equal(wish_recv(p->fd[1], &got), 0);
}

static void test_every_fact_passes_through_the_socket(void **state)
{
	struct pair *p = *state;
	struct fact f = {.session_id = 3, .text = "why"}, got;

	for (f.type = FACT_READY; f.type <= FACT_BYE; f.type++) {
		assert_int_equal(fact_send(p->fd[1], &f), 0);
		assert_int_equal(fact_recv(p->fd[0], &got), 1);
		assert_memory_equal(&got, &f, sizeof(f));
	}
	assert_int_equal(fact_recv(p->fd[0], &got), 0);
}

static void test_unknown_types_are_not_sent(void **state)
{
	struct pair *p = *state;
	struct wish w = {.type = 99};
	struct fact f = {.type = 0};

	assert_int_equal(wish_send(p->fd[0], &w), -EINVAL);
	assert_int_equal(fact_send(p->fd[0], &f), -EINVAL);
	assert_int_equal(wish_length(0), 0);
	assert_int_equal(fact_length(FACT_BYE + 1), 0);
}

static void test_full_queue_says_eagain_and_blocks_nobody(void **state)
{
	struct pair *p = *state;
	struct wish w = {.type = WISH_STOP};
	int r = 0;

	for (int i = 0; i < 100000 && r == 0; i++)
		r = wish_send(p->fd[0], &w);
	assert_int_equal(r, -EAGAIN);
}

static void test_end_of_the_other_side_is_an_error_and_no_signal(void **state)
{
	struct pair *p = *state;
	struct wish w = {.type = WISH_STOP};

	close(p->fd[1]);
	p->fd[1] = dup(p->fd[0]);
	assert_int_equal(wish_recv(p->fd[0], &w), -ECONNRESET);
	w.type = WISH_STOP;
	assert_int_equal(wish_send(p->fd[0], &w), -EPIPE);
}

static void test_packets_of_a_wrong_length_are_refused(void **state)
{
	struct pair *p = *state;
	char bytes[sizeof(struct wish) + sizeof(struct fact)] = {0};
	struct wish w = config_wish(), got;
	struct fact f;

	memcpy(bytes, &w, sizeof(w));
	assert_int_equal(send(p->fd[0], bytes, 1, 0), 1);
	assert_int_equal(wish_recv(p->fd[1], &got), -EBADMSG);
	assert_int_equal(send(p->fd[0], bytes, wish_length(WISH_CONFIG) - 1, 0),
			 wish_length(WISH_CONFIG) - 1);
	assert_int_equal(wish_recv(p->fd[1], &got), -EBADMSG);
	assert_int_equal(send(p->fd[0], bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(wish_recv(p->fd[1], &got), -EBADMSG);
	bytes[0] = FACT_READY;
	assert_int_equal(send(p->fd[0], bytes, sizeof(f) - 8, 0), sizeof(f) - 8);
	assert_int_equal(fact_recv(p->fd[1], &f), -EBADMSG);
	assert_int_equal(send(p->fd[0], bytes, 3, 0), 3);
	assert_int_equal(fact_recv(p->fd[1], &f), -EBADMSG);
}

static void test_configs_out_of_bounds_are_refused(void **state)
{
	struct wish w = config_wish();

	(void)state;
	assert_true(checks(&w));
	w.config.n_classes = 0;
	assert_false(checks(&w));
	w.config.n_classes = CLASS_MAX + 1;
	assert_false(checks(&w));
	w = config_wish();
	w.config.n_rails = RAIL_MAX + 1;
	assert_false(checks(&w));
	w.config.n_rails = 1;
	w.config.rails[0].prefix_len = 129;
	assert_false(checks(&w));
	w.config.rails[0].prefix_len = -1;
	assert_true(checks(&w));
	memset(w.config.rails[0].name, 'x', FACT_NAME);
	assert_false(checks(&w));
	w = config_wish();
	w.config.classes[0].tos = 256;
	assert_false(checks(&w));
	w = config_wish();
	w.config.retry_count = 8;
	assert_false(checks(&w));
	w = config_wish();
	memset(w.config.sysfs_root, '/', sizeof(w.config.sysfs_root));
	assert_false(checks(&w));
}

static void test_sessions_out_of_bounds_are_refused(void **state)
{
	struct wish w = session_wish(WISH_SESSION_ADD);

	(void)state;
	assert_true(checks(&w));
	w.session.address.sa.sa_family = AF_UNIX;
	assert_false(checks(&w));
	w.type = WISH_SESSION_REMOVE;
	assert_true(checks(&w));
	w.session.reason = ABORT_COUNT;
	assert_false(checks(&w));
	w = session_wish(WISH_SESSION_ADD);
	w.session.id = 0;
	assert_false(checks(&w));
	w = session_wish(WISH_SESSION_ADD);
	w.session.rail = RAIL_MAX;
	assert_false(checks(&w));
	w = session_wish(WISH_SESSION_ADD);
	w.session.class_index = CLASS_MAX;
	assert_false(checks(&w));
	w = session_wish(WISH_SESSION_ADD);
	memset(w.session.peer_rail, 'x', FACT_NAME);
	assert_false(checks(&w));
	w = (struct wish){.type = WISH_ACCEPT, .accept.n = ACCEPT_CHUNK + 1};
	assert_false(checks(&w));
}

static void test_facts_out_of_bounds_are_refused(void **state)
{
	struct fact f = {.type = FACT_SESSION, .number = SESSION_UP};

	(void)state;
	assert_true(fact_check(&f, sizeof(f)));
	f.number = SESSION_STATE_COUNT;
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_ASYNC, .number = ASYNC_EVENT_COUNT};
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_DRAIN, .number = DRAIN_COUNT};
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_READY, .rail = RAIL_MAX};
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_DEVICE};
	memset(f.text, 'x', sizeof(f.text));
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_SESSION, .conn.state = SESSION_STATE_COUNT};
	assert_false(fact_check(&f, sizeof(f)));
	f = (struct fact){.type = FACT_RAIL, .rail_fact.gid_type = GID_TYPE_ROCE_V2 + 1};
	assert_false(fact_check(&f, sizeof(f)));
}

#define WISH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WISH_TEST(test_every_wish_passes_through_the_socket),
		WISH_TEST(test_every_fact_passes_through_the_socket),
		WISH_TEST(test_unknown_types_are_not_sent),
		WISH_TEST(test_full_queue_says_eagain_and_blocks_nobody),
		WISH_TEST(test_end_of_the_other_side_is_an_error_and_no_signal),
		WISH_TEST(test_packets_of_a_wrong_length_are_refused),
		cmocka_unit_test(test_configs_out_of_bounds_are_refused),
		cmocka_unit_test(test_sessions_out_of_bounds_are_refused),
		cmocka_unit_test(test_facts_out_of_bounds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
