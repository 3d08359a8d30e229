/* What a device's ports and addresses are right now, asked of verbs. May block. */
#pragma once
#include <infiniband/verbs.h>
#include "probes/rail_select.h"

/* Fills ret; 0 or -errno (-EIO, -ENODEV: the device is going). */
int scan_device(struct ibv_context *ctx, const char *device, struct device_scan *ret);
enum gid_type scan_gid_type(uint32_t ibv_gid_type);
