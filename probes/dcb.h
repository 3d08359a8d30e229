/* Data Center Bridging by rtnetlink (RTM_GETDCB): which priorities have flow control, how DSCP and
 * priorities map. Only asks, which needs no privilege. A driver without DCB answers -EOPNOTSUPP. */
#pragma once
#include "probes/facts.h"

#define DCB_REQUEST 64 /* bytes that a request takes at most */

struct dcb {
	int fd;
	uint32_t sequence;
};

int dcb_open(struct dcb *d); /* 0 or -errno */
void dcb_close(struct dcb *d);
/* Fills pfc*, trust, classes_known, priority_class and dscp_priority of *ret, which are as if
 * unknown before. 0 or -errno; waits for the kernel a second at most. */
int dcb_ask(struct dcb *d, const char *netdev, struct port_config_fact *ret);

/* --- its parts, for tests --- */
/* The request in buf; its length, 0 when the name is none. */
size_t dcb_request(char buf[DCB_REQUEST], uint32_t sequence, const char *netdev);
/* One datagram that came back, any bytes: 0; what an error message in it says; -EBADMSG: it is no
 * whole answer; -EAGAIN: it is none to this request. */
int dcb_parse(const void *data, size_t len, uint32_t sequence, struct port_config_fact *ret);
