/* /api/v1/devices: every device with its worker, ports and raw counters. */
#pragma once
#include "exporters/json_list.h"

extern const struct json_list_type json_devices;
