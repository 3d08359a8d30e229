/* Families of devices, their ports and workers, and findings. */
#include "exporters/metrics_parts.h"

#include <string.h>

/* For each device that is there: fn appends the samples of one family. */
typedef void (*device_fn)(struct exposition *e, const struct snap_device *d);

static void each_device(struct exposition *e, const struct snapshot *s, const char *name,
			enum family_type type, const char *help, device_fn fn)
{
	exposition_family(e, name, type, help);
	for (size_t i = 0; i < s->n_devices; i++)
		if (!s->devices[i].gone)
			fn(e, &s->devices[i]);
}

static bool open_device(struct exposition *e, const struct snap_device *d, const char *key,
			const char *label)
{
	if (!exposition_admit(e, 1))
		return false;
	exposition_sample(e, "");
	exposition_label(e, "device", d->name);
	if (key)
		exposition_label(e, key, label);
	return true;
}

static void put_worker_up(struct exposition *e, const struct snap_device *d)
{
	if (open_device(e, d, NULL, NULL))
		exposition_u64(e, d->worker_up);
}

static void put_heartbeats(struct exposition *e, const struct snap_device *d)
{
	for (unsigned i = 0; i < WORKER_LOOPS; i++) {
		if (open_device(e, d, "loop", worker_loop_name(i)))
			exposition_seconds(e, d->heartbeat_wall_ns[i]);
	}
}

static void put_restarts(struct exposition *e, const struct snap_device *d)
{
	if (open_device(e, d, NULL, NULL))
		exposition_u64(e, d->restarts);
}

static void put_cpu(struct exposition *e, const struct snap_device *d)
{
	if (open_device(e, d, NULL, NULL))
		exposition_seconds(e, d->cpu_ns);
}

static void put_resident(struct exposition *e, const struct snap_device *d)
{
	if (d->has_rss && open_device(e, d, NULL, NULL))
		exposition_u64(e, d->rss_bytes);
}

static void put_qps(struct exposition *e, const struct snap_device *d)
{
	/* A worker that is gone has none, and what a frozen one has is not known. */
	if (!d->worker_up)
		return;
	if (open_device(e, d, "role", "active"))
		exposition_u64(e, d->qps_active);
	if (open_device(e, d, "role", "passive"))
		exposition_u64(e, d->qps_passive);
}

static void put_workers(struct exposition *e, const struct snapshot *s)
{
	each_device(e, s, "rdma_worker_up", FAMILY_GAUGE,
		    "1 while the device's worker process runs and its loops beat.", put_worker_up);
	each_device(e, s, "rdma_worker_heartbeat_timestamp_seconds", FAMILY_GAUGE,
		    "When the loop of the device's worker last turned; 0 if never.",
		    put_heartbeats);
	each_device(e, s, "rdma_worker_restarts", FAMILY_COUNTER,
		    "Workers of the device that ended and were replaced.", put_restarts);
	each_device(e, s, "rdma_worker_cpu_seconds", FAMILY_COUNTER,
		    "CPU time summed over all workers of the device.", put_cpu);
	each_device(e, s, "rdma_worker_resident_memory_bytes", FAMILY_GAUGE,
		    "Resident memory of the device's worker.", put_resident);
	each_device(e, s, "rdma_worker_qps", FAMILY_GAUGE,
		    "Queue pairs of the device's worker: active ones it opened, passive ones its "
		    "peers did.",
		    put_qps);
}

static void put_port_info(struct exposition *e, const struct snap_device *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		if (!metrics_open_port(e, d, d->ports[i].port))
			continue;
		exposition_label(e, "netdev", d->ports[i].netdev);
		exposition_label(e, "link_layer", d->ports[i].link_layer_text);
		exposition_label(e, "pci_address", d->fact.pci_address);
		exposition_label(e, "firmware", d->fact.firmware);
		exposition_label(e, "board", d->fact.board);
		exposition_label(e, "is_vf", d->fact.is_vf ? "true" : "false");
		exposition_u64(e, 1);
	}
}

static void put_port_states(struct exposition *e, const struct snap_device *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i].state_known && metrics_open_port(e, d, d->ports[i].port))
			exposition_u64(e, d->ports[i].state);
	}
}

static void put_port_phys_states(struct exposition *e, const struct snap_device *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i].phys_state_known && metrics_open_port(e, d, d->ports[i].port))
			exposition_u64(e, d->ports[i].phys_state);
	}
}

static void put_port_rates(struct exposition *e, const struct snap_device *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i].rate_known && metrics_open_port(e, d, d->ports[i].port))
			exposition_u64(e, d->ports[i].rate_bytes_per_second);
	}
}

static void put_ports(struct exposition *e, const struct snapshot *s)
{
	each_device(e, s, "rdma_port_info", FAMILY_GAUGE, "What the port is; always 1.",
		    put_port_info);
	each_device(e, s, "rdma_port_state_id", FAMILY_GAUGE,
		    "Logical state: 1 down, 2 init, 3 armed, 4 active, 5 active deferred.",
		    put_port_states);
	each_device(e, s, "rdma_port_physical_state_id", FAMILY_GAUGE,
		    "Physical state: 2 polling (no carrier), 3 disabled (by the administrator), "
		    "5 link up.",
		    put_port_phys_states);
	each_device(e, s, "rdma_port_rate_bytes_per_second", FAMILY_GAUGE,
		    "Link rate as the driver reports it.", put_port_rates);
}

static bool any_read_error(const uint64_t errors[READ_ERROR_COUNT])
{
	for (unsigned k = 0; k < READ_ERROR_COUNT; k++) {
		if (errors[k] > 0)
			return true;
	}
	return false;
}

