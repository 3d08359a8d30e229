#include "exporters/metrics.h"

#include <errno.h>

#include "exporters/also.h"
#include "exporters/metrics_parts.h"

bool metrics_open_port(struct exposition *e, const struct snap_device *d, unsigned port)
{
	if (!exposition_admit(e, 1))
		return false;
	exposition_sample(e, "");
	exposition_label(e, "device", d->name);
	exposition_label_u64(e, "port", port);
	return true;
}

static bool make_lines(struct counter_lines *l, const struct snapshot *s)
{
	if (counter_lines_fit(l, s))
		return true;
	metrics_make_counters(l, s);
	metrics_make_netdevs(l, s);
	return counter_lines_made(l);
}

static void put_counters(struct exposition *e, const struct snapshot *s, struct counter_lines *kept)
{
	struct counter_lines own = {0}, *l = kept ? kept : &own;

	for (size_t i = 0; i < s->n_devices; i++)
		e->dropped += s->devices[i].values_dropped;
	if (make_lines(l, s))
		counter_lines_put(l, e, s);
	else
		e->out->failed = true;
	counter_lines_free(&own);
}

int metrics_render(const struct snapshot *s, const struct process_facts *process,
		   enum exposition_format format, struct counter_lines *kept, struct strbuf *out)
{
	uint64_t limit = s->max_series;
	struct exposition e;

	/* A limit below what the self families need would hide that anything is hidden. */
	if (limit > 0)
		limit = limit > METRICS_SELF_SERIES ? limit - METRICS_SELF_SERIES : 1;
	exposition_begin(&e, out, format, limit);
	metrics_put_rails(&e, s);
	metrics_put_devices(&e, s);
	metrics_put_rules(&e, s);
	metrics_put_config(&e, s);
	metrics_put_health(&e, s);
	put_counters(&e, s, kept);
	metrics_put_loopbacks(&e, s);
	metrics_put_sessions(&e, s);
	if (s->also_node_exporter)
		also_put_node(&e, s);
	if (s->also_rdma_exporter)
		also_put_rdma(&e, s);
	e.max_series = 0;
	metrics_put_self(&e, s, process);
	exposition_end(&e);
	return strbuf_failed(out) ? -ENOMEM : 0;
}
