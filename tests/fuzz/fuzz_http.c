/* A request as the HTTP library hands it over: method, path, parameters and headers, one a line,
 * answered from a made-up host with hostile names. */
#include <stdlib.h>
#include <string.h>

#include "exporters/edition.h"
#include "exporters/negotiate.h"
#include "exporters/params.h"
#include "exporters/routes.h"
#include "fuzz.h"
#include "health/journal.h"
#include "health/snapshot.h"
#include "synthetic.h"

#define BODY_MAX (64 << 20) /* a stream that has no end would never come here */

static struct snapshot *host;
static struct journal *journal;

static struct snapshot *take_snapshot(void *arg)
{
	(void)arg;
	return snapshot_ref(host);
}

static const struct journal *take_journal(void *arg)
{
	(void)arg;
	return journal;
}

static bool ready(void *arg)
{
	(void)arg;
	return true;
}

static int reload(void *arg, char *err, size_t errlen)
{
	(void)arg;
	if (errlen)
		err[0] = '\0';
	return 0;
}

static struct http_source source = {
	.snapshot = take_snapshot, .journal = take_journal, .ready = ready, .reload = reload};
static struct routes routes = {.source = &source};

static void make_host(void)
{
	struct synthetic s = synthetic_default;

	s.hostile = true;
	host = synthetic_snapshot(&s, 1000000000);
	journal = journal_new();
	for (int i = 0; i < 20; i++)
		journal_add(journal, (uint64_t)i, "worker", "mlx5_0", "r\"1", "p\n", "\x80 %d", i);
	routes.editions = editions_new(&source);
	must_hold(host && journal && routes.editions);
}

/* The next line of text, cut off; NULL: there is none. */
static char *line(char **text)
{
	char *begin = *text, *end;

	if (!begin)
		return NULL;
	end = strchr(begin, '\n');
	if (end)
		*end++ = '\0';
	*text = end;
	return begin;
}

static void take_params(struct http_request *req, char **text)
{
	char *l;

	while (req->n_params < HTTP_PARAMS_MAX && (l = line(text)) && l[0]) {
		char *value = strchr(l, '=');

		if (value)
			*value++ = '\0';
		req->param[req->n_params++] = (struct http_param){l, value ? value : ""};
	}
}

static void drain(struct http_reply *r)
{
	size_t sum = 0;
	char buf[4096];
	ssize_t n;

	must_hold(r->status >= 200 && r->status < 600);
	while (r->read && (n = r->read(r->arg, buf, sizeof(buf))) > 0) {
		sum += (size_t)n;
		must_hold((size_t)n <= sizeof(buf) && sum < BODY_MAX);
	}
	if (r->done)
		r->done(r->arg);
}

static void answer(struct http_request *req)
{
	struct http_reply reply = {0};
	struct list_params params;
	char err[256];

	params_parse(req, ~0u, &params, err, sizeof(err));
	routes_answer(&routes, req, &reply);
	drain(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request req = {0};
	struct session_key key;
	char *text, *rest;

	if (!host)
		make_host();
	if (size < 1)
		return 0;
	text = rest = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	req.method = (enum http_method)(data[0] % 4);
	req.path = line(&rest);
	req.accept = line(&rest);
	req.accept_encoding = line(&rest);
	req.host = line(&rest);
	req.origin = line(&rest);
	take_params(&req, &rest);
	req.header_size = size;
	negotiate_openmetrics(req.accept);
	negotiate_gzip(req.accept_encoding);
	cursor_parse(req.path, &key);
	answer(&req);
	free(text);
	return 0;
}
