#include "daemon/peer_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"

void peer_source_free(struct peer_source *s)
{
	peer_list_free(&s->list);
	*s = (struct peer_source){0};
}

struct warning {
	const char *path;
	const struct peer_source_ways *ways;
};

static void on_warning(void *arg, const char *text)
{
	const struct warning *w = arg;
	char line[CONFIG_PATH_MAX + PEER_FILE_ERROR];

	snprintf(line, sizeof(line), "%s: %s", w->path, text);
	w->ways->warn(w->ways->arg, line);
}

static void warn_of_rest(struct warning *w, size_t refused)
{
	char text[PEER_FILE_ERROR];

	if (refused <= PEER_FILE_WARNINGS)
		return;
	snprintf(text, sizeof(text), "%zu more targets are bad", refused - PEER_FILE_WARNINGS);
	on_warning(w, text);
}

/* Lists are written by programs, and a program that lost its source writes a short one. */
static bool shrunk(const struct peer_source *now, const char *path, size_t accepted)
{
	if (!now->has_file || strcmp(now->path, path) != 0 || now->n_targets == 0)
		return false;
	return accepted == 0 ||
	       (now->n_targets >= PEER_SHRINK_MIN && 2 * accepted < now->n_targets);
}

static int parse(struct peer_source *s, const struct config *config, const char *text, size_t len,
		 struct warning *w, char *err, size_t errlen)
{
	struct peer_file_report report = {.warn = on_warning, .arg = w};
	char why[PEER_FILE_ERROR];

	if (peer_file_parse(&s->list, text, len, config->address_template, &report, why,
			    sizeof(why)) < 0) {
		snprintf(err, errlen, "%s: %s", s->path, why);
		return -EINVAL;
	}
	warn_of_rest(w, report.refused);
	s->has_file = true;
	s->file_hash = hash_bytes(text, len);
	s->n_targets = report.accepted;
	s->n_refused = report.refused;
	return 0;
}

static int read_file(struct peer_source *s, const struct config *config, struct warning *w,
		     char *err, size_t errlen)
{
	char why[PEER_FILE_ERROR], *text;
	ssize_t len;
	int r;

	name_copy(s->path, sizeof(s->path), config->peers_file);
	len = w->ways->read ? w->ways->read(w->ways->arg, s->path, &text, why, sizeof(why))
			    : peer_file_read(s->path, &text, why, sizeof(why));
	if (len < 0) {
		snprintf(err, errlen, "%s: %s", s->path, why);
		return (int)len;
	}
	r = parse(s, config, text, (size_t)len, w, err, errlen);
	free(text);
	return r;
}

int peer_source_without_file(struct peer_source *ret, const struct config *config)
{
	struct peer_source s = {0};

	if (peer_list_copy(&s.list, &config->peers) < 0) {
		peer_source_free(&s);
		return -ENOMEM;
	}
	name_copy(s.path, sizeof(s.path), config->peers_file);
	*ret = s;
	return 0;
}

static int check_shrunk(const struct peer_source *s, const struct config *config,
			const struct peer_source *now, char *err, size_t errlen)
{
	if (config->allow_shrink || !shrunk(now, s->path, s->n_targets))
		return 0;
	snprintf(err, errlen,
		 "%s: %zu targets are left of %zu: taken for a broken list and refused; if it is "
		 "meant, set [peers] allow_shrink = yes and reload",
		 s->path, s->n_targets, now->n_targets);
	return -EINVAL;
}

int peer_source_read(struct peer_source *ret, const struct config *config,
		     const struct peer_source *now, const struct peer_source_ways *ways, char *err,
		     size_t errlen)
{
	struct warning w = {.path = config->peers_file, .ways = ways};
	struct peer_source s;
	int r = peer_source_without_file(&s, config);

	if (r < 0) {
		snprintf(err, errlen, "out of memory for the peer list");
		return r;
	}
	if (config->peers_file[0]) {
		r = read_file(&s, config, &w, err, errlen);
		if (r == 0)
			r = check_shrunk(&s, config, now, err, errlen);
	}
	if (r < 0)
		peer_source_free(&s);
	else
		*ret = s;
	return r;
}
