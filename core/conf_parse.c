#include "core/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ini.h>

#include "core/names.h"

/* A value that was given, to find a second one in the same file. */
struct seen {
	const struct conf_key *key;
	char instance[CONF_MAX_NAME + 1];
	unsigned line;
};

enum section_kind {
	SECTION_NONE, /* before the first one */
	SECTION_KNOWN,
	SECTION_SKIPPED, /* unknown or wrong: said once, its keys are passed over */
};

struct parser {
	const struct conf_key *table;
	size_t n;
	void *target;
	const char *name;
	struct conf_report *report;

	const char *text;
	size_t len, at;
	unsigned line;

	/* inih cuts section names at 49 bytes in silence, so they are read here. */
	enum section_kind kind;
	char section[CONF_MAX_NAME + 1];
	char instance[CONF_MAX_NAME + 1];
	unsigned section_line, section_keys;

	struct seen *seen;
	size_t n_seen, seen_cap;
	bool no_memory;
};

#define remark(p, severity, ...)                                                                   \
	conf_remark((p)->report, severity, (p)->name, (p)->line, __VA_ARGS__)

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* A section without keys sets nothing: most likely its keys were lost. */
static void end_section(struct parser *p)
{
	if (p->kind == SECTION_KNOWN && p->instance[0] && p->section_keys == 0)
		conf_remark(p->report, CONF_ERROR, p->name, p->section_line,
			    "section [%s %s] has no keys: state them or remove it", p->section,
			    p->instance);
}

static bool copy_word(char *dst, const char *from, const char *to)
{
	if (to - from > CONF_MAX_NAME)
		return false;
	memcpy(dst, from, (size_t)(to - from));
	dst[to - from] = '\0';
	return true;
}

/* Split "rail NAME" of a header into section and instance. False: a name is too long. */
static bool split_header(struct parser *p, const char *from, const char *to)
{
	const char *end;

	while (from < to && blank(*from))
		from++;
	while (to > from && blank(to[-1]))
		to--;
	for (end = from; end < to && !blank(*end); end++)
		;
	if (!copy_word(p->section, from, end))
		return false;
	while (end < to && blank(*end))
		end++;
	return copy_word(p->instance, end, to);
}

static enum section_kind classify_section(struct parser *p)
{
	const struct conf_key *key = conf_find_section(p->table, p->n, p->section);

	if (!key) {
		p->report->unknown_keys++;
		remark(p, CONF_WARNING, "unknown section [%s]", p->section);
		return SECTION_SKIPPED;
	}
	if (key->instance && !p->instance[0]) {
		remark(p, CONF_ERROR, "section [%s] needs a name: [%s NAME]", p->section,
		       p->section);
		return SECTION_SKIPPED;
	}
	if (!key->instance && p->instance[0]) {
		remark(p, CONF_ERROR, "section [%s] takes no name, but has '%s'", p->section,
		       p->instance);
		return SECTION_SKIPPED;
	}
	if (key->instance && !rail_name_valid(p->instance)) {
		remark(p, CONF_ERROR,
		       "'%s' is no name: letters, digits and . _ - : %% are (and one /)",
		       p->instance);
		return SECTION_SKIPPED;
	}
	return SECTION_KNOWN;
}

static void take_header(struct parser *p, const char *line, size_t len)
{
	const char *close = memchr(line, ']', len);
	const char *rest = close ? close + 1 : NULL, *end = line + len;

	end_section(p);
	p->section_line = p->line;
	p->section_keys = 0;
	p->kind = SECTION_SKIPPED;
	if (!close) {
		remark(p, CONF_ERROR, "section without ']'");
		return;
	}
	while (rest < end && blank(*rest))
		rest++;
	if (rest < end && *rest != ';' && *rest != '#') {
		remark(p, CONF_ERROR, "text after ']'");
		return;
	}
	if (!split_header(p, line + 1, close)) {
		remark(p, CONF_ERROR, "section name longer than %d bytes", CONF_MAX_NAME);
		return;
	}
	p->kind = classify_section(p);
}

