/* The rails of a host as its sysfs tells, for a look that opens no device: --print-plan. Not for
 * the daemon, since an attribute of a sick device may hang. */
#pragma once
#include "daemon/rails.h"
#include "probes/rail_select.h"

struct config;

struct survey_rail {
	char name[FACT_NAME], device[FACT_NAME];
	uint32_t n_addresses; /* 0: a configured rail that no port here is */
	struct in6_addr addresses[RAIL_ADDRESS_MAX];
};

struct port_survey {
	size_t n;
	struct survey_rail rails[RAILS_MAX]; /* sorted by name */
};

/* Configured rails are all there; without any, every active port with a usable address. 0 or
 * -ENOMEM; an unreadable tree is one without ports. */
int port_survey(struct port_survey *ret, const char *sysfs_root, const struct config *config);
