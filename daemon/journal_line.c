#include "daemon/journal_line.h"

#include <ctype.h>
#include <string.h>

#include <jansson.h>

#include "core/names.h"
#include "exporters/jsonw.h"

#define SEQ_BEGIN "{\"seq\":"
#define HEAD_BEGIN "{\"journal\":"

void journal_line_put(struct strbuf *out, const struct journal_event *e)
{
	struct jsonw j = {.out = out};

	jsonw_open_object(&j);
	jsonw_put_u64(&j, "seq", e->seq);
	jsonw_put_u64(&j, "time_ns", e->wall_ns);
	jsonw_put_string(&j, "kind", e->kind);
	jsonw_put_string(&j, "device", e->device);
	jsonw_put_string(&j, "rail", e->rail);
	jsonw_put_string(&j, "peer", e->peer);
	jsonw_put_string(&j, "text", e->text);
	jsonw_close_object(&j);
	strbuf_putc(out, '\n');
}

void journal_line_put_head(struct strbuf *out, const struct journal_head *h, uint64_t wall_ns)
{
	struct jsonw j = {.out = out};

	jsonw_open_object(&j);
	jsonw_put_string(&j, "journal", h->id);
	jsonw_put_string(&j, "boot", h->boot);
	jsonw_put_string(&j, "version", RPM_VERSION);
	jsonw_put_u64(&j, "time_ns", wall_ns);
	jsonw_close_object(&j);
	strbuf_putc(out, '\n');
}

/* The member's text, cut to the room for it; false: there is none. */
static bool take_text(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text)
		name_copy(ret, size, text);
	return text != NULL;
}

static bool take_number(const json_t *object, const char *key, uint64_t *ret)
{
	const json_t *number = json_object_get(object, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(number);
	return true;
}

static json_t *load(const char *line, size_t len)
{
	return len <= JOURNAL_LINE_MAX ? json_loadb(line, len, 0, NULL) : NULL;
}

bool journal_line_parse(const char *line, size_t len, struct journal_event *ret)
{
	json_t *o = load(line, len);
	struct journal_event e = {0};
	bool good = take_number(o, "seq", &e.seq) && take_number(o, "time_ns", &e.wall_ns) &&
		    take_text(o, "kind", e.kind, sizeof(e.kind)) &&
		    take_text(o, "device", e.device, sizeof(e.device)) &&
		    take_text(o, "rail", e.rail, sizeof(e.rail)) &&
		    take_text(o, "peer", e.peer, sizeof(e.peer)) &&
		    take_text(o, "text", e.text, sizeof(e.text));

	json_decref(o);
	if (!good || e.seq == 0 || e.seq > JOURNAL_SEQ_MAX)
		return false;
	*ret = e;
	return true;
}

static bool id_valid(const char *id)
{
	size_t n = strspn(id, "0123456789abcdef");

	return n == JOURNAL_ID - 1 && !id[n];
}

bool journal_line_parse_head(const char *line, size_t len, struct journal_head *ret)
{
	char id[JOURNAL_ID + 1] = "", boot[JOURNAL_BOOT] = "";
	json_t *o = NULL;
	bool good;

	if (len > strlen(HEAD_BEGIN) && !memcmp(line, HEAD_BEGIN, strlen(HEAD_BEGIN)))
		o = load(line, len);
	good = take_text(o, "journal", id, sizeof(id)) && id_valid(id);
	take_text(o, "boot", boot, sizeof(boot));
	json_decref(o);
	if (!good)
		return false;
	name_copy(ret->id, sizeof(ret->id), id);
	name_copy(ret->boot, sizeof(ret->boot), boot);
	return true;
}

uint64_t journal_line_seq(const char *line, size_t len)
{
	size_t at = strlen(SEQ_BEGIN);
	uint64_t seq = 0;

	if (len <= at || memcmp(line, SEQ_BEGIN, at) != 0)
		return 0;
	for (; at < len && isdigit((unsigned char)line[at]) && seq <= JOURNAL_SEQ_MAX; at++)
		seq = seq * 10 + (uint64_t)(line[at] - '0');
	/* Digits may be missing where the line ends. */
	return at < len && line[at] == ',' && seq <= JOURNAL_SEQ_MAX ? seq : 0;
}