/* Is this "key = ..." with a name that inih will not cut? */
static bool check_assignment(struct parser *p, const char *line, size_t len)
{
	size_t name = 0, at;

	while (name < len && key_char(line[name]))
		name++;
	for (at = name; at < len && blank(line[at]); at++)
		;
	if (name == 0 || at == len || line[at] != '=') {
		remark(p, CONF_ERROR, "not of the form 'key = value'");
		return false;
	}
	if (p->kind == SECTION_NONE) {
		remark(p, CONF_ERROR, "'%.*s' comes before the first [section]",
		       (int)(name < CONF_MAX_NAME ? name : CONF_MAX_NAME), line);
		return false;
	}
	if (name > CONF_MAX_NAME) {
		remark(p, CONF_ERROR, "key longer than %d bytes", CONF_MAX_NAME);
		return false;
	}
	return true;
}

static bool check_characters(struct parser *p, const char *line, size_t len)
{
	if (len > CONF_MAX_LINE) {
		remark(p, CONF_ERROR, "line longer than %d bytes", CONF_MAX_LINE);
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)line[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f) {
			remark(p, CONF_ERROR, "control character 0x%02x", c);
			return false;
		}
	}
	return true;
}

/* Does the line go on to inih? All its pits are closed here. */
static bool check_line(struct parser *p, const char *line, size_t len)
{
	size_t at = 0;

	if (!check_characters(p, line, len))
		return false;
	while (at < len && blank(line[at]))
		at++;
	if (at == len || line[at] == ';' || line[at] == '#')
		return false;
	if (at > 0) {
		remark(p, CONF_ERROR,
		       "indented line: lines are not continued here, start it at the margin");
		return false;
	}
	if (line[0] == '[') {
		take_header(p, line, len);
		return false;
	}
	return check_assignment(p, line, len);
}

/* fgets() for inih. A line that is not for inih becomes an empty one, so that its count of
 * lines stays right. */
static char *read_line(char *buf, int size, void *stream)
{
	struct parser *p = stream;
	const char *line = p->text + p->at, *newline;
	size_t len = p->len - p->at;

	if (len == 0)
		return NULL;
	newline = memchr(line, '\n', len);
	if (newline)
		len = (size_t)(newline - line);
	p->at += newline ? len + 1 : len;
	p->line++;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	buf[0] = '\0';
	if (check_line(p, line, len) && len < (size_t)size) {
		memcpy(buf, line, len);
		buf[len] = '\0';
	}
	return buf;
}

static struct seen *find_seen(struct parser *p, const struct conf_key *key)
{
	for (size_t i = 0; i < p->n_seen; i++) {
		if (p->seen[i].key == key && !strcmp(p->seen[i].instance, p->instance))
			return &p->seen[i];
	}
	return NULL;
}

static bool remember(struct parser *p, const struct conf_key *key)
{
	struct seen *seen = p->seen;

	if (p->n_seen == p->seen_cap) {
		size_t cap = p->seen_cap ? 2 * p->seen_cap : 64;

		seen = reallocarray(seen, cap, sizeof(*seen));
		if (!seen)
			return false;
		p->seen = seen;
		p->seen_cap = cap;
	}
	seen = &p->seen[p->n_seen++];
	seen->key = key;
	seen->line = p->line;
	name_copy(seen->instance, sizeof(seen->instance), p->instance);
	return true;
}

static void take_value(struct parser *p, const struct conf_key *key, const char *value)
{
	const struct seen *before = key->repeatable ? NULL : find_seen(p, key);
	char err[CONF_MAX_ERROR];

	if (before) {
		remark(p, CONF_ERROR, "%s is given twice, first in line %u", key->key,
		       before->line);
		return;
	}
	/* Printed, with its blank before it, it would be a comment. */
	if (value[0] == ';') {
		remark(p, CONF_ERROR,
		       "%s: a value cannot begin with ';'; a comment needs a blank "
		       "before it",
		       key->key);
		return;
	}
	if (conf_apply(key, p->target, p->instance, value, err, sizeof(err)) < 0) {
		remark(p, CONF_ERROR, "%s: %s", key->key, err);
		return;
	}
	if (err[0])
		remark(p, CONF_WARNING, "%s: %s", key->key, err);
	if (!key->repeatable && !remember(p, key))
		p->no_memory = true;
}

