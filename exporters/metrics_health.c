/* Families of what a driver says of its device's health by devlink. */
#include "exporters/metrics_parts.h"

static bool open_reporter(struct exposition *e, const struct snap_device *d,
			  const struct health_fact *h)
{
	if (!exposition_admit(e, 1))
		return false;
	exposition_sample(e, "");
	exposition_label(e, "device", d->name);
	exposition_label(e, "reporter", h->reporter);
	return true;
}

static uint64_t errors_of(const struct health_fact *h)
{
	return h->errors;
}

static uint64_t recoveries_of(const struct health_fact *h)
{
	return h->recoveries;
}

static uint64_t state_of(const struct health_fact *h)
{
	return h->error;
}

static void put_family(struct exposition *e, const struct snapshot *s, const char *name,
		       enum family_type type, const char *help,
		       uint64_t (*value_of)(const struct health_fact *h))
{
	exposition_family(e, name, type, help);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct snap_device *d = &s->devices[i];

		for (uint32_t k = 0; !d->gone && d->counters_fresh && k < d->fact.n_health; k++) {
			if (open_reporter(e, d, &d->fact.health[k]))
				exposition_u64(e, value_of(&d->fact.health[k]));
		}
	}
}

void metrics_put_health(struct exposition *e, const struct snapshot *s)
{
	put_family(e, s, "rdma_devlink_health_errors", FAMILY_COUNTER,
		   "Errors that the driver's health reporter has found.", errors_of);
	put_family(e, s, "rdma_devlink_health_recoveries", FAMILY_COUNTER,
		   "Recoveries from errors that the driver's health reporter has found.",
		   recoveries_of);
	put_family(e, s, "rdma_devlink_health_state_id", FAMILY_GAUGE,
		   "State of the driver's health reporter: 0 healthy, 1 error.", state_of);
}
