/* Members of a device in /api/v1/devices: what its driver says of its health. */
#pragma once
#include "exporters/jsonw.h"
#include "health/snapshot.h"

/* "health", a list of reporters, and "firmware_stuck", null or since when and why. */
void json_put_device_health(struct jsonw *j, const struct snap_device *d);
