#include "probes/pci_link.h"

#include <stdio.h>
#include <string.h>

#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

#define LANES_MAX 32 /* of PCI Express; drivers say 255 for "unknown" */

uint32_t pci_link_speed(const char *line)
{
	uint32_t whole = 0, tenth = 0;
	const char *p = line;

	for (; *p >= '0' && *p <= '9' && whole < 1000; p++)
		whole = whole * 10 + (uint32_t)(*p - '0');
	if (*p == '.' && p[1] >= '0' && p[1] <= '9') {
		tenth = (uint32_t)(p[1] - '0');
		p += 2;
	}
	if (*line < '0' || *line > '9' || whole >= 1000 || strncmp(p, " GT/s", 5) != 0)
		return 0;
	return whole * 1000 + tenth * 100;
}

static void link_read(struct pci_link *link, int dev_fd, const char *dir, const char *which,
		      uint64_t *errors)
{
	char path[SYSFS_PATH], line[SYSFS_TEXT];
	uint64_t lanes;

	snprintf(path, sizeof(path), "%s/%s_link_speed", dir, which);
	if (sysfs_line(dev_fd, path, line, sizeof(line), errors))
		link->mega_transfers = pci_link_speed(line);
	snprintf(path, sizeof(path), "%s/%s_link_width", dir, which);
	if (sysfs_line(dev_fd, path, line, sizeof(line), errors) && sysfs_counter(line, &lanes) &&
	    lanes <= LANES_MAX)
		link->lanes = (uint32_t)lanes;
}

static uint32_t lesser(uint32_t own, uint32_t slot)
{
	return slot && slot < own ? slot : own;
}

void pci_link_read(struct device_fact *f, int dev_fd, uint64_t *errors)
{
	struct pci_link slot = {0};
	char line[SYSFS_TEXT];
	uint64_t node;

	link_read(&f->pci, dev_fd, "device", "current", errors);
	link_read(&f->pci_possible, dev_fd, "device", "max", errors);
	/* `device` is a link: its ".." is the bridge above the function. */
	link_read(&slot, dev_fd, "device/..", "max", errors);
	f->pci_possible.mega_transfers =
		lesser(f->pci_possible.mega_transfers, slot.mega_transfers);
	f->pci_possible.lanes = lesser(f->pci_possible.lanes, slot.lanes);
	/* -1 where the host has no nodes. */
	f->has_numa_node = sysfs_line(dev_fd, "device/numa_node", line, sizeof(line), errors) &&
			   sysfs_counter(line, &node) && node <= UINT16_MAX;
	if (f->has_numa_node)
		f->numa_node = (uint32_t)node;
}
