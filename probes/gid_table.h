/* The GIDs of a device's ports, as sysfs lists them: all slots that are not empty. A table has up
 * to a thousand slots, a file each, of which a handful is used: all of them are read at first and
 * after news, and in between what is used, what will be used next, and a few others in turn. */
#pragma once
#include "probes/facts.h"

#define GID_INDEX_MAX 4096 /* slots of a port that are looked at */
#define GID_BLOCK 16	   /* slots that are looked at together */
#define GID_BLOCKS (GID_INDEX_MAX / GID_BLOCK)

/* Bit i for slot i. */
struct gid_slots {
	uint16_t block[GID_BLOCKS];
};

struct gid_table {
	uint32_t n, dropped; /* dropped: non-empty beyond GID_MAX, or slots beyond GID_INDEX_MAX */
	struct gid_fact gids[GID_MAX]; /* by port in the order of scanning, then by index */
	uint32_t n_ports;	       /* scanned since it was cleared */
	uint32_t turn;		       /* of the blocks without a GID */
	struct gid_port {
		uint32_t beyond;	      /* slots that are not looked at */
		struct gid_slots there, used; /* as last listed and as last read */
	} ports[PORT_MAX];
};

/* Before the ports are scanned in their order. */
void gid_table_clear(struct gid_table *t);
/* Add the GIDs of a port; dev_fd is the device's directory. Empty slots are no error; failures are
 * counted in errors[READ_ERROR_COUNT]. whole: list the slots and read them all, as it must be when
 * the ports are not those of the scan before. Otherwise blocks are read that had a GID, the first
 * that had none, and one of the others; a GID elsewhere is found in its turn. */
void gid_table_scan(struct gid_table *t, int dev_fd, uint8_t port, enum link_layer layer,
		    bool whole, uint64_t *errors);
/* The netdev of the port's first GID that has one, or "". */
const char *gid_table_netdev(const struct gid_table *t, uint8_t port);
