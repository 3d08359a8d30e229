#include "daemon/config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/names.h"
#include "daemon/config_keys.h"

#define DROP_IN_DIR "conf.d"
#define DROP_IN_SUFFIX ".conf"

static int is_drop_in(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), suffix = strlen(DROP_IN_SUFFIX);

	return entry->d_name[0] != '.' && len > suffix &&
	       !strcmp(entry->d_name + len - suffix, DROP_IN_SUFFIX);
}

/* Not alphasort(): the order must not depend on the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void drop_in_dir(const char *path, struct strbuf *out)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		strbuf_add(out, path, (size_t)(slash - path) + 1);
	strbuf_puts(out, DROP_IN_DIR);
}

static void load_drop_in(struct config_loading *l, const char *dir, const char *name,
			 struct conf_report *report)
{
	struct strbuf path = {0};
	const struct conf_key *keys;
	size_t n;

	keys = config_keys(&n);
	strbuf_printf(&path, "%s/%s", dir, name);
	if (strbuf_failed(&path))
		conf_remark(report, CONF_ERROR, name, 0, "out of memory");
	else
		conf_parse_file(keys, n, l, path.data, report);
	strbuf_free(&path);
}

static void load_drop_ins(struct config_loading *l, const char *path, struct conf_report *report)
{
	struct strbuf dir = {0};
	struct dirent **names;
	int n;

	drop_in_dir(path, &dir);
	n = strbuf_failed(&dir) ? -1 : scandir(dir.data, &names, is_drop_in, by_bytes);
	if (n < 0 && errno != ENOENT)
		conf_remark(report, CONF_ERROR, dir.data ? dir.data : path, 0, "cannot be read: %s",
			    strerror(errno));
	for (int i = 0; i < n; i++) {
		load_drop_in(l, dir.data, names[i]->d_name, report);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	strbuf_free(&dir);
}

/* What stands for an empty list. */
static void fill_in(struct config *c)
{
	if (c->n_listen == 0) {
		c->listen[0].in6.sin6_family = AF_INET6;
		c->listen[0].in6.sin6_addr = in6addr_any;
		c->listen[0].in6.sin6_port = htons(CONFIG_HTTP_PORT);
		c->n_listen = 1;
		c->listen_default = true;
	}
	if (c->n_classes == 0) {
		c->classes[0] = (struct class_config){.name = "default", .tos = -1, .sl = -1};
		c->n_classes = 1;
		c->classes_default = true;
	}
}

/* A relative path starts where the configuration is: a service has no other place. */
static void place_file(char file[CONFIG_PATH_MAX], const char *key, const char *path,
		       struct conf_report *report)
{
	const char *slash = strrchr(path, '/');
	char joined[CONFIG_PATH_MAX];
	int n;

	if (!file[0] || file[0] == '/' || !slash)
		return;
	n = snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - path), path, file);
	if (n < (int)sizeof(joined))
		memcpy(file, joined, (size_t)n + 1);
	else
		conf_remark(report, CONF_ERROR, path, 0,
			    "[peers] %s: the path is longer than %zu bytes", key,
			    sizeof(joined) - 1);
}

static void read_secret(struct config *c, const char *path, struct conf_report *report)
{
	char err[CONF_MAX_ERROR];

	if (config_read_secret(c, err, sizeof(err)) < 0)
		conf_remark(report, CONF_ERROR, path, 0, "[peers] %s", err);
}

/* The two levels of pfc_storm are of two things. */
static void check_rules(const struct rule_limits *l, const char *path, struct conf_report *report)
{
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		const char *name = rule_name((enum rule)rule);

		if (rule != RULE_PFC_STORM && l->critical[rule] &&
		    l->critical[rule] < l->warning[rule])
			conf_remark(report, CONF_WARNING, path, 0,
				    "[rules] %s_critical (%u) is below %s_warning (%u): it will "
				    "never be a warning alone",
				    name, l->critical[rule], name, l->warning[rule]);
	}
}

int config_load(struct config *c, const char *path, const char *const *sets, size_t n_sets,
		struct conf_report *report)
{
	struct config_loading l = {0};
	unsigned errors = report->errors;
	const struct conf_key *keys;
	size_t n;
	int r;