/* From inih; its section is ignored, see struct parser. */
static int take_pair(void *user, const char *section, const char *name, const char *value)
{
	struct parser *p = user;
	const struct conf_key *key;

	(void)section;
	p->section_keys++;
	if (p->kind != SECTION_KNOWN)
		return 1;
	key = conf_find(p->table, p->n, p->section, name);
	if (key) {
		take_value(p, key, value);
	} else {
		p->report->unknown_keys++;
		remark(p, CONF_WARNING, "unknown key '%s' in section [%s]", name, p->section);
	}
	return 1;
}

/* The library's behaviour is set by its own globals. */
static void set_up_inih(void)
{
	ini_max_line = CONF_MAX_LINE + 3;
	ini_use_stack = true;
	ini_allow_multiline = false;
	ini_allow_bom = false;
	ini_allow_no_value = false;
	ini_allow_inline_comments = true;
	ini_stop_on_first_error = false;
}

int conf_parse_text(const struct conf_key *table, size_t n, void *target, const char *name,
		    const char *text, size_t len, struct conf_report *report)
{
	static const char bom[3] = {'\xef', '\xbb', '\xbf'};
	unsigned errors = report->errors;
	struct parser p = {
		.table = table,
		.n = n,
		.target = target,
		.name = name,
		.report = report,
		.text = text,
		.len = len,
	};
	int r;

	if (len >= sizeof(bom) && !memcmp(text, bom, sizeof(bom)))
		p.at = sizeof(bom);
	set_up_inih();
	r = ini_parse_stream(read_line, &p, take_pair, &p);
	end_section(&p);
	free(p.seen);
	/* Our own checks speak first; this is for what only inih objects to. */
	if (r > 0 && report->errors == errors)
		conf_remark(report, CONF_ERROR, name, (unsigned)r, "cannot be read as INI");
	if (r < 0 || p.no_memory)
		conf_remark(report, CONF_ERROR, name, 0, "out of memory");
	return report->errors == errors ? 0 : -EINVAL;
}

/* Read a whole file of bounded size into *ret (malloc). 0 or -errno. */
static int read_all(int fd, char **ret, size_t *ret_len)
{
	size_t cap = 4096, len = 0;
	char *data = malloc(cap);

	while (data) {
		ssize_t got = read(fd, data + len, cap - len);
		char *more;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || len + (size_t)got > CONF_MAX_FILE) {
			int r = got < 0 ? -errno : -EFBIG;

			free(data);
			return r;
		}
		if (got == 0) {
			*ret = data;
			*ret_len = len;
			return 0;
		}
		len += (size_t)got;
		if (len < cap)
			continue;
		cap *= 2;
		more = realloc(data, cap);
		if (!more)
			free(data);
		data = more;
	}
	return -ENOMEM;
}

/* 0 or -errno. A pipe or a directory is refused: reading must not block a reload. */
static int read_file(const char *path, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
		r = -EINVAL;
	else
		r = read_all(fd, ret, ret_len);
	close(fd);
	return r;
}

int conf_parse_file(const struct conf_key *table, size_t n, void *target, const char *path,
		    struct conf_report *report)
{
	size_t len = 0;
	char *text = NULL;
	int r = read_file(path, &text, &len);

	if (r == -EFBIG)
		conf_remark(report, CONF_ERROR, path, 0, "larger than %u bytes", CONF_MAX_FILE);
	else if (r == -EINVAL)
		conf_remark(report, CONF_ERROR, path, 0, "not a regular file");
	else if (r < 0)
		conf_remark(report, CONF_ERROR, path, 0, "cannot be read: %s", strerror(-r));
	if (r < 0)
		return r;
	r = conf_parse_text(table, n, target, path, text, len, report);
	free(text);
	return r;
}
