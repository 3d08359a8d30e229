#include "daemon/view.h"

#include <inttypes.h>

#include "core/clock.h"
#include "daemon/daemon.h"
#include "daemon/file_reader.h"
#include "daemon/journal_keeper.h"
#include "daemon/namer.h"
#include "daemon/protection.h"

static enum per_peer_mode per_peer_mode(enum config_per_peer mode)
{
	switch (mode) {
	case CONFIG_PER_PEER_SUMMARY:
		return PER_PEER_SUMMARY;
	case CONFIG_PER_PEER_HISTOGRAM:
		return PER_PEER_HISTOGRAM;
	case CONFIG_PER_PEER_WORST:
		return PER_PEER_WORST;
	case CONFIG_PER_PEER_NONE:
		return PER_PEER_NONE;
	}
	return PER_PEER_SUMMARY;
}

static void fill_journal(struct snapshot *s, const struct daemon *d)
{
	struct journal_status status = {0};

	if (d->journal_keeper)
		status = journal_keeper_status(d->journal_keeper);
	s->journal = (struct snap_journal){
		.on_disk = status.configured,
		.kept = status.kept,
		.words = snapshot_str(s, status.words ? status.words : ""),
		.failing_wall_ns = status.failing_wall_ns,
		.events = journal_last_seq(d->journal) - journal_base(d->journal),
		.lost = status.lost,
		.thinned = journal_thinned(d->journal),
	};
}

static void fill_self(struct snapshot *s, const struct daemon *d)
{
	s->mono_ns = clock_now_ns();
	s->wall_ns = clock_wall_ns();
	s->instance = snapshot_printf(s, "%016" PRIx64, d->instance);
	s->host = snapshot_str(s, d->host);
	s->version = RPM_VERSION;
	s->start_wall_ns = d->start_wall_ns;
	s->start_mono_ns = d->start_ns;
	s->verdict = VERDICT_UNKNOWN;
	s->config_hash = snapshot_printf(s, "%016" PRIx64, d->config_hash);
	s->last_reload_ok = d->last_reload_ok && d->peer_file_ok && protection_good(d->protection);
	s->last_reload_success_wall_ns = d->last_reload_success_wall_ns;
	s->unknown_keys = d->unknown_keys;
	s->names_failing = namer_failing(d->namer);
	s->peers_refused = d->peer_source.n_refused;
	s->peer_file = snapshot_str(s, d->config.peers_file);
	s->peer_file_hangs_wall_ns = file_reader_hangs_since(d->file_reader);
	fill_journal(s, d);
	s->per_peer = per_peer_mode(d->config.per_peer);
	s->max_series = d->config.max_series;
	s->also_node_exporter = d->config.also_node_exporter;
	s->also_rdma_exporter = d->config.also_rdma_exporter;
	/* Where no device is opened no rail is ever told. */
	s->starting = !d->rails_known && !d->options->sysfs_only;
	s->counters_only = d->options->sysfs_only;
	s->rails_expected = d->config.rails_expected;
	s->loop_lag_ns = d->lag_ns;
}

bool view_fill(struct snapshot *s, struct daemon *d, struct view_judged *judged)
{
	fill_self(s, d);
	return view_rails(s, d) && view_devices(s, d, judged) && view_facts(s, d, judged) &&
	       view_peers(s, d) && view_refusals(s, d, judged) && view_sessions(s, d, judged);
}
