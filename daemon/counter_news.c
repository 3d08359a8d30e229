#include "daemon/counter_news.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/device.h"
#include "health/journal.h"

#define RESETS_A_MINUTE 4 /* in both: a counter that is none may fall with each round */
#define FAILURES_A_MINUTE 4

static size_t add_reset(char *text, size_t at, const struct counter_reset *r)
{
	char port[16] = "";
	int n;

	if (r->port)
		snprintf(port, sizeof(port), "port %u ", r->port);
	n = snprintf(text + at, FACT_TEXT - at, "%s%s%s %" PRIu64 " to %" PRIu64, at ? ", " : "",
		     port, r->name, r->before, r->now);
	/* One that does not fit whole is left out: the number before them counts it. */
	if (n < 0 || (size_t)n >= FACT_TEXT - at) {
		text[at] = '\0';
		return at;
	}
	return at + (size_t)n;
}

static void name_resets(const struct counter_round *round, uint64_t n, char text[FACT_TEXT])
{
	size_t at = 0;

	text[0] = '\0';
	if (n > round->resets_seen) /* some are of a worker before */
		n = round->resets_seen;
	if (n > RESETS_KEPT)
		n = RESETS_KEPT;
	for (uint64_t k = round->resets_seen - n; k < round->resets_seen; k++)
		at = add_reset(text, at, &round->resets[k % RESETS_KEPT]);
}

static void tell_resets(struct journal *j, struct device *dev, const struct counter_round *round)
{
	uint64_t total = device_totals_resets(&dev->totals), n = total - dev->resets_told;
	char names[FACT_TEXT];
	unsigned held_back;

	if (n == 0)
		return;
	dev->resets_told = total;
	if (!ratelimit_allow(&dev->reset_limit, clock_now_ns(), RESETS_A_MINUTE, &held_back))
		return;
	name_resets(round, n, names);
	log_info("%s: %" PRIu64 " counter%s began anew: %s", dev->name, n, n == 1 ? "" : "s",
		 names);
	journal_add(j, clock_wall_ns(), "counters", dev->name, NULL, NULL,
		    "%" PRIu64 " counter%s began anew: %s", n, n == 1 ? "" : "s", names);
}

/* "port 1 hw_counters/out_of_buffer (einval)" */
static size_t add_failure(char *text, size_t at, const struct read_failure *f)
{
	bool counter = f->source < COUNTER_SOURCE_COUNT;
	char port[16] = "";
	int n;

	if (f->port)
		snprintf(port, sizeof(port), "port %u ", f->port);
	n = snprintf(text + at, FACT_TEXT - at, "%s%s%s%s%s (%s)", at ? ", " : "", port,
		     counter ? counter_source_name(f->source) : "", counter ? "/" : "", f->name,
		     read_error_name(f->error));
	if (n < 0 || (size_t)n >= FACT_TEXT - at) {
		text[at] = '\0';
		return at;
	}
	return at + (size_t)n;
}

static void name_failures(const struct read_failures *f, uint64_t n, char text[FACT_TEXT])
{
	uint64_t kept = n > FAILURES_KEPT ? FAILURES_KEPT : n;
	size_t at = 0;

	text[0] = '\0';
	for (uint64_t k = f->seen - kept; k < f->seen; k++)
		at = add_failure(text, at, &f->kept[k % FAILURES_KEPT]);
}

/* Once, however often they are tried; a new worker starts over. */
static void tell_failures(struct journal *j, struct device *dev, const struct counter_round *round)
{
	const struct read_failures *f = &round->failures;
	uint64_t n = f->seen - (f->seen < dev->failures_told ? 0 : dev->failures_told);
	char names[FACT_TEXT];
	unsigned held_back;

	dev->failures_told = f->seen;
	if (n == 0 ||
	    !ratelimit_allow(&dev->failure_limit, clock_now_ns(), FAILURES_A_MINUTE, &held_back))
		return;
	name_failures(f, n, names);
	log_info("%s: %" PRIu64 " file%s cannot be read: %s", dev->name, n, n == 1 ? "" : "s",
		 names);
	journal_add(j, clock_wall_ns(), "counters", dev->name, NULL, NULL,
		    "%" PRIu64 " file%s cannot be read: %s", n, n == 1 ? "" : "s", names);
}

/* A bond has none of its own, which is how it is; other errors are counted besides. */
static void tell_netdevs(struct device *dev, const struct counter_round *round)
{
	for (uint32_t i = 0; i < round->n_ports; i++) {
		const struct port_fact *port = &round->ports[i];

		if (!port->netdev_errno || dev->netdev_told & 1u << i)
			continue;
		dev->netdev_told |= 1u << i;
		log_info("%s port %u: no statistics of %s are told: %s", dev->name, port->port,
			 port->netdev, strerror(port->netdev_errno));
	}
}

void counter_news_tell(struct journal *j, struct device *dev, const struct counter_round *round)
{
	tell_resets(j, dev, round);
	tell_failures(j, dev, round);
	tell_netdevs(dev, round);
}
