#include "exporters/json_device_health.h"

static void put_reporters(struct jsonw *j, const struct snap_device *d)
{
	jsonw_key(j, "health");
	jsonw_open_array(j);
	for (uint32_t i = 0; d->counters_fresh && i < d->fact.n_health; i++) {
		const struct health_fact *h = &d->fact.health[i];

		jsonw_open_object(j);
		jsonw_put_string(j, "reporter", h->reporter);
		jsonw_put_string(j, "state", h->error ? "error" : "healthy");
		jsonw_put_u64(j, "errors", h->errors);
		jsonw_put_u64(j, "recoveries", h->recoveries);
		jsonw_close_object(j);
	}
	jsonw_close_array(j);
}

void json_put_device_health(struct jsonw *j, const struct snap_device *d)
{
	put_reporters(j, d);
	jsonw_key(j, "firmware_stuck");
	if (!d->counters_fresh || !d->fact.firmware_stuck_since_wall_ns) {
		jsonw_null(j);
		return;
	}
	jsonw_open_object(j);
	jsonw_put_timestamp(j, "since", d->fact.firmware_stuck_since_wall_ns);
	jsonw_put_string(j, "text", d->fact.firmware_stuck_text);
	jsonw_close_object(j);
}
