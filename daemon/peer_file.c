#include "daemon/peer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/conf.h"
#include "core/fd.h"
#include "core/names.h"

#define PORT_DIGITS 5
#define TARGET_SHOWN 80

/* --- reading --- */

static int refuse_errno(char *err, size_t errlen, int error)
{
	snprintf(err, errlen, "cannot be read: %s", strerror(error));
	return -error;
}

static ssize_t read_fd(int fd, char **ret, char *err, size_t errlen)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return refuse_errno(err, errlen, errno);
	if (!S_ISREG(st.st_mode)) {
		snprintf(err, errlen, "is no regular file");
		return -EINVAL;
	}
	if (st.st_size > PEER_FILE_MAX) {
		snprintf(err, errlen,
			 "has %lld bytes, more than %u: list other endpoints elsewhere",
			 (long long)st.st_size, PEER_FILE_MAX);
		return -EFBIG;
	}
	/* It may grow or shrink meanwhile; then the next look reads it again. */
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret)
		return refuse_errno(err, errlen, ENOMEM);
	n = fd_read_all(fd, *ret, (size_t)st.st_size);
	if (n >= 0) {
		(*ret)[n] = '\0';
		return n;
	}
	free(*ret);
	*ret = NULL;
	return refuse_errno(err, errlen, (int)-n);
}

ssize_t peer_file_read(const char *path, char **ret, char *err, size_t errlen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	*ret = NULL;
	if (fd < 0)
		return refuse_errno(err, errlen, errno);
	n = read_fd(fd, ret, err, errlen);
	close(fd);
	return n;
}

/* --- one target --- */

struct parsing {
	struct peer_list *list;
	const char *template;
	struct peer_file_report *report;
	size_t entry;	  /* of the file, from 1 */
	const char *from; /* the target at hand; NULL: the entry as a whole */
};

static void tell(struct parsing *p, const char *why)
{
	char text[PEER_FILE_ERROR], shown[TARGET_SHOWN];
	size_t n = 0;

	if (!p->report->warn)
		return;
	/* What is shown must not break a line of the log. */
	for (const char *c = p->from ? p->from : ""; *c && n + 1 < sizeof(shown); c++)
		shown[n++] = *c >= 0x20 && *c < 0x7f ? *c : '?';
	shown[n] = '\0';
	if (p->from)
		snprintf(text, sizeof(text), "entry %zu, target '%s': %s", p->entry, shown, why);
	else
		snprintf(text, sizeof(text), "entry %zu: %s", p->entry, why);
	p->report->warn(p->report->arg, text);
}

static void refuse(struct parsing *p, const char *why)
{
	if (p->report->refused++ < PEER_FILE_WARNINGS)
		tell(p, why);
}

static bool all_digits(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s) && strlen(s) <= PORT_DIGITS;
}

/* "10.0.0.1:9100", "[fd00::1]:9100", "host:9100" without their port, in place; a bare IPv6 address
 * keeps all its colons. False: a bracket too many or too few, or no port after the colon. */
static bool strip_port(char *s)
{
	char *colon;

	if (s[0] == '[') {
		char *end = strchr(s, ']');

		if (!end || (end[1] && (end[1] != ':' || !all_digits(end + 2))))
			return false;
		*end = '\0';
		memmove(s, s + 1, strlen(s));
		return address_is_literal(s) && strchr(s, ':');
	}
	if (address_is_literal(s))
		return true;
	colon = strchr(s, ':');
	if (!colon)
		return true;
	*colon = '\0';
	return all_digits(colon + 1);
}

/* The place of the entry, and its host where no label names it. */
static int place(const struct parsing *p, struct peer_entry *e, const char *where,
		 char lookup[PEER_LOOKUP_MAX], char *err, size_t errlen)
{
	char text[ADDRESS_TEXT];
	const char *template = p->template;

	if (address_is_literal(where)) {
		if (address_parse(where, &e->address, err, errlen) < 0)
			return -EINVAL;
		address_format(&e->address, text);
		if (!e->host[0])
			name_copy(e->host, sizeof(e->host), text);
		return 0;
	}
	if (!e->host[0] && (!name_valid(where) || strpbrk(where, ":%"))) {
		snprintf(err, errlen,
			 "is no address or host name: give an address, as 10.99.0.2 or "
			 "[fd00::2]:9100");
		return -EINVAL;
	}
	/* A name that says more than the host is looked up as it is. */
	if (e->host[0] && strcmp(e->host, where))
		template = "{host}";
	if (peer_lookup_name(template, where, e->rail, lookup, err, errlen) < 0)
		return -EINVAL;
	if (!e->host[0])
		name_copy(e->host, sizeof(e->host), where);
	e->lookup = lookup;
	return 0;
}

