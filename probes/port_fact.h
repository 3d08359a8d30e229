/* State, rate and link layer of a port, read again and again: an attribute that failed is left
 * alone for a while, since asking a sick port costs a firmware command each time. */
#pragma once
#include "probes/facts.h"

enum port_attr { PORT_ATTR_STATE, PORT_ATTR_PHYS_STATE, PORT_ATTR_RATE, PORT_ATTR_LINK_LAYER };
#define PORT_ATTR_COUNT 4

struct port_reader {
	struct port_fact fact;
	uint8_t skip[PORT_ATTR_COUNT]; /* readings to leave out after a failure */
	bool failing[PORT_ATTR_COUNT]; /* and told */
};

/* Update r->fact, whose port is set; netdev is not touched. dev_fd is the device's directory.
 * Failures are counted in errors[READ_ERROR_COUNT], and the first one of an attribute is noted in
 * failures. True when anything could be read. */
bool port_reader_run(struct port_reader *r, int dev_fd, uint64_t *errors,
		     struct read_failures *failures);
/* Ask for everything again at the next reading. */
void port_reader_retry(struct port_reader *r);
