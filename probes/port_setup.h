/* How the ports of a device are set up and what their links could do: what files and sockets tell
 * of it, for one device. Sockets tell of this host: they are asked only when its own /sys is read.
 * Counter thread only. */
#pragma once
#include "probes/facts.h"
#include "probes/netlink.h"

struct port_setup { /* made by port_setup_init() */
	bool own_host;
	struct netlink route, generic; /* opened when they are first needed */
	uint16_t ethtool;	       /* number of that family; 0: not known */
};

void port_setup_init(struct port_setup *s, bool own_host);
void port_setup_close(struct port_setup *s);
/* Fills f->config anew; port, netdev and link layer of *f are set. root_fd: of /sys, or of a tree
 * that looks like it. Failures other than absence are counted in errors[READ_ERROR_COUNT]. */
void port_setup_read(struct port_setup *s, int root_fd, const char *device, struct port_fact *f,
		     uint64_t *errors);
/* Fills f->link and f->leg anew, by rate and config of *f. Asks firmware: not for every round. */
void port_setup_links(struct port_setup *s, struct port_fact *f, uint64_t *errors);
