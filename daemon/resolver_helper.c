#include "daemon/resolver_helper.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/names.h"

#define STACK_SIZE (256 << 10) /* getaddrinfo() and its modules keep buffers there */

bool resolver_question_check(const struct resolver_question *q, size_t len)
{
	return len == sizeof(*q) && memchr(q->name, '\0', sizeof(q->name)) && q->name[0];
}

static bool family_known(const union address *a)
{
	return a->sa.sa_family == AF_INET || a->sa.sa_family == AF_INET6;
}

bool resolver_answer_check(const struct resolver_answer *a, size_t len)
{
	if (len != sizeof(*a) || a->n > RESOLVER_ADDRESSES ||
	    !memchr(a->error, '\0', sizeof(a->error)))
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!family_known(&a->addresses[i]))
			return false;
	return true;
}

/* --- one name --- */

static bool listed(const struct resolver_answer *a, const union address *address)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (address_equal(&a->addresses[i], address))
			return true;
	return false;
}

static void take(struct resolver_answer *ret, const struct addrinfo *info)
{
	union address a = {0};

	if ((info->ai_family != AF_INET && info->ai_family != AF_INET6) ||
	    info->ai_addrlen > sizeof(a))
		return;
	memcpy(&a, info->ai_addr, info->ai_addrlen);
	if (ret->n == RESOLVER_ADDRESSES || listed(ret, &a))
		return;
	/* Of several, one that nobody can use must not cost the others. */
	if (address_usable(&a, ret->error, sizeof(ret->error)))
		ret->addresses[ret->n++] = a;
}

void resolver_look_up(const char *name, struct resolver_answer *ret)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM}, *list;
	int r = getaddrinfo(name, NULL, &hints, &list);

	ret->n = 0;
	ret->error[0] = '\0';
	if (r != 0) {
		name_copy(ret->error, sizeof(ret->error),
			  r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
		return;
	}
	for (const struct addrinfo *i = list; i; i = i->ai_next)
		take(ret, i);
	freeaddrinfo(list);
	if (ret->n > 0)
		ret->error[0] = '\0';
	else if (!ret->error[0])
		name_copy(ret->error, sizeof(ret->error), "has no IP address");
}

/* --- serving --- */

/* Each packet goes to one of the threads that wait for it. */
static void *serve(void *arg)
{
	int fd = *(const int *)arg;
	struct resolver_question q;
	struct resolver_answer a;

	for (;;) {
		ssize_t n = recv(fd, &q, sizeof(q), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		if (!resolver_question_check(&q, (size_t)n))
			continue;
		memset(&a, 0, sizeof(a));
		a.id = q.id;
		resolver_look_up(q.name, &a);
		send(fd, &a, sizeof(a), MSG_NOSIGNAL);
	}
}

int resolver_helper_main(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "pingmesh-names");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	/* With fewer it works too. */
	for (int i = 1; i < RESOLVER_THREADS; i++)
		if (pthread_create(&thread, &attr, serve, &fd) == 0)
			pthread_detach(thread);
	pthread_attr_destroy(&attr);
	serve(&fd);
	/* The others may be held up by a name server: the end of the process does not wait. */
	_exit(0);
}
