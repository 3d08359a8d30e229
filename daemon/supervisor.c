#include "daemon/supervisor.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"

struct supervisor {
	struct device_context ctx;
	const struct config *config;	     /* of the last configure */
	struct device *list[SUPERVISOR_MAX]; /* sorted by name */
	size_t n;
	bool stopping;
};

struct supervisor *supervisor_new(const struct device_context *ctx)
{
	struct supervisor *s = calloc(1, sizeof(*s));

	if (s)
		s->ctx = *ctx;
	return s;
}

void supervisor_free(struct supervisor *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		device_free(s->list[i]);
	free(s);
}

size_t supervisor_count(const struct supervisor *s)
{
	return s->n;
}

struct device *supervisor_get(const struct supervisor *s, size_t i)
{
	return s->list[i];
}

struct device *supervisor_find(const struct supervisor *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i]->name, name) == 0)
			return s->list[i];
	return NULL;
}

static void remove_at(struct supervisor *s, size_t i)
{
	device_free(s->list[i]);
	memmove(&s->list[i], &s->list[i + 1], (s->n - i - 1) * sizeof(s->list[0]));
	s->n--;
}

/* Hosts on which devices come and go under ever new names forget the longest gone. */
static bool make_room(struct supervisor *s)
{
	size_t oldest = s->n;

	if (s->n < SUPERVISOR_MAX)
		return true;
	for (size_t i = 0; i < s->n; i++) {
		const struct device *d = s->list[i];

		if (d->present || d->released || d->proc)
			continue;
		if (oldest == s->n || d->absent_since_ns < s->list[oldest]->absent_since_ns)
			oldest = i;
	}
	if (oldest == s->n)
		return false;
	remove_at(s, oldest);
	return true;
}

static struct device *add(struct supervisor *s, const char *name)
{
	struct device *d;
	size_t at;

	if (!make_room(s))
		return NULL;
	d = device_new(&s->ctx, name);
	if (!d)
		return NULL;
	for (at = s->n; at > 0 && strcmp(s->list[at - 1]->name, name) > 0; at--)
		s->list[at] = s->list[at - 1];
	s->list[at] = d;
	s->n++;
	return d;
}

static bool was_found(const struct scan_result *found, const char *name)
{
	for (size_t i = 0; i < found->n; i++)
		if (strcmp(found->name[i], name) == 0)
			return true;
	return false;
}

void supervisor_found(struct supervisor *s, const struct scan_result *found, uint64_t now_ns)
{
	if (s->stopping)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (!was_found(found, s->list[i]->name))
			device_set_present(s->list[i], false, now_ns);
	for (size_t i = 0; i < found->n; i++) {
		struct device *d = supervisor_find(s, found->name[i]);

		if (!d && !config_device_excluded(s->config, found->name[i]))
			d = add(s, found->name[i]);
		if (d)
			device_set_present(d, true, now_ns);
	}
}

struct table_layout supervisor_layout(const struct config *config)
{
	return (struct table_layout){
		.sessions = config->qps_per_device,
		.samples_per_stream = table_samples_for(config_shortest_interval_ns(config)),
	};
}

void supervisor_configure(struct supervisor *s, const struct config *config, uint64_t now_ns)
{
	s->config = config;
	s->ctx.layout = supervisor_layout(config);
	s->ctx.counters_interval_ns = config->counters_interval_ns;
	for (size_t i = 0; i < s->n; i++)
		device_set_excluded(s->list[i], config_device_excluded(config, s->list[i]->name),
				    now_ns);
}

void supervisor_leaving(struct supervisor *s, const char *device, uint64_t now_ns)
{
	struct device *d = supervisor_find(s, device);

	if (d)
		device_leaving(d, now_ns);
}

void supervisor_tick(struct supervisor *s, uint64_t now_ns, bool paused)
{
	for (size_t i = 0; i < s->n; i++)
		device_tick(s->list[i], now_ns, paused);
}

void supervisor_forget_absent(struct supervisor *s, bool (*keep)(void *arg, const char *device),
			      void *arg)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct device *d = s->list[i];

		if ((!d->present || d->excluded) && !d->released && !d->proc && !keep(arg, d->name))
			remove_at(s, i);
	}
}

void supervisor_stop(struct supervisor *s, uint64_t now_ns)
{
	s->stopping = true;
	for (size_t i = 0; i < s->n; i++)
		device_stop(s->list[i], now_ns);
}

size_t supervisor_running(const struct supervisor *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += device_running(s->list[i]);
	return n;
}

void supervisor_kill(struct supervisor *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i]->proc)
			worker_proc_kill(s->list[i]->proc, SIGKILL);
}
