#include "support.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/outbox.h"

struct pair {
	int main, worker;
	struct outbox *outbox;
};

static int open_pair(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	int fds[2], small = 4096;

	assert_non_null(p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	p->main = fds[0];
	p->worker = fds[1];
	p->outbox = outbox_new();
	assert_non_null(p->outbox);
	*state = p;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *p = *state;

	outbox_free(p->outbox);
	close(p->main);
	if (p->worker >= 0)
		close(p->worker);
	free(p);
	return 0;
}

static void add(struct pair *p, uint64_t id)
{
	struct wish w = {.type = WISH_SESSION_ADD};

	w.session.id = id;
	w.session.address.in.sin_family = AF_INET;
	assert_int_equal(outbox_add(p->outbox, &w), 0);
}

static uint64_t receive_all(struct pair *p, uint64_t next)
{
	struct wish w;

	while (wish_recv(p->worker, &w) == 1)
		assert_int_equal(w.session.id, next++);
	return next;
}

static void test_full_socket_keeps_the_rest_in_order_until_the_worker_reads(void **state)
{
	struct pair *p = *state;
	uint64_t next = 1;
	int r;

	for (uint64_t id = 1; id <= 300; id++)
		add(p, id);
	assert_int_equal(outbox_flush(p->outbox, p->main), -EAGAIN);
	assert_false(outbox_empty(p->outbox));
	do {
		next = receive_all(p, next);
		r = outbox_flush(p->outbox, p->main);
	} while (r == -EAGAIN);
	assert_int_equal(r, 0);
	assert_true(outbox_empty(p->outbox));
	assert_int_equal(receive_all(p, next), 301);
}

static void test_worker_that_reads_nothing_ever_fills_it(void **state)
{
	struct pair *p = *state;
	struct wish stop = {.type = WISH_STOP};

	for (unsigned i = 0; i < OUTBOX_MAX; i++)
		assert_int_equal(outbox_add(p->outbox, &stop), 0);
	assert_int_equal(outbox_add(p->outbox, &stop), -ENOBUFS);
}

static void test_unknown_type_is_refused_and_dead_worker_is_an_error(void **state)
{
	struct pair *p = *state;
	struct wish odd = {.type = 99};

	assert_int_equal(outbox_add(p->outbox, &odd), -EINVAL);
	add(p, 1);
	close(p->worker);
	p->worker = -1;
	assert_int_equal(outbox_flush(p->outbox, p->main), -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_full_socket_keeps_the_rest_in_order_until_the_worker_reads, open_pair,
			close_pair),
		cmocka_unit_test_setup_teardown(test_worker_that_reads_nothing_ever_fills_it,
						open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			test_unknown_type_is_refused_and_dead_worker_is_an_error, open_pair,
			close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