	keys = config_keys(&n);
	conf_defaults(keys, n, &l);
	r = conf_parse_file(keys, n, &l, path, report);
	if (r == 0 || r == -EINVAL) {
		load_drop_ins(&l, path, report);
		l.from_command_line = true;
		for (size_t i = 0; i < n_sets; i++)
			conf_set(keys, n, &l, sets[i], report);
		if (report->errors == errors)
			config_check_rails(&l.config, path, report);
		check_rules(&l.config.rules, path, report);
		config_place_peers(&l.config, path, report);
		place_file(l.config.peers_file, "file", path, report);
		place_file(l.config.secret_file, "secret_file", path, report);
		read_secret(&l.config, path, report);
		r = report->errors == errors ? 0 : -EINVAL;
	}
	if (r < 0) {
		config_free(&l.config);
		return r;
	}
	fill_in(&l.config);
	*c = l.config;
	return 0;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	peer_list_free(&c->peers);
	*c = (struct config){0};
}

void config_print(const struct config *c, struct strbuf *out)
{
	struct conf_instance instances[RAIL_MAX + CLASS_MAX + 1] = {0};
	const struct conf_key *keys;
	size_t n, at = 0;

	for (size_t i = 0; i < c->n_rails; i++)
		instances[at++] = (struct conf_instance){"rail", c->rails[i].name};
	for (size_t i = 0; i < c->n_classes && !c->classes_default; i++)
		instances[at++] = (struct conf_instance){"class", c->classes[i].name};
	keys = config_keys(&n);
	conf_print(keys, n, c, instances, out);
}

uint64_t config_hash(const struct config *c)
{
	struct strbuf text = {0};
	uint64_t hash = 0;

	config_print(c, &text);
	if (!strbuf_failed(&text))
		hash = hash_bytes(text.data, text.len);
	strbuf_free(&text);
	return hash;
}

static bool key_differs(const struct conf_key *key, const struct config *old,
			const struct config *new, const char *instance)
{
	struct strbuf a = {0}, b = {0};
	bool differs;

	conf_print_key(key, old, instance, &a);
	conf_print_key(key, new, instance, &b);
	/* When in doubt they differ: the work of a change is done for nothing, that is all. */
	differs = strbuf_failed(&a) || strbuf_failed(&b) || a.len != b.len ||
		  (a.len && memcmp(a.data, b.data, a.len));
	strbuf_free(&a);
	strbuf_free(&b);
	return differs;
}

static bool instance_differs(const struct conf_key *key, const struct config *old,
			     const struct config *new, bool is_rail, size_t n_old, size_t n_new)
{
	/* Also when only the order changed: wishes name rails and classes by index. */
	if (n_old != n_new)
		return true;
	for (size_t i = 0; i < n_old; i++) {
		const char *a = is_rail ? old->rails[i].name : old->classes[i].name;
		const char *b = is_rail ? new->rails[i].name : new->classes[i].name;

		if (strcmp(a, b) || key_differs(key, old, new, a))
			return true;
	}
	return false;
}

static bool changed(const struct conf_key *key, const struct config *old, const struct config *new)
{
	if (!key->instance)
		return key_differs(key, old, new, "");
	if (!strcmp(key->section, "rail"))
		return instance_differs(key, old, new, true, old->n_rails, new->n_rails);
	return instance_differs(key, old, new, false, old->n_classes, new->n_classes);
}

unsigned config_changes(const struct config *old, const struct config *new,
			struct strbuf *restart_keys)
{
	const struct conf_key *keys;
	unsigned changes = 0;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		if (!changed(&keys[i], old, new))
			continue;
		switch (keys[i].effect) {
		case CONF_RELOAD:
			changes |= CONFIG_RELOADS;
			break;
		case CONF_REBUILDS_SESSIONS:
			changes |= CONFIG_REBUILDS;
			break;
		case CONF_RESTART:
			changes |= CONFIG_RESTARTS;
			if (restart_keys)
				strbuf_printf(restart_keys, "%s%s.%s",
					      restart_keys->len ? ", " : "", keys[i].section,
					      keys[i].key);
			break;
		}
	}
	return changes;
}

uint64_t config_shortest_interval_ns(const struct config *c)
{
	uint64_t shortest = UINT64_MAX;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (c->op[op].interval_ns && c->op[op].interval_ns < shortest)
			shortest = c->op[op].interval_ns;
	return shortest == UINT64_MAX ? NSEC_PER_SEC : shortest;
}

const struct rail_spec *config_rail(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_rails; i++)
		if (strcmp(c->rails[i].name, name) == 0)
			return &c->rails[i];
	return NULL;
}

bool config_device_excluded(const struct config *c, const char *device)
{
	char words[EXCLUDE_MAX], *save;

	name_copy(words, sizeof(words), c->exclude);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (fnmatch(w, device, 0) == 0)
			return true;
	}
	return false;
}
