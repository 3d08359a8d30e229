#include "exporters/routes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "exporters/json_devices.h"
#include "exporters/json_events.h"
#include "exporters/json_findings.h"
#include "exporters/json_peers.h"
#include "exporters/json_status.h"
#include "exporters/negotiate.h"
#include "exporters/page.h"
#include "exporters/params.h"

#define ERROR_TEXT 256
#define SNAPSHOT_AGE_MAX_NS (3 * NSEC_PER_SEC)
#define TYPE_JSON "application/json"
#define TYPE_PLAIN "text/plain; charset=utf-8"
#define TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* What a handler works with. */
struct call {
	const struct routes *routes;
	const struct http_request *req;
	struct list_params params;
	struct http_reply *reply;
};

static void free_text(void *arg)
{
	free(arg);
}

static const char no_memory[] =
	"{\"schema\":1,\"error\":{\"code\":\"no_memory\",\"message\":\"out of memory\"}}\n";

/* The buffer's memory becomes the body. */
static void reply_text(struct http_reply *reply, unsigned status, const char *type,
		       struct strbuf *text)
{
	reply->status = status;
	reply->content_type = type;
	if (strbuf_failed(text)) {
		strbuf_free(text);
		reply->status = 500;
		reply->content_type = TYPE_JSON;
		reply->data = no_memory;
		reply->size = sizeof(no_memory) - 1;
		return;
	}
	reply->data = text->data;
	reply->size = text->len;
	reply->done = free_text;
	reply->arg = text->data;
}

static void reply_error(struct http_reply *reply, unsigned status, const char *code,
			const char *message)
{
	struct strbuf text = {0};

	json_error_render(&text, code, message);
	reply_text(reply, status, TYPE_JSON, &text);
}

static void reply_plain(struct http_reply *reply, const char *line)
{
	reply->status = 200;
	reply->content_type = TYPE_PLAIN;
	reply->data = line;
	reply->size = strlen(line);
}

/* The present edition, or an answer that there is none yet. */
static struct edition *get_edition(struct call *c)
{
	struct edition *e = editions_current(c->routes->editions);

	if (!e)
		reply_error(c->reply, 503, "starting", "no snapshot yet: the daemon is starting");
	return e;
}

static void done_edition(void *arg)
{
	edition_unref(arg);
}

static void answer_metrics(struct call *c)
{
	bool open = negotiate_openmetrics(c->req->accept);
	bool gzip = negotiate_gzip(c->req->accept_encoding);
	struct edition *e = get_edition(c);
	int r;

	if (!e)
		return;
	r = edition_metrics(e, open ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT, gzip,
			    &c->reply->data, &c->reply->size);
	if (r < 0) {
		edition_unref(e);
		reply_error(c->reply, 500, "render", strerror(-r));
		return;
	}
	c->reply->status = 200;
	c->reply->content_type = open ? TYPE_OPENMETRICS : TYPE_TEXT;
	c->reply->gzip = gzip;
	c->reply->done = done_edition;
	c->reply->arg = e;
	c->reply->holds = e;
}

/* A list on its way, with the edition whose snapshot it reads. */
struct streamed {
	struct json_list *list;
	struct edition *edition;
};

static ssize_t read_streamed(void *arg, char *buf, size_t max)
{
	struct streamed *s = arg;

	return json_list_read(s->list, buf, max);
}

static void wake_streamed(void *arg, void (*woken)(void *waiter), void *waiter)
{
	struct streamed *s = arg;

	s->list->woken = woken;
	s->list->waiter = waiter;
}

static void done_streamed(void *arg)
{
	struct streamed *s = arg;

	json_list_free(s->list);
	edition_unref(s->edition);
	free(s);
}

static void answer_list(struct call *c, const struct json_list_type *type)
{
	struct edition *e = get_edition(c);
	struct streamed *s;

	if (!e)
		return;
	s = calloc(1, sizeof(*s));
	if (s)
		s->list = json_list_new(type, edition_snapshot(e), c->routes->source, &c->params,
					clock_now_ns());
	if (!s || !s->list) {
		free(s);
		edition_unref(e);
		reply_error(c->reply, 500, "no_memory", "out of memory");
		return;
	}
	s->edition = e;
	c->reply->status = 200;
	c->reply->content_type = TYPE_JSON;
	c->reply->read = read_streamed;
	c->reply->on_wake = wake_streamed;
	c->reply->done = done_streamed;
	c->reply->arg = s;
	c->reply->holds = e;
}

static void answer_peers(struct call *c)
{
	answer_list(c, &json_peers);
}

static void answer_devices(struct call *c)
{
	answer_list(c, &json_devices);
}

static void answer_findings(struct call *c)
{
	answer_list(c, &json_findings);
}

static void answer_events(struct call *c)
{
	answer_list(c, &json_events);
}

static void answer_status(struct call *c)
{
	struct edition *e = get_edition(c);
	struct strbuf text = {0};

	if (!e)
		return;
	json_status_render(&text, edition_snapshot(e), clock_now_ns());
	reply_text(c->reply, 200, TYPE_JSON, &text);
	edition_unref(e);
}

static bool is_bad(const struct call *c, enum verdict verdict)
{
	if (verdict == VERDICT_FAILING)
		return true;
	return c->params.fail_on_degraded && verdict == VERDICT_DEGRADED;
}

static void answer_health(struct call *c)
{
	struct edition *e = get_edition(c);
	struct strbuf text = {0};

	if (!e)
		return;
	json_health_render(&text, edition_snapshot(e), clock_now_ns());
	reply_text(c->reply, is_bad(c, edition_snapshot(e)->verdict) ? 503 : 200, TYPE_JSON, &text);
	edition_unref(e);
}