static void add_target(struct parsing *p, const struct peer_entry *labels, const json_t *target)
{
	char where[PEER_LOOKUP_MAX], lookup[PEER_LOOKUP_MAX], err[CONF_MAX_ERROR] = "";
	struct peer_entry e = *labels;

	p->from = json_string_value(target);
	if (!p->from) {
		refuse(p, "a target that is no string");
		return;
	}
	if (!name_copy(where, sizeof(where), p->from) || !strip_port(where)) {
		refuse(p, "is no address with or without a port, as 10.99.0.2, 10.99.0.2:9100 or "
			  "[fd00::2]:9100");
		return;
	}
	if (place(p, &e, where, lookup, err, sizeof(err)) < 0 ||
	    peer_list_add(p->list, &e, err, sizeof(err)) < 0) {
		refuse(p, err);
		return;
	}
	p->report->accepted++;
	if (err[0])
		tell(p, err);
}

/* --- one entry --- */

/* False with a message: it is there and can be no name. */
static bool take_label(const json_t *labels, const char *key, bool (*valid)(const char *),
		       char ret[FACT_NAME], char *err, size_t errlen)
{
	const json_t *value = json_object_get(labels, key);
	const char *text = json_string_value(value);

	if (!value || (text && !*text))
		return true;
	if (text && valid(text) && name_copy(ret, FACT_NAME, text))
		return true;
	snprintf(err, errlen, "its label %s is no name: at most %d letters, digits and . _ - : %%",
		 key, NAME_MAX_LEN);
	return false;
}

static bool take_labels(const json_t *labels, struct peer_entry *ret, char *err, size_t errlen)
{
	if (labels && !json_is_object(labels)) {
		snprintf(err, errlen, "its labels are no object of strings");
		return false;
	}
	return take_label(labels, "host", name_valid, ret->host, err, errlen) &&
	       take_label(labels, "rail", rail_name_valid, ret->rail, err, errlen) &&
	       take_label(labels, "rack", name_valid, ret->rack, err, errlen) &&
	       take_label(labels, "pod", name_valid, ret->pod, err, errlen);
}

static void add_entry(struct parsing *p, const json_t *entry)
{
	const json_t *targets = json_object_get(entry, "targets");
	struct peer_entry labels = {0};
	char err[CONF_MAX_ERROR];
	const json_t *target;
	size_t i;

	p->from = NULL;
	if (!json_is_object(entry) || !json_is_array(targets)) {
		refuse(p, "is no object with a list of targets");
		return;
	}
	if (!take_labels(json_object_get(entry, "labels"), &labels, err, sizeof(err))) {
		refuse(p, err);
		/* Each of them is missing then. */
		if (json_array_size(targets) > 1)
			p->report->refused += json_array_size(targets) - 1;
		return;
	}
	json_array_foreach(targets, i, target) add_target(p, &labels, target);
}

int peer_file_parse(struct peer_list *list, const char *text, size_t len, const char *template,
		    struct peer_file_report *report, char *err, size_t errlen)
{
	struct parsing p = {.list = list, .template = template, .report = report};
	json_error_t error;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error), *entry;
	size_t i;

	if (!root) {
		snprintf(err, errlen, "line %d: is no JSON: %.100s", error.line, error.text);
		return -EINVAL;
	}
	if (!json_is_array(root)) {
		snprintf(err, errlen,
			 "is no list: write [{\"targets\": [\"10.99.0.2\"], \"labels\": "
			 "{\"host\": \"host2\"}}]");
		json_decref(root);
		return -EINVAL;
	}
	json_array_foreach(root, i, entry)
	{
		p.entry = i + 1;
		add_entry(&p, entry);
	}
	json_decref(root);
	return 0;
}
