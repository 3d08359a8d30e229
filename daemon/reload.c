#include "daemon/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/daemon.h"
#include "daemon/file_reader.h"
#include "daemon/inbox.h"
#include "daemon/looker.h"
#include "daemon/peer_reload.h"
#include "daemon/planner.h"
#include "daemon/protection.h"
#include "daemon/wishes.h"
#include "exporters/http.h"

struct remarks {
	char *first_error;
	size_t len;
	struct strbuf *lines; /* all of them, a line each; NULL: not wanted */
};

static void on_remark(void *arg, enum conf_severity severity, const char *file, unsigned line,
		      const char *message)
{
	struct remarks *r = arg;
	char text[CONF_MAX_ERROR + 512];

	if (line)
		snprintf(text, sizeof(text), "%s:%u: %s", file, line, message);
	else
		snprintf(text, sizeof(text), "%s: %s", file, message);
	log_msg(severity == CONF_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "%s", text);
	if (r->lines)
		strbuf_printf(r->lines, "%s%s\n", severity == CONF_ERROR ? "" : "warning: ", text);
	if (severity == CONF_ERROR && r->len > 0 && r->first_error[0] == '\0')
		name_copy(r->first_error, r->len, text);
}

int reload_load(struct daemon *d, struct config *ret, struct strbuf *lines, char *err,
		size_t errlen)
{
	const struct options *o = d->options;
	struct remarks remarks = {.first_error = err, .len = errlen, .lines = lines};
	struct conf_report report = {.fn = on_remark, .arg = &remarks};
	int r;

	err[0] = '\0';
	r = config_load(ret, o->config, o->sets, o->n_sets, &report);
	if (r == 0)
		d->unknown_keys = report.unknown_keys;
	else if (err[0] == '\0')
		snprintf(err, errlen, "%s: %s", o->config, strerror(-r));
	return r;
}

/* Values that only a restart can change keep the old ones in force. */
static void keep_until_restart(struct config *new, const struct config *old)
{
	memcpy(new->name, old->name, sizeof(new->name));
	memcpy(new->listen, old->listen, sizeof(new->listen));
	new->n_listen = old->n_listen;
	new->listen_default = old->listen_default;
	new->qps_per_device = old->qps_per_device;
}

/* Tables count by the index of rail and class, and have room for a minute of samples; registered
 * memory has the size of the probes. Where those change, or what a rail is, a worker that starts
 * afresh is safer than one that re-sorts while it probes. */
static bool needs_new_workers(const struct config *old, const struct config *new)
{
	if (old->n_classes != new->n_classes || old->n_rails != new->n_rails ||
	    old->allow_rocev1 != new->allow_rocev1 ||
	    supervisor_layout(new).samples_per_stream > supervisor_layout(old).samples_per_stream)
		return true;
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (old->op[op].size != new->op[op].size)
			return true;
	for (size_t i = 0; i < old->n_classes; i++)
		if (strcmp(old->classes[i].name, new->classes[i].name) != 0)
			return true;
	for (size_t i = 0; i < old->n_rails; i++) {
		const struct rail_spec *a = &old->rails[i], *b = &new->rails[i];

		if (strcmp(a->name, b->name) != 0 || strcmp(a->device, b->device) != 0 ||
		    strcmp(a->netdev, b->netdev) != 0 || a->prefix_len != b->prefix_len ||
		    memcmp(&a->subnet, &b->subnet, sizeof(a->subnet)) != 0)
			return true;
	}
	return false;
}

static void tell_restart_keys(const struct config *old, const struct config *new,
			      struct strbuf *lines)
{
	struct strbuf keys = {0};
	const char *names;

	if (config_changes(old, new, &keys) & CONFIG_RESTARTS) {
		names = strbuf_failed(&keys) ? "several keys" : keys.data;
		log_warn("changed, but in force only after a restart: %s", names);
		if (lines)
			strbuf_printf(lines, "changed, but in force only after a restart: %s\n",
				      names);
	}
	strbuf_free(&keys);
}

