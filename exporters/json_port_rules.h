/* Members of a port in /api/v1/devices: how its counters and states are judged, and how fast they
 * grow. */
#pragma once
#include "exporters/jsonw.h"
#include "health/snapshot.h"

/* Into the port's open object; rules NULL: nothing is known. */
void json_put_port_rules(struct jsonw *j, const struct snap_port_rules *rules);
