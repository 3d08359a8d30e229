#include "probes/gid_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

void gid_table_clear(struct gid_table *t)
{
	t->n = t->dropped = t->n_ports = 0;
	t->turn++;
}

/* A directory comes in any order, the table is told in its own. */
static int slots_list(struct gid_port *p, int dev_fd, uint8_t port)
{
	struct sysfs_dir dir;
	char path[SYSFS_PATH];
	const char *name;
	uint64_t index;
	int r;

	*p = (struct gid_port){0};
	snprintf(path, sizeof(path), "ports/%u/gids", port);
	r = sysfs_dir_open(&dir, dev_fd, path);
	if (r < 0)
		return r;
	while ((name = sysfs_dir_next(&dir, &r))) {
		if (!sysfs_counter(name, &index))
			continue;
		if (index < GID_INDEX_MAX)
			p->there.block[index / GID_BLOCK] |= (uint16_t)(1u << index % GID_BLOCK);
		else
			p->beyond++;
	}
	sysfs_dir_close(&dir);
	return r;
}

/* The kernel answers EINVAL where a slot was emptied since its GID was read. */
static void attribute(int dev_fd, uint8_t port, const char *kind, unsigned index, char *ret,
		      size_t size, uint64_t *errors)
{
	char path[SYSFS_PATH], text[SYSFS_TEXT];
	int n;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "ports/%u/gid_attrs/%s/%u", port, kind, index);
	n = sysfs_read(dev_fd, path, text, sizeof(text));
	if (n >= 0)
		sysfs_first_line(text, ret, size);
	else if (n != -ENOENT && n != -EINVAL)
		errors[sysfs_error_class(n)]++;
}

static bool gid_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return memcmp(gid, zero, sizeof(zero)) == 0;
}

/* False for an empty slot and for one that cannot be read. */
static bool slot_gid(int dev_fd, uint8_t port, unsigned index, uint8_t ret[16], uint64_t *errors)
{
	char path[SYSFS_PATH], line[SYSFS_TEXT];

	snprintf(path, sizeof(path), "ports/%u/gids/%u", port, index);
	if (!sysfs_line(dev_fd, path, line, sizeof(line), errors))
		return false;
	if (!sysfs_gid(line, ret)) {
		errors[READ_PARSE]++;
		return false;
	}
	return !gid_zero(ret);
}

/* True when the slot has a GID. */
static bool slot_read(struct gid_table *t, int dev_fd, uint8_t port, unsigned index,
		      enum link_layer layer, uint64_t *errors)
{
	struct gid_fact fact = {.index = (uint16_t)index, .port = port};
	char type[FACT_NAME];

	if (!slot_gid(dev_fd, port, index, fact.gid, errors))
		return false;
	if (t->n == GID_MAX) {
		t->dropped++;
		return true;
	}
	attribute(dev_fd, port, "types", index, type, sizeof(type), errors);
	attribute(dev_fd, port, "ndevs", index, fact.netdev, sizeof(fact.netdev), errors);
	fact.type = (uint8_t)sysfs_gid_type(type, layer);
	t->gids[t->n++] = fact;
	return true;
}

static uint16_t block_read(struct gid_table *t, int dev_fd, uint8_t port, unsigned block,
			   enum link_layer layer, uint64_t *errors)
{
	uint16_t there = t->ports[t->n_ports].there.block[block], used = 0;

	for (unsigned i = 0; i < GID_BLOCK; i++) {
		if (there >> i & 1 &&
		    slot_read(t, dev_fd, port, block * GID_BLOCK + i, layer, errors))
			used |= (uint16_t)(1u << i);
	}
	return used;
}

static unsigned blocks_of(const struct gid_slots *slots)
{
	unsigned n = GID_BLOCKS;

	while (n > 0 && !slots->block[n - 1])
		n--;
	return n;
}

void gid_table_scan(struct gid_table *t, int dev_fd, uint8_t port, enum link_layer layer,
		    bool whole, uint64_t *errors)
{
	struct gid_port *p = &t->ports[t->n_ports];
	int r = whole ? slots_list(p, dev_fd, port) : 0;
	bool first_empty = true;
	unsigned n;

	if (r < 0 && r != -ENOENT)
		errors[sysfs_error_class(r)]++;
	n = blocks_of(&p->there);
	t->dropped += p->beyond;
	for (unsigned block = 0; block < n; block++) {
		bool empty = !p->used.block[block];

		if (whole || !empty || first_empty || block == t->turn % n)
			p->used.block[block] = block_read(t, dev_fd, port, block, layer, errors);
		/* The kernel gives out the lowest slot that is free. */
		first_empty &= !empty;
	}
	t->n_ports++;
}

const char *gid_table_netdev(const struct gid_table *t, uint8_t port)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->gids[i].port == port && t->gids[i].netdev[0])
			return t->gids[i].netdev;
	}
	return "";
}
