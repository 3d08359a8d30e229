#include "daemon/commander.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/conf.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/control_socket.h"
#include "daemon/daemon.h"
#include "daemon/looker.h"
#include "daemon/reload.h"
#include "exporters/jsonw.h"

#define ANSWER_MAX ((size_t)48 * 1024) /* a packet has to fit into the socket's buffer */

#define STEADY_NS (500 * NSEC_PER_MSEC)

enum order_kind { ORDER_RELEASE, ORDER_ACQUIRE };

/* Begun, and not answered yet. */
struct order {
	struct control_client *client; /* NULL: none */
	enum order_kind kind;
	char device[FACT_NAME];
	uint64_t until_ns;
};

struct commander {
	struct daemon *daemon;
	struct control_socket *socket;
	struct order orders[CONTROL_SOCKET_CLIENTS];
};

/* --- answers --- */

static void put_messages(struct jsonw *j, char *lines)
{
	size_t left_out = 0;
	char more[64], *save;

	jsonw_key(j, "messages");
	jsonw_open_array(j);
	for (char *l = strtok_r(lines, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (j->out->len < ANSWER_MAX)
			jsonw_string(j, l);
		else
			left_out++;
	}
	if (left_out) {
		snprintf(more, sizeof(more), "and %zu more, see the log", left_out);
		jsonw_string(j, more);
	}
	jsonw_close_array(j);
}

/* Takes the lines over. */
static void answer(struct control_client *client, bool ok, struct strbuf *lines)
{
	struct strbuf out = {0};
	struct jsonw j = {.out = &out};

	jsonw_open_object(&j);
	jsonw_put_u64(&j, "schema", 1);
	jsonw_key(&j, "ok");
	jsonw_bool(&j, ok);
	if (lines->data)
		put_messages(&j, lines->data);
	jsonw_close_object(&j);
	strbuf_putc(&out, '\n');
	control_client_answer(client, out.data, strbuf_failed(&out) ? 0 : out.len);
	strbuf_free(&out);
	strbuf_free(lines);
}

__attribute__((format(printf, 3, 4))) static void answer_line(struct control_client *client,
							      bool ok, const char *fmt, ...)
{
	struct strbuf lines = {0};
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_puts(&lines, text);
	answer(client, ok, &lines);
}

/* --- reload --- */

static void do_reload(struct commander *c, struct control_client *client)
{
	char err[CONF_MAX_ERROR + 512];
	struct strbuf lines = {0};
	int r = reload(c->daemon, &lines, err, sizeof(err));

	/* What is no remark on a line, as a file that is not there. */
	if (r < 0 && !(lines.data && strstr(lines.data, err)))
		strbuf_printf(&lines, "%s\n", err);
	strbuf_puts(&lines, r < 0 ? "refused: the old configuration stays in force"
				  : "configuration reloaded");
	answer(client, r == 0, &lines);
}

/* --- release and acquire --- */

static void answer_released(const struct order *o, const struct device *dev)
{
	if (!dev || dev->state == WORKER_RELEASED)
		answer_line(o->client, true,
			    "%s is released: nothing of it is open here until 'rdma-pingmesh "
			    "acquire %s' or a restart of the service",
			    o->device, o->device);
	else if (!dev->released)
		answer_line(o->client, false, "%s was taken back meanwhile", o->device);
	else
		answer_line(o->client, false,
			    "%s is not free yet: its worker, process %d, was killed and is held in "
			    "the kernel, by the device or its driver; it is released when that "
			    "process has ended",
			    o->device, dev->proc ? (int)worker_proc_pid(dev->proc) : 0);
}

static void answer_acquired(const struct order *o, const struct device *dev)
{
	const char *trouble = dev ? device_trouble(dev) : "";

	if (!dev || (!dev->present && !dev->proc))
		answer_line(o->client, true,
			    "%s is not on this host now: it is taken when it comes", o->device);
	else if (dev->released)
		answer_line(o->client, false, "%s was released again meanwhile", o->device);
	else if (dev->state == WORKER_UP && !dev->stopping)
		answer_line(o->client, true, "%s is in use%s%s", o->device,
			    trouble[0] ? ", but is not probed: " : "", trouble);
	else if (dev->state == WORKER_BACKOFF)
		answer_line(o->client, false,
			    "%s is taken, but its worker ended and is started again%s%s; see the "
			    "log",
			    o->device, trouble[0] ? ": " : "", trouble);
	else if (dev->excluded && !dev->proc)
		answer_line(o->client, false,
			    "%s is excluded by the configuration ([counters] exclude)", o->device);
	else
		answer_line(o->client, false, "%s is taken, but its worker is not up yet: %s",
			    o->device, worker_state_name(dev->state));
}

/* A worker that ends as soon as it is up is none. */
static bool is_up(const struct device *dev, uint64_t now_ns)
{
	return dev->state == WORKER_UP && !dev->stopping && now_ns - dev->since_ns >= STEADY_NS;
}

static bool is_settled(const struct order *o, const struct device *dev, uint64_t now_ns)
{
	if (!dev)
		return true;
	switch (o->kind) {
	case ORDER_RELEASE:
		return dev->state == WORKER_RELEASED || !dev->released;
	case ORDER_ACQUIRE:
		return dev->released || is_up(dev, now_ns) || dev->state == WORKER_BACKOFF ||
		       dev->state == WORKER_EXITED;
	}
	return true;
}

static void check_order(struct order *o, const struct device *dev, uint64_t now_ns,
			struct looker *looker)
{
	struct order settled = *o;

	if (now_ns < o->until_ns && !is_settled(o, dev, now_ns))
		return;
	o->client = NULL;
	/* Who asks next sees it so. */
	looker_look(looker);
	switch (settled.kind) {
	case ORDER_RELEASE:
		answer_released(&settled, dev);
		return;
	case ORDER_ACQUIRE:
		answer_acquired(&settled, dev);
		return;
	}
}

void commander_check(struct commander *c, uint64_t now_ns)
{
	for (size_t i = 0; c && i < CONTROL_SOCKET_CLIENTS; i++) {
		struct order *o = &c->orders[i];

		if (o->client)
			check_order(o, supervisor_find(c->daemon->supervisor, o->device), now_ns,
				    c->daemon->looker);
	}
}

static void answer_unknown(struct commander *c, struct control_client *client, const char *name)
{
	struct strbuf lines = {0};

	strbuf_printf(&lines, "no RDMA device '%.63s' is known here;", name);
	for (size_t i = 0; i < supervisor_count(c->daemon->supervisor); i++)
		strbuf_printf(&lines, " %s", supervisor_get(c->daemon->supervisor, i)->name);
	if (supervisor_count(c->daemon->supervisor) == 0)
		strbuf_puts(&lines, " there is none");
	answer(client, false, &lines);
}

static void do_device(struct commander *c, struct control_client *client, enum order_kind kind,
		      const char *name)
{
	struct device *dev = supervisor_find(c->daemon->supervisor, name);
	uint64_t now_ns = clock_now_ns();
	const char *what = kind == ORDER_RELEASE ? "release" : "acquire";
	struct order *o = c->orders;

	if (!dev) {
		answer_unknown(c, client, name);
		return;
	}
	log_info("%s: %s, asked for by uid %u", dev->name, what,
		 (unsigned)control_client_uid(client));
	journal_add(c->daemon->journal, clock_wall_ns(), "worker", dev->name, NULL, NULL,
		    "%s asked for by uid %u", what, (unsigned)control_client_uid(client));
	while (o->client) /* as many orders as clients */
		o++;
	o->client = client;
	o->kind = kind;
	name_copy(o->device, sizeof(o->device), dev->name);
	o->until_ns = now_ns + COMMANDER_WAIT_NS;
	if (kind == ORDER_RELEASE)
		device_release(dev, now_ns);
	else
		device_acquire(dev, now_ns);
	commander_check(c, now_ns);
}

/* --- the socket --- */

static void on_request(void *arg, struct control_client *client, const char *text)
{
	struct commander *c = arg;

	if (c->daemon->stopper)
		answer_line(client, false, "the daemon is stopping");
	else if (strcmp(text, "reload") == 0)
		do_reload(c, client);
	else if (strncmp(text, "release ", 8) == 0)
		do_device(c, client, ORDER_RELEASE, text + 8);
	else if (strncmp(text, "acquire ", 8) == 0)
		do_device(c, client, ORDER_ACQUIRE, text + 8);
	else
		answer_line(client, false,
			    "no such command: 'reload', 'release DEVICE', 'acquire DEVICE'");
}

static void on_gone(void *arg, struct control_client *client)
{
	struct commander *c = arg;

	for (size_t i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		if (c->orders[i].client == client)
			c->orders[i].client = NULL;
}

static const struct control_socket_events socket_events = {
	.request = on_request,
	.gone = on_gone,
};

struct commander *commander_new(struct daemon *d, const char *path)
{
	struct commander *c = calloc(1, sizeof(*c));
	int saved;

	if (!c)
		return NULL;
	c->daemon = d;
	c->socket = control_socket_new(d->loop, path, &socket_events, c);
	if (c->socket)
		return c;
	saved = errno;
	free(c);
	errno = saved;
	return NULL;
}

void commander_free(struct commander *c)
{
	if (!c)
		return;
	control_socket_free(c->socket);
	free(c);
}
