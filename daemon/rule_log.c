#include "daemon/rule_log.h"

#include <string.h>

#include "core/log.h"
#include "health/journal.h"

static const struct snap_device *device_of(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; s && i < s->n_devices; i++)
		if (strcmp(s->devices[i].name, name) == 0)
			return &s->devices[i];
	return NULL;
}

/* That a rule has nothing to judge, and that all is well at first, is no news. */
static bool is_news(enum rule_state before, enum rule_state now)
{
	return before != now && (before >= RULE_WARNING || now >= RULE_WARNING);
}

static void tell(struct journal *j, uint64_t wall_ns, const char *device, unsigned port,
		 enum rule rule, enum rule_state before, const struct snap_rule *now)
{
	const char *text = now->state >= RULE_WARNING ? now->text : "";

	log_msg(now->state >= RULE_WARNING ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
		"%s port %u: %s %s -> %s%s%s", device, port, rule_name(rule),
		rule_state_name(before), rule_state_name(now->state), text[0] ? ": " : "", text);
	journal_add(j, wall_ns, "health", device, NULL, NULL, "port %u %s %s -> %s%s%s", port,
		    rule_name(rule), rule_state_name(before), rule_state_name(now->state),
		    text[0] ? ": " : "", text);
}

static void log_port(struct journal *j, uint64_t wall_ns, const char *device,
		     const struct snap_port_rules *before, const struct snap_port_rules *now)
{
	for (unsigned k = 0; k < RULE_COUNT; k++) {
		enum rule_state was = before ? before->rule[k].state : RULE_NOT_APPLICABLE;

		if (is_news(was, now->rule[k].state))
			tell(j, wall_ns, device, now->port, (enum rule)k, was, &now->rule[k]);
	}
}

void rule_log_changes(struct journal *j, const struct snapshot *before, const struct snapshot *now)
{
	for (size_t i = 0; i < now->n_devices; i++) {
		const struct snap_device *d = &now->devices[i];
		const struct snap_device *was = device_of(before, d->name);

		for (size_t k = 0; k < d->n_port_rules; k++)
			log_port(j, now->wall_ns, d->name,
				 was ? snapshot_port_rules(was, d->port_rules[k].port) : NULL,
				 &d->port_rules[k]);
	}
}
