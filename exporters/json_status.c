#include "exporters/json_status.h"

#include "exporters/jsonw.h"
#include "exporters/json_list.h"

static void put_up_total(struct jsonw *j, const char *key, uint64_t up, uint64_t total)
{
	jsonw_key(j, key);
	jsonw_open_object(j);
	jsonw_put_u64(j, "up", up);
	jsonw_put_u64(j, "total", total);
	jsonw_close_object(j);
}

static uint64_t sessions_up(const struct snapshot *s)
{
	uint64_t up = 0;

	for (size_t i = 0; i < s->n_sessions; i++)
		up += s->sessions[i].state == SESSION_UP;
	return up;
}

static uint64_t rails_up(const struct snapshot *s)
{
	uint64_t up = 0;

	for (size_t i = 0; i < s->n_rails; i++)
		up += s->rails[i].up;
	return up;
}

static void put_verdict(struct jsonw *j, const struct snapshot *s)
{
	jsonw_put_string(j, "verdict", verdict_name(s->verdict));
	jsonw_put_string(j, "cause", cause_name(s->cause));
	jsonw_put_string(j, "reason", s->reason);
}

/* Spelled out, so that two hosts can be compared line by line. */
static void put_fabric(struct jsonw *j, const struct snapshot *s)
{
	jsonw_key(j, "fabric");
	jsonw_open_object(j);
	jsonw_put_known_string(j, "fingerprint", s->fabric.fingerprint);
	jsonw_key(j, "parts");
	jsonw_open_object(j);
	for (size_t i = 0; i < s->fabric.n_parts; i++)
		jsonw_put_string(j, s->fabric.parts[i].name, s->fabric.parts[i].value);
	jsonw_close_object(j);
	jsonw_close_object(j);
}

void json_status_render(struct strbuf *out, const struct snapshot *s, uint64_t now_ns)
{
	struct jsonw j = {.out = out};
	uint64_t uptime_ns = now_ns > s->start_mono_ns ? now_ns - s->start_mono_ns : 0;

	jsonw_open_object(&j);
	json_put_envelope(&j, s, json_snapshot_age(s, now_ns));
	jsonw_put_string(&j, "host", s->host);
	jsonw_put_string(&j, "version", s->version);
	jsonw_put_seconds(&j, "uptime_seconds", uptime_ns);
	put_verdict(&j, s);
	put_up_total(&j, "sessions", sessions_up(s), s->n_sessions);
	put_up_total(&j, "rails", rails_up(s), s->n_rails);
	put_fabric(&j, s);
	jsonw_close_object(&j);
	strbuf_putc(out, '\n');
}

void json_health_render(struct strbuf *out, const struct snapshot *s, uint64_t now_ns)
{
	struct jsonw j = {.out = out};

	jsonw_open_object(&j);
	json_put_envelope(&j, s, json_snapshot_age(s, now_ns));
	put_verdict(&j, s);
	jsonw_close_object(&j);
	strbuf_putc(out, '\n');
}

void json_error_render(struct strbuf *out, const char *code, const char *message)
{
	struct jsonw j = {.out = out};

	jsonw_open_object(&j);
	jsonw_put_u64(&j, "schema", 1);
	jsonw_key(&j, "error");
	jsonw_open_object(&j);
	jsonw_put_string(&j, "code", code);
	jsonw_put_string(&j, "message", message);
	jsonw_close_object(&j);
	jsonw_close_object(&j);
	strbuf_putc(out, '\n');
}
