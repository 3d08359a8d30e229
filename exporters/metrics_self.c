/* The daemon about itself: rdma_pingmesh_* and process_*. */
#include "exporters/metrics_parts.h"

static void put_gauge(struct exposition *e, const char *name, const char *help, uint64_t value)
{
	exposition_family(e, name, FAMILY_GAUGE, help);
	exposition_sample(e, "");
	exposition_u64(e, value);
}

static void put_seconds(struct exposition *e, const char *name, const char *help, uint64_t ns)
{
	exposition_family(e, name, FAMILY_GAUGE, help);
	exposition_sample(e, "");
	exposition_seconds(e, ns);
}

static void put_info(struct exposition *e, const char *name, const char *help, const char *key,
		     const char *value)
{
	exposition_family(e, name, FAMILY_GAUGE, help);
	exposition_sample(e, "");
	exposition_label(e, key, value);
	exposition_u64(e, 1);
}

static void put_counter(struct exposition *e, const char *name, const char *help, uint64_t value)
{
	exposition_family(e, name, FAMILY_COUNTER, help);
	exposition_sample(e, "");
	exposition_u64(e, value);
}

static void put_journal(struct exposition *e, const struct snap_journal *j)
{
	put_counter(e, "rdma_pingmesh_journal_events", "Events that this daemon told.", j->events);
	put_counter(e, "rdma_pingmesh_journal_thinned",
		    "Events of a storm that are in the journal as a number only.", j->thinned);
	if (!j->on_disk)
		return;
	put_gauge(e, "rdma_pingmesh_journal_kept",
		  "Whether new events are kept on disk; absent where they are not meant to be.",
		  j->kept);
	put_counter(e, "rdma_pingmesh_journal_lost",
		    "Events that memory had to forget before they could be kept on disk.", j->lost);
}

static void put_daemon(struct exposition *e, const struct snapshot *s)
{
	put_info(e, "rdma_pingmesh_build_info", "The daemon's version; always 1.", "version",
		 s->version);
	put_info(e, "rdma_pingmesh_config_info",
		 "Hash of the effective configuration: equal on hosts that are configured alike.",
		 "hash", s->config_hash);
	put_gauge(e, "rdma_pingmesh_config_last_reload_successful",
		  "0 while the last reload, or the peer file's last version, was refused and what "
		  "was in "
		  "force before still is.",
		  s->last_reload_ok);
	put_seconds(e, "rdma_pingmesh_config_last_reload_success_timestamp_seconds",
		    "When the configuration in force was loaded.", s->last_reload_success_wall_ns);
	put_gauge(e, "rdma_pingmesh_config_unknown_keys",
		  "Keys of the configuration that nothing reads: a typing error or a newer file.",
		  s->unknown_keys);
	put_gauge(e, "rdma_pingmesh_peer_file_bad_targets",
		  "Targets of the peer file that cannot be used and are left out; the log names "
		  "them.",
		  s->peers_refused);
	put_gauge(e, "rdma_pingmesh_names_failing",
		  "Host names of the peer list whose last look-up failed.", s->names_failing);
	put_gauge(
		e, "rdma_pingmesh_series_dropped",
		"Series left out of this exposition by max_series, because of their names, or for "
		"want of room for so many counters of a port.",
		e->dropped);
	put_journal(e, &s->journal);
	put_seconds(e, "rdma_pingmesh_loop_lag_seconds",
		    "Worst delay of the main loop in its last second.", s->loop_lag_ns);
	put_seconds(e, "rdma_pingmesh_snapshot_timestamp_seconds",
		    "When the snapshot behind this exposition was made.", s->wall_ns);
}

static void put_process(struct exposition *e, const struct process_facts *p, uint64_t start_wall_ns)
{
	exposition_family(e, "process_cpu_seconds", FAMILY_COUNTER,
			  "CPU time of the main process; workers have their own family.");
	exposition_sample(e, "");
	exposition_seconds(e, p->cpu_ns);
	put_seconds(e, "process_start_time_seconds", "When the main process started.",
		    start_wall_ns);
	if (p->has_memory) {
		put_gauge(e, "process_resident_memory_bytes",
			  "Resident memory of the main process.", p->resident_bytes);
		put_gauge(e, "process_virtual_memory_bytes", "Virtual memory of the main process.",
			  p->virtual_bytes);
	}
	if (p->has_open_fds)
		put_gauge(e, "process_open_fds", "Open file descriptors of the main process.",
			  p->open_fds);
	if (p->has_max_fds)
		put_gauge(e, "process_max_fds", "Limit of open file descriptors.", p->max_fds);
}

void metrics_put_self(struct exposition *e, const struct snapshot *s,
		      const struct process_facts *process)
{
	put_daemon(e, s);
	if (process)
		put_process(e, process, s->start_wall_ns);
}
