/* Table-driven configuration: INI by libinih, its pits closed (indented lines are not
 * continuations but errors, long lines and names are errors, its return code is checked).
 * One table describes every key; parsing, --print-config, docs and errors come from it.
 * A parser never logs: it reports through struct conf_report. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/strbuf.h"

#define CONF_MAX_LINE 1023	 /* bytes of one line without its newline */
#define CONF_MAX_NAME 63	 /* bytes of a section's, key's or instance's name */
#define CONF_MAX_FILE (4U << 20) /* bytes of a file */
#define CONF_MAX_ERROR 256	 /* room for the message of a parser, with its NUL */

enum conf_type {
	CONF_STRING,   /* char[size] in the struct; too long is an error */
	CONF_BOOL,     /* bool: yes no true false on off 1 0 */
	CONF_U32,      /* uint32_t within min..max */
	CONF_DURATION, /* uint64_t ns within min..max: "500ms", "1s", "2m", "10us"; a unit is
			  required */
	CONF_INTERVAL, /* as CONF_DURATION, or "off" = 0 */
	CONF_SIZE,     /* uint32_t bytes: "64", "4k", "1M" */
	CONF_LIMIT,    /* as CONF_U32, or "off" = 0; min is at least 1 */
	CONF_CUSTOM,   /* parse() below; may repeat */
};

/* When a changed value takes effect; printed in docs. */
enum conf_effect {
	CONF_RELOAD,
	CONF_REBUILDS_SESSIONS,
	CONF_RESTART,
};

struct conf_key {
	const char *section; /* "probe"; for [rail NAME] it is "rail" with instance = true */
	const char *key;
	enum conf_type type;
	enum conf_effect effect;
	size_t offset, size; /* of the field in the target struct (unless CONF_CUSTOM) */
	/* As written in a file; NULL: no default. Of a repeatable key it only says, in print and
	 * docs, what an empty list means. */
	const char *default_text;
	uint64_t min, max; /* max = 0: as much as the type holds */
	const char *help;  /* one line */
	bool instance;	   /* section takes a name: [rail NAME] */
	bool secret;	   /* never printed */
	bool repeatable; /* CONF_CUSTOM: may come several times; else a second one in the same file
			  * is an error */
	/* Optional, after a value that is not CONF_CUSTOM was stored: 0, or -EINVAL with a message
	 * in err. Not asked about defaults. */
	int (*check)(const void *target, char *err, size_t errlen);
	/* CONF_CUSTOM: parse value (instance is "" unless instance is set); 0, or -EINVAL with a
	 * message in err; 0 with a message is a warning. Print: append "key = value" lines of the
	 * effective value. */
	int (*parse)(void *target, const char *instance, const char *value, char *err,
		     size_t errlen);
	void (*print)(const void *target, const char *instance, struct strbuf *out);
};

enum conf_severity { CONF_WARNING, CONF_ERROR };

/* Called for each remark in order; line is 0 for --set and for whole-file remarks. */
typedef void (*conf_report_fn)(void *arg, enum conf_severity severity, const char *file,
			       unsigned line, const char *message);

struct conf_report {
	conf_report_fn fn;
	void *arg;
	unsigned errors;       /* counted by the parser */
	unsigned unknown_keys; /* unknown sections and keys: warnings */
};

/* Count and pass on one remark. report->fn may be NULL. */
void conf_remark(struct conf_report *report, enum conf_severity severity, const char *file,
		 unsigned line, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The key of a section, NULL when there is none; the first key of a section likewise. */
const struct conf_key *conf_find(const struct conf_key *table, size_t n, const char *section,
				 const char *key);
const struct conf_key *conf_find_section(const struct conf_key *table, size_t n,
					 const char *section);
/* Parse value and store it. 0, with a warning in err or err empty; or -EINVAL with a message. */
int conf_apply(const struct conf_key *key, void *target, const char *instance, const char *value,
	       char *err, size_t errlen);

/* Put the defaults of all keys into target, which the caller has zeroed. */
void conf_defaults(const struct conf_key *table, size_t n, void *target);
/* Parse one file into target. 0, -ENOENT and kin when it cannot be read (reported too),
 * -EINVAL when report->errors rose. */
int conf_parse_file(const struct conf_key *table, size_t n, void *target, const char *path,
		    struct conf_report *report);
/* The same for text in memory; name stands for the file in messages. For fuzzers and tests. */
int conf_parse_text(const struct conf_key *table, size_t n, void *target, const char *name,
		    const char *text, size_t len, struct conf_report *report);
/* --set section.key=value or "rail.NAME.key=value". Unknown is an error here. */
int conf_set(const struct conf_key *table, size_t n, void *target, const char *assignment,
	     struct conf_report *report);
/* Effective configuration as a loadable file. Secrets are left out. instances[]: names of
 * instance sections to print, NULL-terminated array of {section, name} pairs. */
struct conf_instance {
	const char *section, *name;
};
void conf_print(const struct conf_key *table, size_t n, const void *target,
		const struct conf_instance *instances, struct strbuf *out);
/* The line or lines of one key, secret or not: to compare two configurations. */
void conf_print_key(const struct conf_key *key, const void *target, const char *instance,
		    struct strbuf *out);

/* For documents: what a value looks like ("duration (1ms to 1m)", "list"), and conf_effect. */
void conf_describe_type(const struct conf_key *key, struct strbuf *out);
const char *conf_effect_name(enum conf_effect effect);

/* Parsers of single values, for CONF_CUSTOM and other input. 0 or -EINVAL/-ERANGE. */
int conf_parse_duration(const char *s, uint64_t *ret_ns);
int conf_parse_u64(const char *s, uint64_t *ret);
int conf_parse_bool(const char *s, bool *ret);
int conf_parse_size(const char *s, uint64_t *ret_bytes);
/* Shortest exact text: "500ms", "1s", "off" is up to the caller. */
void conf_format_duration(uint64_t ns, char *buf, size_t len);
void conf_format_size(uint64_t bytes, char *buf, size_t len);
