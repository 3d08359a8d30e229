#include "probes/counter_netlink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probes/sysfs.h"

void counter_netlink_init(struct counter_netlink *cn)
{
	memset(cn, 0, sizeof(*cn));
	cn->rdma.fd = cn->generic.fd = -1;
}

void counter_netlink_close(struct counter_netlink *cn)
{
	netlink_close(&cn->rdma);
	netlink_close(&cn->generic);
}

void counter_netlink_forget(struct counter_netlink *cn)
{
	memset(cn->ports, 0, sizeof(cn->ports));
	memset(&cn->health, 0, sizeof(cn->health));
	cn->n_ports = 0;
	cn->has_health = false;
	cn->stuck_since_wall_ns = 0;
}

/* A kernel, a driver or a port that has no such thing. */
static bool absent(int error)
{
	return error == -EOPNOTSUPP || error == -EINVAL || error == -ENOENT ||
	       error == -EPROTONOSUPPORT || error == -EAFNOSUPPORT;
}

static void note_error(uint64_t *errors, int error)
{
	if (error < 0 && !absent(error))
		errors[sysfs_error_class(error)]++;
}

static int ready(struct netlink *n, int protocol)
{
	return n->fd >= 0 ? 0 : netlink_open(n, protocol, 0);
}

static void list_optional(struct counter_netlink *cn, const char *device, const uint8_t *ports,
			  uint32_t n_ports, uint64_t (*errors)[READ_ERROR_COUNT])
{
	int r = ready(&cn->rdma, NETLINK_RDMA);

	cn->n_ports = 0;
	if (r == 0)
		r = optional_device(&cn->rdma, device, &cn->index);
	/* It is leaving, or its names are being changed: files tell, or the next listing. */
	if (r == -ENODEV || r == -EAGAIN)
		return;
	note_error(errors[0], r);
	if (r < 0)
		return;
	cn->n_ports = n_ports;
	for (uint32_t i = 0; i < n_ports; i++)
		note_error(errors[i + 1],
			   optional_list(&cn->ports[i], &cn->rdma, cn->index, ports[i]));
}

static int list_health(struct counter_netlink *cn, const char *pci_address)
{
	int r = ready(&cn->generic, NETLINK_GENERIC);

	/* The number changes with the module, which may come late. */
	if (r == 0)
		r = devlink_family(&cn->generic, &cn->family);
	if (r == 0)
		r = devlink_health_read(&cn->health, &cn->generic, cn->family, pci_address);
	cn->has_health = r == 0 && cn->health.n > 0;
	return r;
}

static void judge_firmware(struct counter_netlink *cn, uint64_t wall_ns)
{
	const struct health_fact *f = cn->has_health ? devlink_firmware_error(&cn->health) : NULL;

	if (!f) {
		cn->stuck_since_wall_ns = 0;
		return;
	}
	if (cn->stuck_since_wall_ns == 0)
		cn->stuck_since_wall_ns = wall_ns;
	snprintf(cn->stuck_text, sizeof(cn->stuck_text),
		 "devlink's reporter %s is in state error (%" PRIu64 " errors, %" PRIu64
		 " recoveries)",
		 f->reporter, f->errors, f->recoveries);
}

void counter_netlink_list(struct counter_netlink *cn, const char *device, const char *pci_address,
			  const uint8_t *ports, uint32_t n_ports, uint64_t wall_ns,
			  uint64_t (*errors)[READ_ERROR_COUNT])
{
	list_optional(cn, device, ports, n_ports, errors);
	if (pci_address[0])
		note_error(errors[0], list_health(cn, pci_address));
	else
		cn->has_health = false;
	judge_firmware(cn, wall_ns);
}

bool counter_netlink_read(struct counter_netlink *cn, const char *device, uint32_t port_index,
			  uint8_t port)
{
	if (port_index >= cn->n_ports)
		return true;
	return optional_read(&cn->ports[port_index], &cn->rdma, cn->index, device, port) == 0;
}

void counter_netlink_tell(const struct counter_netlink *cn, struct device_fact *f)
{
	f->firmware_watched = cn->has_health;
	f->n_health = 0;
	if (cn->has_health) {
		f->n_health = cn->health.n;
		memcpy(f->health, cn->health.reporter, sizeof(f->health));
	}
	f->firmware_stuck_since_wall_ns = cn->stuck_since_wall_ns;
	if (cn->stuck_since_wall_ns)
		memcpy(f->firmware_stuck_text, cn->stuck_text, sizeof(f->firmware_stuck_text));
}