static void answer_mesh(struct call *c)
{
	reply_error(c->reply, 404, "not_built", "the mesh of all hosts is not built yet");
}

static void answer_healthy(struct call *c)
{
	struct edition *e = get_edition(c);
	uint64_t age_ns;

	if (!e)
		return;
	age_ns = json_snapshot_age(edition_snapshot(e), clock_now_ns());
	edition_unref(e);
	if (age_ns > SNAPSHOT_AGE_MAX_NS)
		reply_error(c->reply, 503, "stale", "the last snapshot is older than 3 s");
	else
		reply_plain(c->reply, "healthy\n");
}

static void answer_ready(struct call *c)
{
	const struct http_source *source = c->routes->source;

	if (source->ready(source->arg))
		reply_plain(c->reply, "ready\n");
	else
		reply_error(c->reply, 503, "starting", "not ready: the daemon is starting");
}

/* A page of another site can make a browser post here, but not without saying where it is from. */
static bool is_foreign(const struct http_request *req)
{
	const char *host;

	if (!req->origin)
		return false;
	host = strstr(req->origin, "://");
	return !host || !req->host || strcmp(host + strlen("://"), req->host) != 0;
}

static void answer_reload(struct call *c)
{
	const struct http_source *source = c->routes->source;
	char message[ERROR_TEXT] = "";
	int r;

	if (!source->allow_reload) {
		reply_error(c->reply, 403, "reload_disabled",
			    "set allow_reload = yes in [http], or use systemctl reload");
		return;
	}
	if (is_foreign(c->req)) {
		reply_error(c->reply, 403, "foreign_origin", "the request comes from another site");
		return;
	}
	r = source->reload(source->arg, message, sizeof(message));
	if (r < 0)
		reply_error(c->reply, 500, "reload_failed", *message ? message : strerror(-r));
	else
		reply_plain(c->reply, "reloaded\n");
}

#define ANY_PARAM UINT32_MAX /* others than ours are ignored, as scrapers add their own */

static const struct route {
	const char *path;
	bool post; /* POST alone; else GET and HEAD */
	unsigned params;
	void (*answer)(struct call *c);
} table[] = {
	{"/metrics", false, ANY_PARAM, answer_metrics},
	{"/-/healthy", false, ANY_PARAM, answer_healthy},
	{"/-/ready", false, ANY_PARAM, answer_ready},
	{"/-/reload", true, ANY_PARAM, answer_reload},
	{"/api/v1/status", false, 0, answer_status},
	{"/api/v1/peers", false, PARAMS_PEERS, answer_peers},
	{"/api/v1/devices", false, 0, answer_devices},
	{"/api/v1/findings", false, 0, answer_findings},
	{"/api/v1/events", false, PARAMS_EVENTS, answer_events},
	{"/api/v1/health", false, PARAM_FAIL_ON, answer_health},
	{"/api/v1/mesh", false, ANY_PARAM, answer_mesh},
};

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	}
	return NULL;
}

static bool method_fits(enum http_method method, bool post)
{
	switch (method) {
	case HTTP_GET:
	case HTTP_HEAD:
		return !post;
	case HTTP_POST:
		return post;
	case HTTP_OTHER:
		return false;
	}
	return false;
}

static void refuse_method(struct http_reply *reply, bool post)
{
	reply_error(reply, 405, "method",
		    post ? "only POST is answered here" : "only GET and HEAD are answered here");
	reply->allow = post ? "POST" : "GET, HEAD";
}

static void answer_page(const struct page_file *file, const struct http_request *req,
			struct http_reply *reply)
{
	if (!method_fits(req->method, false)) {
		refuse_method(reply, false);
		return;
	}
	reply->status = 200;
	reply->content_type = file->content_type;
	reply->is_page = true;
	reply->data = file->data;
	reply->size = file->size;
}

static void answer_route(const struct routes *r, const struct route *route,
			 const struct http_request *req, struct http_reply *reply)
{
	struct call c = {.routes = r, .req = req, .reply = reply};
	char message[ERROR_TEXT];

	if (!method_fits(req->method, route->post)) {
		refuse_method(reply, route->post);
		return;
	}
	if (route->params != ANY_PARAM &&
	    params_parse(req, route->params, &c.params, message, sizeof(message)) < 0) {
		reply_error(reply, 400, "bad_parameter", message);
		return;
	}
	route->answer(&c);
}

void routes_answer(const struct routes *r, const struct http_request *req, struct http_reply *reply)
{
	const struct page_file *file = page_find(req->path);
	const struct route *route = find_route(req->path);

	*reply = (struct http_reply){0};
	if (req->header_size > HTTP_HEADER_MAX)
		reply_error(reply, 431, "header_too_large",
			    "the request line and its header are longer than 16384 bytes");
	else if (file)
		answer_page(file, req, reply);
	else if (route)
		answer_route(r, route, req, reply);
	else
		reply_error(reply, 404, "not_found",
			    "no such path; see / , /metrics and /api/v1/status");
}

bool routes_is_public(const char *path)
{
	return strcmp(path, "/-/healthy") == 0 || strcmp(path, "/-/ready") == 0;
}

void routes_refuse_user(struct http_reply *reply)
{
	*reply = (struct http_reply){0};
	reply_error(reply, 401, "unauthorized", "a user and a password of [http] auth_file");
	reply->challenge = "Basic realm=\"rdma-pingmesh\", charset=\"UTF-8\"";
}

void routes_refuse_for_now(struct http_reply *reply)
{
	*reply = (struct http_reply){0};
	reply_error(reply, 429, "busy", "too many passwords are being checked: try again");
	reply->retry_after = "1";
}