/* Sessions leave under the old settings before their worker hears of the new ones: the socket
 * keeps the order. */
static void update_workers(struct daemon *d, bool renew, bool rebuild)
{
	struct sessions_context ctx = daemon_sessions_context(d);

	if (rebuild || renew)
		sessions_rebuild(d->sessions, &ctx);
	for (size_t i = 0; i < supervisor_count(d->supervisor); i++) {
		struct device *dev = supervisor_get(d->supervisor, i);

		if (renew)
			device_renew(dev, ctx.now_ns);
		else if (dev->proc && !dev->stopping)
			inbox_configure_worker(d, dev);
	}
}

/* A rail whose worker just starts again keeps its sessions and counts; that of a device which is
 * gone or excluded does not. */
static bool device_in_use(void *arg, const char *device)
{
	const struct device *d = supervisor_find(arg, device);

	return d && (d->present || d->released) && !d->excluded;
}

static bool device_has_rail(void *arg, const char *device)
{
	const struct rails *rails = arg;

	for (size_t i = 0; i < rails_count(rails); i++)
		if (strcmp(rails_get(rails, i)->device, device) == 0)
			return true;
	return false;
}

static void take_over(struct daemon *d, struct config *new, struct peer_source *peers,
		      struct http_protection *protection)
{
	unsigned changes = config_changes(&d->config, new, NULL);
	bool renew = needs_new_workers(&d->config, new);
	struct config old = d->config;

	d->config = *new;
	supervisor_configure(d->supervisor, &d->config, clock_now_ns());
	peer_reload_take(d, peers);
	rails_configure(d->rails, &d->config, device_in_use, d->supervisor);
	supervisor_forget_absent(d->supervisor, device_has_rail, d->rails);
	inbox_name_host(d);
	update_workers(d, renew, (changes & CONFIG_REBUILDS) != 0);
	planner_run(d);
	scan_now(d->scan);
	file_reader_follow(d->file_reader, d->config.peers_file);
	protection_take(d->protection, protection);
	http_server_allow_reload(d->http, d->config.allow_reload);
	config_free(&old);
}

static void refuse(struct daemon *d, const char *err)
{
	d->last_reload_ok = false;
	log_error("reload refused, the old configuration stays in force: %s", err);
	journal_add(d->journal, clock_wall_ns(), "reload", NULL, NULL, NULL, "refused: %s", err);
}

/* What the configuration names. On failure new is freed, too. */
static int read_files(struct daemon *d, struct config *new, struct peer_source *peers,
		      struct http_protection *protection, struct strbuf *lines, char *err,
		      size_t errlen)
{
	int r = protection_read(new, protection, err, errlen);

	if (r < 0 && lines)
		strbuf_printf(lines, "%s\n", err);
	if (r == 0) {
		r = peer_reload_read(d, new, peers, lines, err, errlen);
		d->reload_for_peers = r < 0;
	}
	if (r < 0) {
		protection_release(protection);
		config_free(new);
	}
	return r;
}

int reload(struct daemon *d, struct strbuf *lines, char *err, size_t errlen)
{
	struct http_protection protection;
	struct peer_source peers;
	struct config new;
	int r;

	notify_reloading(d->notify, clock_now_ns());
	r = reload_load(d, &new, lines, err, errlen);
	d->reload_for_peers = false;
	if (r == 0)
		r = read_files(d, &new, &peers, &protection, lines, err, errlen);
	if (r < 0) {
		refuse(d, err);
	} else {
		d->config_hash = config_hash(&new);
		tell_restart_keys(&d->config, &new, lines);
		keep_until_restart(&new, &d->config);
		take_over(d, &new, &peers, &protection);
		d->last_reload_ok = true;
		d->last_reload_success_wall_ns = clock_wall_ns();
		log_info("configuration reloaded");
		journal_add(d->journal, clock_wall_ns(), "reload", NULL, NULL, NULL, "reloaded");
	}
	looker_look(d->looker);
	notify_ready(d->notify);
	return r;
}
