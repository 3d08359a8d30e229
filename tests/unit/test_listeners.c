#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "core/loop.h"
#include "exporters/listeners.h"

static struct loop *loop;
static struct listeners *all;
static unsigned clients;
static char err[256];

static void client_comes(void *arg, int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)arg;
	(void)addr;
	(void)len;
	clients++;
	close(fd);
}

static void batch_ends(void *arg, bool fds_left)
{
	(void)arg;
	assert_true(fds_left);
	loop_exit(loop, 0);
}

static int setup(void **state)
{
	(void)state;
	clients = 0;
	loop = loop_new();
	all = listeners_new(loop, client_comes, batch_ends, NULL);
	return all ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	listeners_free(all);
	loop_free(loop);
	return 0;
}

static int listen4(const char *address, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, address, &a.sin_addr);
	return listeners_add(all, (struct sockaddr *)&a, sizeof(a), err, sizeof(err));
}

static int listen6(const char *address, uint16_t port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	inet_pton(AF_INET6, address, &a.sin6_addr);
	return listeners_add(all, (struct sockaddr *)&a, sizeof(a), err, sizeof(err));
}

static int connect4(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(port),
				.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void test_a_client_gets_through(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(listen4("127.0.0.1", 0), 0);
	assert_int_not_equal(listeners_port(all, 0), 0);
	fd = connect4(listeners_port(all, 0));
	assert_true(fd >= 0);
	loop_run(loop);
	assert_int_equal(clients, 1);
	close(fd);
}

static void test_any_address_serves_both_families(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(listen6("::", 0), 0);
	fd = connect4(listeners_port(all, 0));
	assert_true(fd >= 0);
	close(fd);
	/* The same port for IPv4 as well, as people write it: served already. */
	assert_int_equal(listen4("0.0.0.0", listeners_port(all, 0)), 0);
	assert_int_equal(listen4("127.0.0.1", listeners_port(all, 0)), 0);
}

static void test_both_families_may_be_given_ipv4_first(void **state)
{
	(void)state;
	assert_int_equal(listen4("0.0.0.0", 0), 0);
	assert_int_equal(listen6("::", listeners_port(all, 0)), 0);
}

static void test_a_port_in_use_is_named_with_what_to_do(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	char port[16];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&a, &len);
	assert_int_equal(listen4("127.0.0.1", ntohs(a.sin_port)), -EADDRINUSE);
	snprintf(port, sizeof(port), ":%u:", ntohs(a.sin_port));
	assert_non_null(strstr(err, "127.0.0.1"));
	assert_non_null(strstr(err, port));
	assert_non_null(strstr(err, "in use"));
	close(fd);
}

static void test_an_address_that_is_not_there_yet_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(listen4("192.0.2.77", 10479), 1);
	assert_non_null(strstr(err, "192.0.2.77:10479"));
	assert_int_equal(listeners_port(all, 0), 0);
}

static void test_a_socket_that_does_not_listen_is_refused(void **state)
{
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(listeners_add_fd(all, pipes[0], err, sizeof(err)), -ENOTSOCK);
	assert_int_equal(close(pipes[0]), -1); /* it was closed for us */
	close(pipes[1]);
	assert_int_equal(listeners_add_fd(all, socket(AF_INET, SOCK_STREAM, 0), err, sizeof(err)),
			 -ENOTSOCK);
}

static void test_a_passed_socket_serves(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int client;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(listeners_add_fd(all, fd, err, sizeof(err)), 0);
	client = connect4(listeners_port(all, 0));
	assert_true(client >= 0);
	loop_run(loop);
	assert_int_equal(clients, 1);
	close(client);
}

static void test_other_families_are_refused(void **state)
{
	struct sockaddr a = {.sa_family = AF_UNIX};

	(void)state;
	assert_int_equal(listeners_add(all, &a, sizeof(a), err, sizeof(err)), -EINVAL);
	a.sa_family = AF_INET6;
	assert_int_equal(listeners_add(all, &a, sizeof(a), err, sizeof(err)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_client_gets_through, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_address_serves_both_families, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_both_families_may_be_given_ipv4_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_port_in_use_is_named_with_what_to_do, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_address_that_is_not_there_yet_is_waited_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_socket_that_does_not_listen_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_passed_socket_serves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_families_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
