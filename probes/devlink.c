#include "probes/devlink.h"

#include <errno.h>
#include <string.h>

#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "probes/generic_netlink.h"

#define BUS "pci"

int devlink_family(struct netlink *n, uint16_t *ret_family)
{
	return generic_netlink_family(n, DEVLINK_GENL_NAME, ret_family);
}

struct search {
	struct devlink_health *health;
	const char *pci_address;
};

static bool says(struct netlink_attrs attrs, uint16_t type, const char *text)
{
	struct netlink_attr attr;
	char got[64];

	return netlink_find(attrs, type, &attr) && netlink_text(&attr, got, sizeof(got)) &&
	       strcmp(got, text) == 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static struct health_fact *reporter(struct devlink_health *h, const char *name)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (strcmp(h->reporter[i].reporter, name) == 0)
			return &h->reporter[i];
	}
	if (h->n == HEALTH_MAX) {
		h->dropped++;
		return NULL;
	}
	h->reporter[h->n] = (struct health_fact){0};
	memcpy(h->reporter[h->n].reporter, name, strlen(name) + 1);
	return &h->reporter[h->n++];
}

/* A reporter without a state would be one that nobody can judge: it is left out. */
static void note(struct devlink_health *h, struct netlink_attrs in)
{
	uint64_t errors = 0, recoveries = 0;
	struct health_fact *f;
	struct netlink_attr attr;
	char name[HEALTH_NAME];
	uint8_t state;

	if (!netlink_find(in, DEVLINK_ATTR_HEALTH_REPORTER_NAME, &attr) ||
	    !netlink_text(&attr, name, sizeof(name)) ||
	    !netlink_find(in, DEVLINK_ATTR_HEALTH_REPORTER_STATE, &attr) ||
	    !netlink_u8(&attr, &state))
		return;
	if (netlink_find(in, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, &attr))
		netlink_u64(&attr, &errors);
	if (netlink_find(in, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, &attr))
		netlink_u64(&attr, &recoveries);
	f = reporter(h, name);
	if (!f)
		return;
	f->errors = sum(f->errors, errors);
	f->recoveries = sum(f->recoveries, recoveries);
	f->error |= state != 0; /* DEVLINK_HEALTH_REPORTER_STATE_HEALTHY is 0 */
}

static int take_reporter(void *arg, uint16_t type, const uint8_t *payload, size_t len)
{
	struct netlink_attrs attrs = netlink_attrs(payload, len, sizeof(struct genlmsghdr));
	const struct search *s = arg;
	struct netlink_attr attr;

	(void)type;
	if (says(attrs, DEVLINK_ATTR_BUS_NAME, BUS) &&
	    says(attrs, DEVLINK_ATTR_DEV_NAME, s->pci_address) &&
	    netlink_find(attrs, DEVLINK_ATTR_HEALTH_REPORTER, &attr))
		note(s->health, netlink_inside(&attr));
	return 0;
}

int devlink_health_read(struct devlink_health *h, struct netlink *n, uint16_t family,
			const char *pci_address)
{
	struct genlmsghdr head = {.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET,
				  .version = DEVLINK_GENL_VERSION};
	struct search s = {.health = h, .pci_address = pci_address};
	struct netlink_request q;
	int r;

	*h = (struct devlink_health){0};
	/* Kernels since 6.5 tell of that device alone, older ones of all and do not mind. */
	netlink_begin(&q, family, NLM_F_DUMP, &head, sizeof(head));
	netlink_put_text(&q, DEVLINK_ATTR_BUS_NAME, BUS);
	netlink_put_text(&q, DEVLINK_ATTR_DEV_NAME, pci_address);
	r = netlink_ask(n, &q, take_reporter, &s);
	if (r < 0)
		*h = (struct devlink_health){0};
	return r;
}

const struct health_fact *devlink_firmware_error(const struct devlink_health *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const struct health_fact *f = &h->reporter[i];

		if (f->error && (!strcmp(f->reporter, "fw") || !strcmp(f->reporter, "fw_fatal")))
			return f;
	}
	return NULL;
}
