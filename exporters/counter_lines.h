/* The lines of the drivers' counters, known but for their values: families, labels, order. Which
 * they are follows from the counters that there are, so they are found when a device, a port or a
 * counter comes or goes, and kept over renderings otherwise. */
#pragma once
#include "exporters/exposition.h"
#include "health/snapshot.h"

enum counter_told {
	TOLD_AS_IT_IS,
	TOLD_WORDS,	   /* of 4 bytes, as bytes */
	TOLD_MICROSECONDS, /* as seconds */
	TOLD_SATURATED,	   /* 1, and only while the counter is */
};

struct counter_line;

struct counter_lines {		      /* zeroed: none yet */
	struct strbuf shape, scratch; /* the counters that they were made for */
	struct strbuf texts;	      /* names, helps and labels */
	struct counter_line *line;
	size_t n, room;
	uint64_t dropped; /* counters that have no line, and should */
	/* while they are made */
	const struct snapshot *snapshot;
	uint32_t family_at;
	enum family_type family_type;
	bool failed;
};

void counter_lines_free(struct counter_lines *l); /* NULL is fine */

/* Whether they are those of the counters of s. If not, they are none now: make them for s, family
 * by family, and end with counter_lines_made(). */
bool counter_lines_fit(struct counter_lines *l, const struct snapshot *s);
void counter_lines_family(struct counter_lines *l, const char *name, enum family_type type,
			  const char *help);
/* A line of the family, and then its labels in their order. d and v are of the snapshot. */
void counter_lines_add(struct counter_lines *l, const struct snap_device *d,
		       const struct counter_value *v, enum counter_told told);
void counter_lines_label(struct counter_lines *l, const char *key, const char *value);
/* Labels device and port; port 0: only if `always`, and empty. */
void counter_lines_port(struct counter_lines *l, const char *device, unsigned port, bool always);
bool counter_lines_made(struct counter_lines *l); /* false: no memory, and they are none */

/* Of a snapshot that they fit. */
void counter_lines_put(const struct counter_lines *l, struct exposition *e,
		       const struct snapshot *s);
