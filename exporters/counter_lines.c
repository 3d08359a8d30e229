#include "exporters/counter_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/counter_delta.h"

#define FIRST_ROOM 64
#define NSEC_PER_USEC 1000ULL

struct counter_line {
	uint32_t device, value; /* by index in the snapshot */
	uint32_t family_at;	/* name and help in texts, each with its end */
	uint32_t labels_at;
	uint32_t labels_len;
	uint8_t type; /* enum family_type */
	uint8_t told; /* enum counter_told */
};

void counter_lines_free(struct counter_lines *l)
{
	if (!l)
		return;
	strbuf_free(&l->shape);
	strbuf_free(&l->scratch);
	strbuf_free(&l->texts);
	free(l->line);
	*l = (struct counter_lines){0};
}

/* --- which counters --- */

static void put_text(struct strbuf *to, const char *text)
{
	strbuf_add(to, text, strlen(text) + 1);
}

/* All that names, labels and order come from; unlike a hash it is never that of other counters. */
static void write_shape(struct strbuf *to, const struct snapshot *s)
{
	strbuf_reset(to);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		put_text(to, d->name);
		for (size_t k = 0; k < d->n_values; k++) {
			const struct counter_value *v = &d->values[k];

			/* Not 0: a device without more of them ends by one. */
			strbuf_add(to, (const char[]){(char)(v->source + 1), (char)v->port}, 2);
			put_text(to, v->name);
		}
		strbuf_putc(to, '\0');
	}
}

bool counter_lines_fit(struct counter_lines *l, const struct snapshot *s)
{
	struct strbuf old = l->shape;

	write_shape(&l->scratch, s);
	if (!l->failed && !strbuf_failed(&l->scratch) && old.data && l->scratch.len == old.len &&
	    memcmp(l->scratch.data, old.data, old.len) == 0)
		return true;
	l->shape = l->scratch;
	l->scratch = old;
	l->n = 0;
	l->dropped = 0;
	strbuf_reset(&l->texts);
	l->snapshot = s;
	l->failed = strbuf_failed(&l->shape);
	return false;
}

/* --- making them --- */

void counter_lines_family(struct counter_lines *l, const char *name, enum family_type type,
			  const char *help)
{
	l->family_at = (uint32_t)l->texts.len;
	l->family_type = type;
	put_text(&l->texts, name);
	put_text(&l->texts, help);
}

static bool make_room(struct counter_lines *l)
{
	size_t room = l->room ? 2 * l->room : FIRST_ROOM;
	struct counter_line *more;

	if (l->n < l->room)
		return true;
	more = realloc(l->line, room * sizeof(*more));
	if (!more)
		return false;
	l->line = more;
	l->room = room;
	return true;
}

void counter_lines_add(struct counter_lines *l, const struct snap_device *d,
		       const struct counter_value *v, enum counter_told told)
{
	if (l->failed || !make_room(l)) {
		l->failed = true;
		return;
	}
	l->line[l->n++] = (struct counter_line){
		.device = (uint32_t)(d - l->snapshot->devices),
		.value = (uint32_t)(v - d->values),
		.family_at = l->family_at,
		.labels_at = (uint32_t)l->texts.len,
		.type = (uint8_t)l->family_type,
		.told = (uint8_t)told,
	};
}

void counter_lines_label(struct counter_lines *l, const char *key, const char *value)
{
	struct counter_line *line;

	if (l->failed)
		return;
	line = &l->line[l->n - 1];
	exposition_render_label(&l->texts, line->labels_at, key, value);
	line->labels_len = (uint32_t)l->texts.len - line->labels_at;
}

void counter_lines_port(struct counter_lines *l, const char *device, unsigned port, bool always)
{
	char text[16] = "";

	if (port)
		snprintf(text, sizeof(text), "%u", port);
	counter_lines_label(l, "device", device);
	if (port || always)
		counter_lines_label(l, "port", text);
}

bool counter_lines_made(struct counter_lines *l)
{
	l->snapshot = NULL;
	l->failed |= strbuf_failed(&l->texts);
	if (l->failed)
		l->n = 0;
	return !l->failed;
}

/* --- telling them --- */

static uint64_t nanoseconds(uint64_t us)
{
	return us > UINT64_MAX / NSEC_PER_USEC ? UINT64_MAX : us * NSEC_PER_USEC;
}

static void put_value(struct exposition *e, const struct counter_value *v, enum counter_told told)
{
	switch (told) {
	case TOLD_AS_IT_IS:
		exposition_u64(e, v->value);
		break;
	case TOLD_WORDS:
		exposition_u64(e, counter_bytes(v->value));
		break;
	case TOLD_MICROSECONDS:
		exposition_seconds(e, nanoseconds(v->value));
		break;
	case TOLD_SATURATED:
		exposition_u64(e, 1);
		break;
	}
}

static void begin_family(struct exposition *e, const struct counter_lines *l,
			 const struct counter_line *line)
{
	const char *name = l->texts.data + line->family_at;

	exposition_family(e, name, (enum family_type)line->type, name + strlen(name) + 1);
}

void counter_lines_put(const struct counter_lines *l, struct exposition *e,
		       const struct snapshot *s)
{
	const struct counter_line *last = NULL;

	e->dropped += l->dropped;
	for (size_t i = 0; i < l->n; i++) {
		const struct counter_line *line = &l->line[i];
		const struct counter_value *v = &s->devices[line->device].values[line->value];

		if (line->told == TOLD_SATURATED && !(v->flags & COUNTER_SATURATED))
			continue;
		if (!last || line->family_at != last->family_at)
			begin_family(e, l, line);
		last = line;
		if (!exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_labels(e, l->texts.data + line->labels_at, line->labels_len);
		put_value(e, v, (enum counter_told)line->told);
	}
}
