/* The picture of an instant: copies what the daemon knows into a snapshot. What the judge adds
 * (verdicts, causes, findings) stays empty. */
#pragma once
#include "health/judge.h"

struct daemon;
struct session;

/* What the judge needs beside the snapshot; parallel to its sessions and devices. */
struct view_judged {
	struct judge_session *sessions;
	struct judge_device *devices;
	struct session **of; /* per session of the snapshot */
	const char **duplicates;
	size_t n_duplicates;
	struct judge_refusal *refusals;
	size_t n_refusals;
	struct judge_subnet *subnets;
	size_t n_subnets;
};

/* False: out of memory. judged's arrays belong to the snapshot. */
bool view_fill(struct snapshot *s, struct daemon *d, struct view_judged *judged);

/* --- its parts --- */
bool view_sessions(struct snapshot *s, struct daemon *d, struct view_judged *judged);
bool view_peers(struct snapshot *s, const struct daemon *d);
bool view_refusals(struct snapshot *s, struct daemon *d, struct view_judged *judged);
/* Sets what the configuration expects of the ports of a device. */
void view_expect(const struct daemon *d, const char *device, struct port_fact *ports, size_t n);
/* After rails and devices. */
bool view_facts(struct snapshot *s, struct daemon *d, struct view_judged *judged);
bool view_rails(struct snapshot *s, const struct daemon *d);
bool view_devices(struct snapshot *s, const struct daemon *d, struct view_judged *judged);