/* Row 0 is the device, row i its i-th port, whose number is the index + 1 while nothing of the
 * device can be read: just then the errors are needed. */
static void put_read_error_row(struct exposition *e, const struct snap_device *d, size_t row)
{
	for (unsigned k = 0; k < READ_ERROR_COUNT; k++) {
		if (!exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_label(e, "device", d->name);
		if (row == 0)
			exposition_label(e, "port", "");
		else
			exposition_label_u64(e, "port",
					     row <= d->n_ports ? d->ports[row - 1].port : row);
		exposition_label(e, "reason", read_error_name(k));
		exposition_u64(e, d->read_errors[row][k]);
	}
}

static void put_read_errors(struct exposition *e, const struct snap_device *d)
{
	for (size_t row = 0; row <= PORT_MAX; row++) {
		if (row <= d->n_ports || (d->n_ports == 0 && any_read_error(d->read_errors[row])))
			put_read_error_row(e, d, row);
	}
}

static void put_counters_success(struct exposition *e, const struct snap_device *d)
{
	if (open_device(e, d, NULL, NULL))
		exposition_seconds(e, d->counters_success_wall_ns);
}

static void put_resets(struct exposition *e, const struct snap_device *d)
{
	if (open_device(e, d, NULL, NULL))
		exposition_u64(e, d->counter_resets);
}

static void put_reading(struct exposition *e, const struct snapshot *s)
{
	each_device(e, s, "rdma_sysfs_read_errors", FAMILY_COUNTER,
		    "Files of the device that could not be read or understood.", put_read_errors);
	each_device(e, s, "rdma_counters_last_success_timestamp_seconds", FAMILY_GAUGE,
		    "When counters of the device were last read; 0 if never.",
		    put_counters_success);
	each_device(e, s, "rdma_counters_reset", FAMILY_COUNTER,
		    "Counters of the device that were seen to begin anew from a lower value.",
		    put_resets);
}

/* A port is known from its counters, from a rail on it or from an event of it. */
static bool port_known(const struct snapshot *s, const struct snap_device *d, unsigned port)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i].port == port)
			return true;
	}
	for (size_t i = 0; i < s->n_rails; i++) {
		if (s->rails[i].present && s->rails[i].fact.port == port &&
		    strcmp(s->rails[i].fact.device, d->name) == 0)
			return true;
	}
	for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++) {
		if (d->async[port][event] > 0)
			return true;
	}
	return false;
}

/* An event that belongs to no port is told with port "", whatever port it was counted at. */
static uint64_t device_event_count(const struct snap_device *d, unsigned event)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= PORT_MAX; port++)
		sum += d->async[port][event];
	return sum;
}

static void put_event(struct exposition *e, const struct snap_device *d, unsigned port,
		      unsigned event, uint64_t count)
{
	if (!exposition_admit(e, 1))
		return;
	exposition_sample(e, "");
	exposition_label(e, "device", d->name);
	if (port == 0)
		exposition_label(e, "port", "");
	else
		exposition_label_u64(e, "port", port);
	exposition_label(e, "event", async_event_names[event]);
	exposition_u64(e, count);
}

static void put_device_events(struct exposition *e, const struct snap_device *d)
{
	for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++) {
		if (!async_event_is_port(event))
			put_event(e, d, 0, event, device_event_count(d, event));
		else if (d->async[0][event] > 0)
			put_event(e, d, 0, event, d->async[0][event]);
	}
}

static void put_port_events(struct exposition *e, const struct snap_device *d, unsigned port)
{
	for (unsigned event = 0; event < ASYNC_EVENT_COUNT; event++) {
		if (async_event_is_port(event))
			put_event(e, d, port, event, d->async[port][event]);
	}
}

static void put_events(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_async_events", FAMILY_COUNTER,
			  "Asynchronous events of the device, its ports, queue pairs and queues.");
	for (size_t i = 0; i < s->n_devices; i++) {
		if (s->devices[i].gone)
			continue;
		put_device_events(e, &s->devices[i]);
		for (unsigned port = 1; port <= PORT_MAX; port++) {
			if (port_known(s, &s->devices[i], port))
				put_port_events(e, &s->devices[i], port);
		}
	}
}

static bool finding_repeated(const struct snapshot *s, size_t i)
{
	const struct snap_finding *f = &s->findings[i];

	for (size_t k = 0; k < i; k++) {
		const struct snap_finding *o = &s->findings[k];

		if (o->cause == f->cause && o->critical == f->critical &&
		    strcmp(o->subject, f->subject) == 0)
			return true;
	}
	return false;
}

static void put_findings(struct exposition *e, const struct snapshot *s)
{
	exposition_family(e, "rdma_finding", FAMILY_GAUGE,
			  "1 for each finding while it is active; the text is in the JSON.");
	for (size_t i = 0; i < s->n_findings; i++) {
		const struct snap_finding *f = &s->findings[i];

		if (finding_repeated(s, i) || !exposition_admit(e, 1))
			continue;
		exposition_sample(e, "");
		exposition_label(e, "cause", cause_name(f->cause));
		exposition_label(e, "severity", f->critical ? "critical" : "warning");
		exposition_label(e, "subject", f->subject);
		exposition_u64(e, 1);
	}
}

void metrics_put_devices(struct exposition *e, const struct snapshot *s)
{
	put_findings(e, s);
	put_events(e, s);
	put_ports(e, s);
	put_reading(e, s);
	put_workers(e, s);
}
