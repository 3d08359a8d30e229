#include "daemon/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/names.h"
#include "daemon/helper_proc.h"

struct question {
	uint64_t id; /* 0: free */
	uint64_t asked_ns;
	char name[PEER_LOOKUP_MAX];
};

struct resolver {
	const struct resolver_events *events;
	void *arg;
	struct question questions[RESOLVER_QUESTIONS];
	uint64_t last_id;
	struct helper_proc *helper;
};

/* --- questions --- */

static void hand_over(struct resolver *r, struct question *q, const struct resolver_answer *a)
{
	char name[PEER_LOOKUP_MAX];

	name_copy(name, sizeof(name), q->name);
	q->id = 0;
	r->events->answer(r->arg, name, a);
}

static void fail_all(struct resolver *r, const char *why)
{
	struct resolver_answer a = {0};

	name_copy(a.error, sizeof(a.error), why);
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (r->questions[i].id)
			hand_over(r, &r->questions[i], &a);
}

static struct question *find_question(struct resolver *r, uint64_t id)
{
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (r->questions[i].id == id)
			return &r->questions[i];
	return NULL;
}

/* --- the helper --- */

static bool on_readable(void *arg)
{
	struct resolver *r = arg;
	struct resolver_answer a;
	struct question *q;
	ssize_t n = recv(helper_proc_fd(r->helper), &a, sizeof(a), MSG_DONTWAIT);

	if (n > 0 && resolver_answer_check(&a, (size_t)n)) {
		q = a.id ? find_question(r, a.id) : NULL;
		if (q)
			hand_over(r, q, &a);
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void on_ended(void *arg, const siginfo_t *info)
{
	struct resolver *r = arg;
	char text[128];

	snprintf(text, sizeof(text), "the helper that looks up names ended (%s %d)",
		 info->si_code == CLD_EXITED ? "exit" : "signal", info->si_status);
	r->events->trouble(r->arg, text);
	fail_all(r, "the helper that looks up names ended");
}

static const struct helper_events helper_events = {.readable = on_readable, .ended = on_ended};

/* --- interface --- */

struct resolver *resolver_new(struct loop *loop, const struct resolver_events *events, void *arg)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->events = events;
	r->arg = arg;
	r->helper = helper_proc_new(loop, "--resolver", &helper_events, r);
	if (r->helper)
		return r;
	free(r);
	return NULL;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	helper_proc_free(r->helper);
	free(r);
}

bool resolver_ready(const struct resolver *r, uint64_t now_ns)
{
	if (helper_proc_fd(r->helper) < 0 && !helper_proc_may_start(r->helper, now_ns))
		return false;
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++)
		if (!r->questions[i].id)
			return true;
	return false;
}

void resolver_ask(struct resolver *r, const char *name, uint64_t now_ns)
{
	struct question *q = find_question(r, 0);
	struct resolver_question packet = {0};
	int err = 0;

	*q = (struct question){.id = ++r->last_id, .asked_ns = now_ns};
	name_copy(q->name, sizeof(q->name), name);
	packet.id = q->id;
	name_copy(packet.name, sizeof(packet.name), name);
	if (helper_proc_fd(r->helper) < 0)
		err = helper_proc_start(r->helper, now_ns);
	/* A helper that is gone is told by its end. */
	if (err == 0)
		send(helper_proc_fd(r->helper), &packet, sizeof(packet),
		     MSG_DONTWAIT | MSG_NOSIGNAL);
	if (err == 0)
		return;
	r->events->trouble(r->arg, "the helper that looks up names cannot be started");
	fail_all(r, strerror(-err));
}

void resolver_tick(struct resolver *r, uint64_t now_ns, bool paused)
{
	for (size_t i = 0; i < RESOLVER_QUESTIONS; i++) {
		struct question *q = &r->questions[i];

		if (q->id && paused)
			q->asked_ns = now_ns;
		if (!q->id || now_ns - q->asked_ns < RESOLVER_PATIENCE_NS)
			continue;
		/* The others that it holds fail with it, and are asked again soon. */
		helper_proc_kill(r->helper);
		return;
	}
}

void resolver_rest(struct resolver *r)
{
	if (helper_proc_fd(r->helper) < 0)
		return;
	helper_proc_end(r->helper);
	memset(r->questions, 0, sizeof(r->questions));
}
