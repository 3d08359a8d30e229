/* What a worker is told, made from the configuration and the peer list. */
#pragma once
#include "daemon/peers.h"
#include "daemon/worker_proc.h"

struct config;

struct wishes_config {
	const struct config *config;
	const char *host; /* mesh name */
	const char *device;
	const char *sysfs_root;
	bool counters_only;
	uint64_t instance;
	uint32_t generation;
};

void wishes_send_config(struct worker_proc *w, const struct wishes_config *how);
/* Who may connect: every address of the list, and this host's own. */
void wishes_send_accept(struct worker_proc *w, const struct peers *peers);
