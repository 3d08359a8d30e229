/* What the routing table says, without a packet. */
#pragma once
#include "daemon/address.h"

/* The source address for a destination; false: no route, or its address is not known. */
bool route_source(const union address *to, union address *ret);
