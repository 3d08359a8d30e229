#include "probes/device_fact.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/names.h"
#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

/* `device` leads to the parent; for a NIC its name is the PCI address. */
static void pci_address(int dev_fd, char *ret, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dev_fd, "device", target, sizeof(target) - 1);
	const char *base;

	ret[0] = '\0';
	if (n <= 0)
		return;
	target[n] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (sysfs_pci_address(base))
		name_copy(ret, size, base);
}

/* "4: RNIC" */
#define NODE_RNIC 4

static bool is_iwarp(int dev_fd, uint64_t *errors)
{
	char line[SYSFS_TEXT], name[FACT_NAME];
	uint32_t type;

	return sysfs_line(dev_fd, "node_type", line, sizeof(line), errors) &&
	       sysfs_state(line, &type, name, sizeof(name)) && type == NODE_RNIC;
}

bool device_fact_read(struct device_fact *f, const char *name, int dev_fd, uint64_t *errors)
{
	bool any = false;

	*f = (struct device_fact){0};
	name_copy(f->name, sizeof(f->name), name);
	any |= sysfs_line(dev_fd, "fw_ver", f->firmware, sizeof(f->firmware), errors);
	any |= sysfs_line(dev_fd, "board_id", f->board, sizeof(f->board), errors);
	any |= sysfs_line(dev_fd, "hca_type", f->hca_type, sizeof(f->hca_type), errors);
	any |= sysfs_line(dev_fd, "node_guid", f->node_guid, sizeof(f->node_guid), errors);
	f->node_guid_zero = sysfs_guid_zero(f->node_guid);
	pci_address(dev_fd, f->pci_address, sizeof(f->pci_address));
	f->is_iwarp = is_iwarp(dev_fd, errors);
	f->is_vf = faccessat(dev_fd, "device/physfn", F_OK, 0) == 0;
	return any;
}

/* A lone port needs no dev_port; drivers that set none leave 0 for all. */
static bool netdev_fits(int dev_fd, const char *netdev, uint8_t port, uint32_t n_ports)
{
	uint64_t ignored[READ_ERROR_COUNT] = {0}, dev_port;
	char path[SYSFS_PATH], line[SYSFS_TEXT];

	if (n_ports == 1)
		return true;
	snprintf(path, sizeof(path), "device/net/%s/dev_port", netdev);
	return sysfs_line(dev_fd, path, line, sizeof(line), ignored) &&
	       sysfs_counter(line, &dev_port) && dev_port + 1 == port;
}

/* Children such as ib0.8001 stand beside their parent and are never the port itself. */
static bool netdev_name(const char *name)
{
	return strlen(name) < FACT_NETDEV && !strchr(name, '.');
}

/* How many netdevs of the function fit; the last of them in ret. */
static unsigned netdev_candidates(int dev_fd, uint8_t port, uint32_t n_ports, char ret[FACT_NETDEV])
{
	struct sysfs_dir dir;
	unsigned found = 0;
	const char *name;
	int r;

	if (sysfs_dir_open(&dir, dev_fd, "device/net") < 0)
		return 0;
	while ((name = sysfs_dir_next(&dir, &r))) {
		if (!netdev_name(name) || !netdev_fits(dev_fd, name, port, n_ports))
			continue;
		name_copy(ret, FACT_NETDEV, name);
		found++;
	}
	sysfs_dir_close(&dir);
	return found;
}

void device_port_netdev(int dev_fd, uint8_t port, uint32_t n_ports, char ret[FACT_NETDEV])
{
	uint64_t ignored[READ_ERROR_COUNT] = {0};

	ret[0] = '\0';
	if (sysfs_line(dev_fd, "parent", ret, FACT_NETDEV, ignored))
		return;
	if (netdev_candidates(dev_fd, port, n_ports, ret) != 1)
		ret[0] = '\0';
}
