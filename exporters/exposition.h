/* Writer of the Prometheus text format 0.0.4 and of OpenMetrics 1.0: one family after the other,
 * its samples together, HELP and TYPE once and only when it has a sample.
 *
 *	exposition_family(e, "rdma_probe_ok", FAMILY_COUNTER, "Probes that succeeded.");
 *	exposition_sample(e, "");
 *	exposition_label(e, "op", "send");
 *	exposition_u64(e, 12);
 *
 * A counter's family is named without `_total`; the writer adds it where each format wants it.
 * Nothing is allocated but the output buffer. There is no way to write NaN or infinity. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/strbuf.h"

#define FAMILY_NAME_MAX 127

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS };
#define EXPOSITION_FORMATS 2
enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_SUMMARY, FAMILY_HISTOGRAM };

struct exposition {
	struct strbuf *out;
	enum exposition_format format;
	uint64_t max_series; /* 0: no bound */
	uint64_t series;     /* admitted so far */
	uint64_t dropped;    /* not admitted */
	/* of the present family */
	char name[FAMILY_NAME_MAX + 1];
	const char *help;
	enum family_type type;
	bool announced;
	bool has_labels; /* of the present sample */
};

void exposition_begin(struct exposition *e, struct strbuf *out, enum exposition_format format,
		      uint64_t max_series);
/* help must stay valid until the next family; plain text without quotes and backslashes. */
void exposition_family(struct exposition *e, const char *name, enum family_type type,
		       const char *help);
/* May n more series be written? Asked once per sample or group that belongs together (a whole
 * histogram). false: they are left out and counted. */
bool exposition_admit(struct exposition *e, uint64_t n);

/* A sample: its suffix ("", "_sum", "_bucket"; a counter's "_total" comes by itself), labels in
 * order, then one value, which ends the line. */
void exposition_sample(struct exposition *e, const char *suffix);
void exposition_label(struct exposition *e, const char *key, const char *value);
void exposition_label_u64(struct exposition *e, const char *key, uint64_t value);
/* Labels rendered before by exposition_render_label(): key="value",key="value". */
void exposition_labels(struct exposition *e, const char *rendered, size_t len);
void exposition_u64(struct exposition *e, uint64_t value);
void exposition_seconds(struct exposition *e, uint64_t ns);

/* Append key="value" to a block for exposition_labels(), with the comma between two. */
void exposition_render_label(struct strbuf *block, size_t block_start, const char *key,
			     const char *value);
/* The end: "# EOF" where the format asks for it. */
void exposition_end(struct exposition *e);
