#include "daemon/peer_reload.h"

#include <errno.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/daemon.h"
#include "daemon/file_reader.h"
#include "daemon/inbox.h"
#include "daemon/looker.h"
#include "daemon/namer.h"
#include "daemon/planner.h"
#include "daemon/reload.h"

#define ERROR_TEXT (CONFIG_PATH_MAX + PEER_FILE_ERROR)

struct reading {
	struct file_reader *reader;
	uint64_t wait_ns;
	struct strbuf *lines; /* NULL: not wanted */
};

static void on_warning(void *arg, const char *text)
{
	const struct reading *reading = arg;

	log_warn("%s", text);
	if (reading->lines)
		strbuf_printf(reading->lines, "warning: %s\n", text);
}

static ssize_t read_file(void *arg, const char *path, char **ret, char *err, size_t errlen)
{
	const struct reading *reading = arg;

	return file_reader_read(reading->reader, path, reading->wait_ns, ret, err, errlen);
}

int peer_reload_read(struct daemon *d, const struct config *config, struct peer_source *ret,
		     struct strbuf *lines, char *err, size_t errlen)
{
	struct reading reading = {
		.reader = d->file_reader,
		.wait_ns = d->serving ? FILE_READER_WAIT_NS : FILE_READER_START_NS,
		.lines = lines,
	};
	const struct peer_source_ways ways = {
		.read = read_file, .warn = on_warning, .arg = &reading};
	int r = peer_source_read(ret, config, &d->peer_source, &ways, err, errlen);

	if (r < 0 && lines)
		strbuf_printf(lines, "%s\n", err);
	return r;
}

void peer_reload_take(struct daemon *d, struct peer_source *source)
{
	if (peers_load(d->peers, &source->list) < 0) {
		log_error("out of memory: the peer list stays as it is");
		peer_source_free(source);
		return;
	}
	peer_source_free(&d->peer_source);
	d->peer_source = *source;
	d->peer_file_ok = true;
	if (namer_follow(d->namer) < 0)
		log_error("out of memory: host names are not followed");
}

static void refuse(struct daemon *d, const char *err)
{
	d->peer_file_ok = false;
	log_error("peer file refused, the list in force stays: %s", err);
	journal_add(d->journal, clock_wall_ns(), "reload", NULL, NULL, NULL, "refused: %s", err);
}

static void put_in_force(struct daemon *d, struct peer_source *fresh)
{
	bool same = d->peer_file_ok && d->peer_source.has_file &&
		    d->peer_source.file_hash == fresh->file_hash;

	if (same) {
		peer_source_free(fresh);
		return;
	}
	peer_reload_take(d, fresh);
	inbox_name_host(d);
	inbox_send_accept(d);
	planner_run(d);
	d->last_reload_success_wall_ns = clock_wall_ns();
	log_info("%s: read again, %zu targets", d->peer_source.path, d->peer_source.n_targets);
	journal_add(d->journal, clock_wall_ns(), "reload", NULL, NULL, NULL,
		    "peer file: %zu targets", d->peer_source.n_targets);
}

static void on_changed(void *arg)
{
	struct daemon *d = arg;
	struct peer_source fresh;
	char err[ERROR_TEXT];

	if (d->stopper)
		return;
	/* What that reload was to bring is still to come. */
	if (d->reload_for_peers) {
		reload(d, NULL, err, sizeof(err));
		return;
	}
	if (peer_reload_read(d, &d->config, &fresh, NULL, err, sizeof(err)) < 0)
		refuse(d, err);
	else
		put_in_force(d, &fresh);
	looker_soon(d->looker);
}

int peer_reload_start(struct daemon *d)
{
	struct peer_source source;
	char err[ERROR_TEXT];
	int r;

	d->file_reader = file_reader_new(d->loop, on_changed, d);
	if (!d->file_reader)
		return -errno;
	/* Before it is read: what changes from now on is told. */
	file_reader_follow(d->file_reader, d->config.peers_file);
	r = peer_reload_read(d, &d->config, &source, NULL, err, sizeof(err));
	if (r == 0) {
		peer_reload_take(d, &source);
		return 0;
	}
	r = peer_source_without_file(&source, &d->config);
	if (r < 0)
		return r;
	peer_reload_take(d, &source);
	refuse(d, err);
	return 0;
}
