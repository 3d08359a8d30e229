#include "daemon/verdict_log.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "daemon/sessions.h"
#include "health/journal.h"

/* Worse is a warning, better is news. */
static enum log_level level_of(enum verdict v)
{
	switch (v) {
	case VERDICT_DEGRADED:
	case VERDICT_FAILING:
		return LOG_LEVEL_WARN;
	case VERDICT_OK:
	case VERDICT_UNKNOWN:
		return LOG_LEVEL_INFO;
	}
	return LOG_LEVEL_INFO;
}

/* With its age: the last error of a session that was well for days explains nothing. */
static void format_error(const struct session_error *e, uint64_t now_ns, char *buf, size_t len)
{
	uint64_t age_ns = now_ns > e->mono_ns ? now_ns - e->mono_ns : 0;
	double age = (double)age_ns / (double)NSEC_PER_SEC;

	if (e->wall_ns == 0)
		snprintf(buf, len, "none");
	else if (e->connect_failure >= 0 && e->connect_failure < CONNECT_COUNT)
		snprintf(buf, len, "%.1f s ago: connect %s (%s, %d)", age,
			 connect_failure_name((enum connect_failure)e->connect_failure), e->text,
			 e->code);
	else
		snprintf(buf, len, "%.1f s ago: %s %s (status %d, vendor error 0x%x)", age,
			 op_name((enum op)e->op), e->text, e->code, e->vendor_err);
}

/* The connection is the last one that was up: a session that fails has often lost it. */
void verdict_log_change(struct journal *j, const struct snap_session *now,
			const struct session *session)
{
	const struct session_conn *c = &session->last_up;
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN], error[FACT_TEXT];

	inet_ntop(AF_INET6, c->local_gid, local, sizeof(local));
	inet_ntop(AF_INET6, c->remote_gid, remote, sizeof(remote));
	format_error(&session->error, clock_now_ns(), error, sizeof(error));
	log_msg(level_of(now->verdict),
		"verdict %s -> %s cause=%s peer=%s peer_rail=%s class=%s address=%s rail=%s "
		"device=%s local_gid=%s remote_gid=%s qpn=0x%06x remote_qpn=0x%06x "
		"udp_source_port=%u last_error=[%s] reason=[%s]",
		verdict_name(session->judged.previous), verdict_name(now->verdict),
		cause_name(now->cause), now->peer, now->peer_rail, now->class_name, now->address,
		now->rail, now->device, local, remote, c->qpn, c->remote_qpn, c->udp_source_port,
		error, now->reason);
	journal_add(j, clock_wall_ns(), "verdict", now->device, now->rail, now->peer,
		    "%s -> %s%s%s", verdict_name(session->judged.previous),
		    verdict_name(now->verdict), now->reason[0] ? ": " : "", now->reason);
}

static void add_change(struct journal *j, uint64_t wall_ns, const char *device, enum verdict before,
		       enum verdict now, const char *reason)
{
	if (before == now)
		return;
	journal_add(j, wall_ns, "health", device, NULL, NULL, "%s %s -> %s%s%s",
		    device ? "device" : "host", verdict_name(before), verdict_name(now),
		    reason[0] ? ": " : "", reason);
}

static enum verdict device_before(const struct snapshot *before, const char *name)
{
	for (size_t i = 0; before && i < before->n_devices; i++)
		if (strcmp(before->devices[i].name, name) == 0)
			return before->devices[i].verdict;
	return VERDICT_UNKNOWN;
}

void verdict_log_host(struct journal *j, const struct snapshot *before, const struct snapshot *now)
{
	add_change(j, now->wall_ns, NULL, before ? before->verdict : VERDICT_UNKNOWN, now->verdict,
		   now->reason);
	for (size_t i = 0; i < now->n_devices; i++) {
		const struct snap_device *d = &now->devices[i];

		add_change(j, now->wall_ns, d->name, device_before(before, d->name), d->verdict,
			   d->reason ? d->reason : "");
	}
}
